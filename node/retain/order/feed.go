package order

import (
	"slices"
	"time"

	"treecast/wire"
)

// A feed is one owner's sequence.
type feed struct {
	owner wire.Owner
	next  uint64 // all below is settled
	end   uint64 // above the highest index known, next or higher
	old   uint64 // what lies below was handed over before a restart, but for
	open  []wire.IndexRange
	gaps  []gap     // sorted; those below next were passed and are still tried
	held  []held    // sorted by index
	first int       // of held; those before it are gone
	bytes int       // of held
	order []wait    // held chunks in order of arrival; those below next are gone
	seen  int       // of order; those before it are gone
	sent  time.Time // when a parent last sent a chunk of it by itself
}

// held is a chunk that waits for those below it.
type held struct {
	index uint64
	chunk ChunkID
	size  int
}

// wait is since when a held chunk waits; zero: its time does not run yet.
type wait struct {
	index uint64
	since time.Time
}

// hold keeps a chunk above next; false if that index is held already.
func (f *feed) hold(now time.Time, h held, later bool) bool {
	live := f.held[f.first:]
	at := len(live)
	if at > 0 && live[at-1].index >= h.index {
		var found bool
		at, found = slices.BinarySearchFunc(live, h.index, func(x held, index uint64) int {
			switch {
			case x.index < index:
				return -1
			case x.index > index:
				return 1
			}
			return 0
		})
		if found {
			return false
		}
	}
	if f.first > 0 && len(f.held) == cap(f.held) {
		f.held = f.held[:copy(f.held, live)]
		f.first = 0
	}
	f.held = slices.Insert(f.held, f.first+at, h)
	f.bytes += h.size
	if later {
		now = time.Time{}
	}
	if f.seen > 0 && len(f.order) == cap(f.order) {
		f.order = f.order[:copy(f.order, f.order[f.seen:])]
		f.seen = 0
	}
	f.order = append(f.order, wait{h.index, now})
	return true
}

// oldest is since when the chunk waits that has waited longest; false if none is
// held.
func (f *feed) oldest() (time.Time, bool) {
	for f.seen < len(f.order) && f.order[f.seen].index < f.next {
		f.seen++
	}
	if f.seen == len(f.order) {
		f.order, f.seen = f.order[:0], 0
		return time.Time{}, false
	}
	return f.order[f.seen].since, true
}

// startHold has the time run of those whose did not.
func (f *feed) startHold(now time.Time) {
	for i := f.seen; i < len(f.order); i++ {
		if f.order[i].since.IsZero() {
			f.order[i].since = now
		}
	}
}

// lowest is the held chunk of the lowest index.
func (f *feed) lowest() *held {
	if f.first == len(f.held) {
		return nil
	}
	return &f.held[f.first]
}

// drain hands over what is held at next, and goes over gaps that are reported
// once something is held above them.
func (o *Feeds) drain(f *feed, out []Action) []Action {
	for h := f.lowest(); h != nil; h = f.lowest() {
		if h.index == f.next {
			out = append(out, Action{Kind: ActHandOver, Chunk: h.chunk})
			o.bytes -= h.size
			f.bytes -= h.size
			f.first++
			f.next++
			continue
		}
		i, ok := f.gapAt(f.next)
		if !ok {
			panic("order: neither held nor missing")
		}
		g := &f.gaps[i]
		if !g.reported {
			return out
		}
		f.next = g.to + 1
		if g.dead {
			o.remove(f, i)
		}
	}
	f.held, f.first = f.held[:0], 0
	return out
}

// pass reports the gaps below the chunk that has waited longest, and hands over
// what they kept waiting.
func (o *Feeds) pass(f *feed, out []Action) []Action {
	f.oldest()
	upTo := f.order[f.seen].index
	for f.next <= upTo {
		if i, ok := f.gapAt(f.next); ok && !f.gaps[i].reported {
			f.gaps[i].reported = true
			out = report(f, f.gaps[i].span(), false, out)
		}
		out = o.drain(f, out)
	}
	return out
}

// report tells of a gap, together with one just below it.
func report(f *feed, r wire.IndexRange, void bool, out []Action) []Action {
	if n := len(out); n > 0 {
		if last := &out[n-1]; last.Kind == ActGap && last.Owner == f.owner && last.Void == void && last.Range.To+1 == r.From {
			last.Range.To = r.To
			return out
		}
	}
	return append(out, Action{Kind: ActGap, Owner: f.owner, Range: r, Void: void})
}
