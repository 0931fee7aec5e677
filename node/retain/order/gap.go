package order

import (
	"slices"
	"time"

	"treecast/wire"
)

// maxPending is how often a peer may say that it recovers a chunk itself before
// that counts as an attempt, and maxCut how often an answer may leave it out.
const (
	maxPending = 4
	maxCut     = 8
)

// A gap is a range of indices that did not come, all of them in one state. A
// chunk that comes cuts it.
type gap struct {
	from, to uint64
	// at is when the next attempt is due; zero: when somebody can be asked again.
	at      time.Time
	entryAt time.Time // not before then at an entry point
	request RequestID // outstanding; 0 = none
	newer   wire.Overlay
	asked   []wire.Overlay // in this round; the zero overlay is an entry point
	tries   int
	// entryTried: an entry point has answered, or failed often enough.
	entryTried bool
	pending    int
	cut        int
	voids      int  // peers that called it void
	dead       bool // nobody is asked any more
	// reported: the application knows, so that next may go over it.
	reported bool
}

func (g *gap) span() wire.IndexRange { return wire.IndexRange{From: g.from, To: g.to} }

// open says whether the gap waits for its next attempt.
func (g *gap) open() bool { return !g.dead && g.request == 0 }

// gapAt is the gap that holds index, or where one would stand.
func (f *feed) gapAt(index uint64) (int, bool) {
	return slices.BinarySearchFunc(f.gaps, index, func(g gap, index uint64) int {
		switch {
		case g.to < index:
			return -1
		case g.from > index:
			return 1
		}
		return 0
	})
}

// open opens gaps for the indices from from on and below index, at the end of
// the feed. What lies too deep below index is given up at once.
func (o *Feeds) open(now time.Time, f *feed, from, index uint64, newer wire.Overlay, out []Action) []Action {
	if from == index {
		return out
	}
	at := now
	if len(o.parents) > 1 && !now.Before(o.haste) {
		at = now.Add(o.cfg.Wait)
	}
	entryAt := o.entryAt(now)
	if width := uint64(o.cfg.Width); index-from > width {
		o.insert(f, len(f.gaps), gap{from: from, to: index - width - 1, dead: true, reported: true})
		out = report(f, wire.IndexRange{From: from, To: index - width - 1}, false, out)
		from = index - width
	}
	o.missing(f, from, index, gap{at: at, entryAt: entryAt, newer: newer, dead: o.cfg.Root})
	return out
}

// missing makes gaps like g of the indices from from on and below index, each for one
// request, behind all others.
func (o *Feeds) missing(f *feed, from, index uint64, g gap) {
	for ; from < index; from += wire.MaxRecover {
		g.from, g.to = from, min(from+wire.MaxRecover, index)-1
		o.insert(f, len(f.gaps), g)
	}
}

// entryAt is when an entry point may be asked for what is missing now.
func (o *Feeds) entryAt(now time.Time) time.Time {
	at := now.Add(o.cfg.EntryWait)
	if o.cfg.Rand != nil {
		at = at.Add(time.Duration(o.cfg.Rand.Int64N(int64(o.cfg.EntryWait) + 1)))
	}
	return at
}

// bound forgets the lowest gaps of a feed that has too many.
func (o *Feeds) bound(f *feed, out []Action) []Action {
	for len(f.gaps) > o.cfg.Gaps {
		g := &f.gaps[0]
		if !g.reported {
			out = report(f, g.span(), false, out)
		}
		f.next = max(f.next, g.to+1)
		o.remove(f, 0)
		out = o.drain(f, out)
	}
	return out
}

func (o *Feeds) insert(f *feed, i int, g gap) {
	f.gaps = slices.Insert(f.gaps, i, g)
	o.gaps++
}

func (o *Feeds) remove(f *feed, i int) {
	f.gaps = slices.Delete(f.gaps, i, i+1)
	o.gaps--
}

// release has the gaps that a request was for wait for it no longer. It was an attempt.
func (f *feed) release(id RequestID) {
	for i := range f.gaps {
		if g := &f.gaps[i]; g.request == id {
			g.request, g.at = 0, time.Time{}
			g.tries++
		}
	}
}

// fill takes an index that has come out of its gap; false if it is in none.
func (o *Feeds) fill(f *feed, index uint64) bool {
	i, ok := f.gapAt(index)
	if ok {
		o.remove(f, o.split(f, i, index, index))
	}
	return ok
}

// split cuts gap i so that from..to, a part of it, is a gap of its own, and
// returns where that stands.
func (o *Feeds) split(f *feed, i int, from, to uint64) int {
	if g := f.gaps[i]; g.from < from {
		low := g.clone()
		low.to = from - 1
		f.gaps[i].from = from
		o.insert(f, i, low)
		i++
	}
	if g := f.gaps[i]; to < g.to {
		high := g.clone()
		high.from = to + 1
		f.gaps[i].to = to
		o.insert(f, i+1, high)
	}
	return i
}

func (g *gap) clone() gap {
	c := *g
	c.asked = slices.Clone(g.asked)
	return c
}

// settle ends the attempts at gap i: its chunks were never published, or nobody
// has them. It stays until next goes over it.
func (o *Feeds) settle(f *feed, i int, void bool, out []Action) []Action {
	g := &f.gaps[i]
	g.dead = true
	if !g.reported {
		g.reported = true
		out = report(f, g.span(), void, out)
	}
	if g.to < f.next {
		o.remove(f, i)
	}
	return out
}
