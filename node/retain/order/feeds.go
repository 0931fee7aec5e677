package order

import (
	"bytes"
	"slices"
	"time"

	"treecast/wire"
)

// Feeds is one node's view of the feeds of one cohort. Not safe for concurrent
// use.
//
// Invariants, checked by valid:
//  1. Feeds are sorted by owner, and there are at most Owners.
//  2. Per feed, gaps are sorted and disjoint, at most Gaps, and below end.
//  3. Held chunks are above next, sorted, below end, and in no gap.
//  4. Every index from next to end is held or in a gap; the one at next is not held.
//  5. Held bytes are at most HoldBytes, and are those of the held chunks.
//  6. There is at most one request outstanding per peer, and one at an entry point.
type Feeds struct {
	cfg     Config
	list    []*feed
	parents []Source
	entry   bool
	all     bool // a parent told all feeds that it knows

	regrouped time.Time // when the parents changed last
	alone     bool      // all parents were lost, and there is none again
	haste     time.Time // until then gaps are left to nobody

	asked       []asking
	lastRequest RequestID
	bytes       int // held
	gaps        int // records, in all feeds
	tail        tail
}

// New makes the core from a checked copy of cfg.
func New(cfg Config) (*Feeds, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Feeds{cfg: cfg}, nil
}

// Step does what is due at now, then applies ev, and appends to out what the
// driver must do, in that order. Now never runs backwards.
func (o *Feeds) Step(now time.Time, ev Event, out []Action) []Action {
	if o.gaps > 0 {
		out = o.due(now, out)
	}
	if d := o.tailDeadline(); !d.IsZero() && !now.Before(d) {
		out = o.pollDue(now, o.judgeTail(now, o.askTail(now, out)))
	}
	switch ev := ev.(type) {
	case *Arrived:
		if ev.From != (wire.Overlay{}) && !ev.Stored {
			o.tail.heard(now, &ev.Owner)
		}
		return o.arrived(now, ev, out)
	case Heads:
		out = o.heads(now, &ev, out)
	case Sources:
		out = o.sources(now, &ev, out)
	case Sent:
		o.sent(now, &ev)
	case Void:
		out = o.void(&ev, out)
	case Restore:
		out = o.restore(now, &ev, out)
	case Answered:
		o.tailAnswered(now, &ev)
		out = o.pollAnswered(now, &ev, o.answered(now, &ev, out))
	case Tick:
	default:
		panic("order: unknown event")
	}
	return o.ask(now, out)
}

// due does what time alone brings about.
func (o *Feeds) due(now time.Time, out []Action) []Action {
	for _, f := range o.list {
		for since, ok := f.oldest(); ok && !since.IsZero() && now.Sub(since) >= o.cfg.Hold; since, ok = f.oldest() {
			out = o.pass(f, out)
		}
	}
	return o.ask(now, out)
}

// Deadline is when Step wants to be called with Tick; zero: never.
func (o *Feeds) Deadline() (d time.Time) {
	d = o.tailDeadline()
	if o.gaps == 0 {
		return d
	}
	for _, f := range o.list {
		if since, ok := f.oldest(); ok && !since.IsZero() {
			d = earlier(d, since.Add(o.cfg.Hold))
		}
		for i := range f.gaps {
			if g := &f.gaps[i]; g.open() {
				d = earlier(d, g.at)
			}
		}
	}
	return d
}

// earlier is the earlier of two times of which zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// find is where owner stands, or would.
func (o *Feeds) find(owner *wire.Owner) (int, bool) {
	low, high := 0, len(o.list)
	for low < high {
		mid := (low + high) / 2
		switch bytes.Compare(o.list[mid].owner[:], owner[:]) {
		case 0:
			return mid, true
		case -1:
			low = mid + 1
		default:
			high = mid
		}
	}
	return low, false
}

func (o *Feeds) get(owner *wire.Owner) *feed {
	if i, ok := o.find(owner); ok {
		return o.list[i]
	}
	return nil
}

// add makes the feed of an owner who has none, which expects next; nil if there
// are too many.
func (o *Feeds) add(owner *wire.Owner, next uint64) *feed {
	if len(o.list) >= o.cfg.Owners {
		return nil
	}
	i, _ := o.find(owner)
	f := &feed{owner: *owner, next: next, end: next}
	o.list = slices.Insert(o.list, i, f)
	return f
}

// arrived takes a chunk. In order, with nothing missing, it is one comparison.
func (o *Feeds) arrived(now time.Time, ev *Arrived, out []Action) []Action {
	f := o.get(&ev.Owner)
	if f == nil {
		next := ev.Index
		if o.all {
			next = 0
		}
		if f = o.add(&ev.Owner, next); f == nil {
			return append(out, Action{Kind: ActHandOver, Chunk: ev.Chunk})
		}
	}
	if ev.From != (wire.Overlay{}) {
		f.sent = now
	}
	if ev.Index == f.next && ev.Index == f.end {
		f.next++
		f.end++
		return append(out, Action{Kind: ActHandOver, Chunk: ev.Chunk})
	}
	if ev.Index >= f.end {
		out = o.open(now, f, f.end, ev.Index, ev.From, out)
		f.end = ev.Index + 1
	} else if !o.fill(f, ev.Index) && f.before(ev.Index) {
		return append(out, Action{Kind: ActDrop, Chunk: ev.Chunk})
	}
	switch {
	case ev.Index < f.next:
		return o.bound(f, append(out, Action{Kind: ActHandOver, Chunk: ev.Chunk, Late: true}))
	case ev.Index > f.next:
		h := held{index: ev.Index, chunk: ev.Chunk, size: ev.Size}
		if !f.hold(now, h, ev.Stored && len(o.parents) == 0 && !o.cfg.Root) {
			return append(out, Action{Kind: ActDrop, Chunk: ev.Chunk})
		}
		o.bytes += ev.Size
	default:
		f.next++
		out = append(out, Action{Kind: ActHandOver, Chunk: ev.Chunk})
	}
	if ev.Stored {
		f.old = max(f.old, ev.Index+1)
	}
	out = o.bound(f, o.drain(f, out))
	for o.bytes > o.cfg.HoldBytes {
		out = o.pass(o.heaviest(), out)
	}
	return o.ask(now, out)
}

// heaviest is the feed that holds most.
func (o *Feeds) heaviest() *feed {
	return slices.MaxFunc(o.list, func(a, b *feed) int { return a.bytes - b.bytes })
}

// heads takes what a new parent says of the feeds that it knows. Of one that is
// known here the head may show that something was missed. One that is not begins
// behind its head, unless an earlier parent knew all feeds and not this one: then
// all of it was missed.
func (o *Feeds) heads(now time.Time, ev *Heads, out []Action) []Action {
	all := o.all
	o.all = o.all || ev.All
	for _, h := range ev.Heads {
		if h.Index > wire.MaxIndex {
			continue
		}
		f := o.get(&h.Owner)
		if f == nil {
			if !all {
				o.add(&h.Owner, h.Index+1)
				continue
			}
			first := h.Index + 1 - min(h.Index+1, uint64(o.cfg.Width))
			if f = o.add(&h.Owner, first); f == nil {
				continue
			}
			if first > 0 {
				out = report(f, wire.IndexRange{To: first - 1}, false, out)
			}
		}
		if h.Index < f.end || o.cfg.Root {
			continue
		}
		to := min(h.Index, f.end+uint64(o.cfg.Width)-1)
		out = o.open(now, f, f.end, to+1, ev.From, out)
		f.end = to + 1
		out = o.bound(f, out)
	}
	return out
}

// restore sets a feed to where it stood. Its gaps have all their tries again.
func (o *Feeds) restore(now time.Time, ev *Restore, out []Action) []Action {
	f := o.add(&ev.Owner, ev.Next)
	if f == nil {
		return out
	}
	f.old = ev.Next
	if o.cfg.Root {
		return out
	}
	low := ev.Next - min(ev.Next, uint64(o.cfg.Width))
	for _, r := range ev.Open {
		if r.To < low || r.From > r.To || r.To >= ev.Next {
			continue
		}
		low = max(low, r.From)
		f.open = append(f.open, wire.IndexRange{From: low, To: r.To})
		o.missing(f, low, r.To+1, gap{at: now, entryAt: o.entryAt(now), reported: true})
		low = r.To + 1
	}
	f.open = f.open[max(0, len(f.open)-o.cfg.Gaps):]
	return o.bound(f, out)
}

// before says whether a chunk was handed over before a restart.
func (f *feed) before(index uint64) bool {
	return index < f.old && !slices.ContainsFunc(f.open, func(r wire.IndexRange) bool { return r.Has(index) })
}

// source is the parent of that overlay; nil: it is none.
func (o *Feeds) source(peer wire.Overlay) *Source {
	if i := slices.IndexFunc(o.parents, func(p Source) bool { return p.Peer == peer }); i >= 0 {
		return &o.parents[i]
	}
	return nil
}

// sources takes the parents there are now. Gaps that nobody was left to ask for, or
// that a parent was asked for which is none any more, go on with them.
func (o *Feeds) sources(now time.Time, ev *Sources, out []Action) []Action {
	lost := len(o.parents) > 0 && len(ev.Parents) == 0 && !o.cfg.Root
	o.parents = append(o.parents[:0], ev.Parents...)
	o.entry = ev.Entry
	o.regrouped = now
	switch {
	case lost:
		o.alone = true
		o.bereft(now)
	case o.alone && len(o.parents) > 0:
		o.alone, o.haste = false, now.Add(hurry)
	}
	for _, a := range o.asked {
		if a.to == (wire.Overlay{}) || o.source(a.to) != nil {
			continue
		}
		out = append(out, Action{Kind: ActGiveUp, Request: a.id})
		if f := o.get(&a.feed); f != nil {
			f.release(a.id)
		}
	}
	for _, f := range o.list {
		if len(o.parents) > 0 {
			f.startHold(now)
		}
		for i := range f.gaps {
			g := &f.gaps[i]
			if lost { // nobody else will bring it
				g.entryAt = earlier(g.entryAt, now.Add(o.chance(helpWait)))
			}
			if g.open() && (lost || g.at.IsZero() || o.unasked(g) != nil && now.Before(g.at) && len(g.asked) > 0) {
				g.at = now
			}
		}
	}
	return out
}

// void settles what was never published, be it that nobody has missed it yet.
func (o *Feeds) void(ev *Void, out []Action) []Action {
	f := o.get(&ev.Owner)
	if f == nil {
		return out
	}
	if r := ev.Range; r.From <= f.end && f.end <= r.To {
		o.insert(f, len(f.gaps), gap{from: f.end, to: r.To})
		f.end = r.To + 1
		if last := &f.gaps[len(f.gaps)-1]; last.from == f.next {
			f.next = f.end
		}
	}
	for i := len(f.gaps) - 1; i >= 0; i-- {
		if g := &f.gaps[i]; g.from <= ev.Range.To && ev.Range.From <= g.to {
			i = o.split(f, i, max(g.from, ev.Range.From), min(g.to, ev.Range.To))
			out = o.settle(f, i, true, out)
		}
	}
	return o.bound(f, o.drain(f, out))
}

// Next is the first index of owner's feed that is not settled; false if the feed
// is not known. After a restart it goes into Restore.
func (o *Feeds) Next(owner wire.Owner) (uint64, bool) {
	f := o.get(&owner)
	if f == nil {
		return 0, false
	}
	return f.next, true
}

// Passed is the lowest index of owner's feed that was passed by, its gap reported,
// and that this node still tries to recover; false if there is none.
func (o *Feeds) Passed(owner wire.Owner) (uint64, bool) {
	f := o.get(&owner)
	if f == nil {
		return 0, false
	}
	for i := range f.gaps {
		if g := &f.gaps[i]; g.from >= f.next {
			break
		} else if !g.dead {
			return g.from, true
		}
	}
	return 0, false
}

// Pending appends the parts of r that this node still tries to recover.
func (o *Feeds) Pending(owner wire.Owner, r wire.IndexRange, dst []wire.IndexRange) []wire.IndexRange {
	f := o.get(&owner)
	if f == nil {
		return dst
	}
	for i := range f.gaps {
		g := &f.gaps[i]
		if g.dead || g.to < r.From || g.from > r.To {
			continue
		}
		p := wire.IndexRange{From: max(g.from, r.From), To: min(g.to, r.To)}
		if n := len(dst); n > 0 && dst[n-1].To+1 == p.From {
			dst[n-1].To = p.To
		} else {
			dst = append(dst, p)
		}
	}
	return dst
}
