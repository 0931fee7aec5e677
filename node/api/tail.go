package api

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"sync/atomic"

	"treecast/node"
	"treecast/node/retain"
	"treecast/wire"
	"treecast/wire/soc"
)

const (
	// look is how many indices are looked at in one read.
	look = 256
	// deepest is how far below the newest index of a feed a chunk may still come late.
	deepest = 1 << 16
)

// A tail shows a cohort's chunks: those in feeds out of what the node keeps, each
// owner's in the order of its indices, so that what was kept and what comes are one
// row; the others as they come. It is for one goroutine.
type tail struct {
	cohort  *node.Cohort
	sub     *node.Subscription // for chunks without an index
	all     bool               // from the oldest kept
	since   uint64             // with from: the first index
	from    bool
	show    func(*Message) error
	changed atomic.Bool
	wake    chan struct{}
	feeds   map[wire.Owner]*tailFeed
	order   []*tailFeed
	page    retain.Page
	list    []retain.Progress
}

// tailFeed is one owner's feed.
type tailFeed struct {
	owner  wire.Owner
	cursor retain.Cursor // shown; its holes are gaps
	read   uint64        // all below was looked at
	limit  uint64
	late   uint64
	gap    *Gap // seen and not shown yet: it may go on
}

// run shows chunks until ctx ends or one cannot be shown. The error is then that of
// show, node.ErrSlow, node.ErrClosed, or of a store that cannot be read.
func (t *tail) run(ctx context.Context) error {
	t.feeds, t.wake = make(map[wire.Owner]*tailFeed), make(chan struct{}, 1)
	defer t.cohort.Watch(func() {
		t.changed.Store(true)
		t.signal()
	})()
	if err := t.advance(true); err != nil {
		return err
	}
	stopped := make(chan error, 1)
	plain := make(chan node.Message)
	ctx, cancel := context.WithCancel(ctx)
	defer func() { // the goroutine ends first
		cancel()
		<-stopped
	}()
	go func() { stopped <- t.unindexed(ctx, plain) }() // ends with ctx or the subscription
	for {
		more, err := t.step()
		if err != nil {
			return err
		}
		if more {
			continue
		}
		select {
		case <-t.wake:
		case m := <-plain:
			err := t.show(messageOf(&m))
			m.Release()
			if err != nil {
				return err
			}
		case err := <-stopped:
			stopped <- nil
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// unindexed passes on the chunks that are in no feed.
func (t *tail) unindexed(ctx context.Context, to chan<- node.Message) error {
	for {
		m, err := t.sub.Next(ctx)
		if err != nil {
			return err
		}
		if m.HasIndex {
			m.Release()
			continue
		}
		select {
		case to <- m:
		case <-ctx.Done():
			m.Release()
			return ctx.Err()
		}
	}
}

func (t *tail) signal() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// advance takes over how far the feeds are; first says that it is the first time.
func (t *tail) advance(first bool) error {
	t.list = t.cohort.Progress(t.list[:0])
	for i := range t.list {
		p := &t.list[i]
		f := t.feeds[p.Owner]
		if f == nil {
			next, err := t.begin(p, first)
			if err != nil {
				return err
			}
			f = &tailFeed{owner: p.Owner, cursor: retain.Cursor{Next: next}, read: next, late: p.Late}
			t.feeds[p.Owner] = f
			t.order = append(t.order, f)
			slices.SortFunc(t.order, func(a, b *tailFeed) int { return slices.CompareFunc(a.owner[:], b.owner[:], cmp.Compare[byte]) })
		}
		f.limit = p.Next
		if f.late != p.Late {
			f.late = p.Late
			if err := t.again(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin is the index that a feed is shown from.
func (t *tail) begin(p *retain.Progress, first bool) (uint64, error) {
	switch {
	case t.from:
		return t.since, nil
	case t.all:
		kept, ok, err := t.cohort.First(p.Owner)
		if err != nil || ok && kept < p.Begin {
			return kept, err
		}
		return p.Begin, nil
	case first:
		return p.Next, nil
	}
	return p.Begin, nil
}

// step reads a page; false if nothing is at hand.
func (t *tail) step() (bool, error) {
	if t.changed.Swap(false) {
		if err := t.advance(false); err != nil {
			return false, err
		}
	}
	for _, f := range t.order {
		if f.read < f.limit {
			return true, t.fresh(f)
		}
	}
	for _, f := range t.order {
		if err := t.flush(f); err != nil {
			return false, err
		}
	}
	return false, nil
}

// fresh shows the next page of a feed.
func (t *tail) fresh(f *tailFeed) error {
	next, err := t.cohort.Read(f.owner, f.read, min(f.limit, f.read+look)-1, &t.page)
	if err != nil {
		return err
	}
	if len(t.page.Chunks) == 0 { // all of it is gone, up to the oldest kept
		first, ok, err := t.cohort.First(f.owner)
		if err != nil {
			return err
		}
		if !ok {
			first = f.limit
		}
		next = max(next, min(first, f.limit))
	}
	for i := range t.page.Chunks {
		c := &t.page.Chunks[i]
		if err := t.pass(f, f.read, c.Index); err != nil {
			return err
		}
		if err := t.flush(f); err != nil {
			return err
		}
		if err := t.chunk(f, c, false); err != nil {
			return err
		}
		f.read = c.Index + 1
	}
	if err := t.pass(f, f.read, next); err != nil {
		return err
	}
	f.read = next
	return nil
}

// chunk shows one.
func (t *tail) chunk(f *tailFeed, c *retain.Chunk, late bool) error {
	f.cursor.Done(wire.IndexRange{From: c.Index, To: c.Index})
	var b wire.Broadcast
	if b.Parse(c.Msg) != nil || b.Kind != wire.KindSoc {
		return nil // the node has verified it, so this is never so
	}
	topic := t.cohort.Topic()
	id := soc.FeedID(topic[:], c.Index)
	return t.show(messageOf(&node.Message{
		ID: id, Owner: f.owner, Index: c.Index, HasIndex: true, Late: late,
		Span: b.Soc.Span, Payload: b.Soc.Payload, Signature: b.Soc.Signature,
	}))
}

// pass goes over indices, to not included, that are not there: those that were never
// published, and the rest.
func (t *tail) pass(f *tailFeed, from, to uint64) error {
	for _, v := range t.cohort.Voids(f.owner) {
		if from < to && v.From < to && from <= v.To {
			if err := t.missing(f, from, max(v.From, from), false); err != nil {
				return err
			}
			from = max(v.From, from)
			end := min(v.To+1, to)
			f.cursor.Done(wire.IndexRange{From: from, To: end - 1})
			if err := t.missing(f, from, end, true); err != nil {
				return err
			}
			from = end
		}
	}
	return t.missing(f, from, to, false)
}

func (t *tail) missing(f *tailFeed, from, to uint64, void bool) error {
	if from >= to {
		return nil
	}
	if f.gap != nil && f.gap.To+1 == from && f.gap.Void == void {
		f.gap.To = to - 1
		return nil
	}
	if err := t.flush(f); err != nil {
		return err
	}
	f.gap = &Gap{From: from, To: to - 1, Void: void}
	return nil
}

// flush shows a gap that does not go on.
func (t *tail) flush(f *tailFeed) error {
	gap := f.gap
	if f.gap = nil; gap == nil {
		return nil
	}
	return t.show(&Message{Owner: f.owner.String(), Gap: gap})
}

// again looks for what came late.
func (t *tail) again(f *tailFeed) error {
	open := slices.Clone(f.cursor.Holes)
	if f.cursor.Next < f.read {
		open = append(open, wire.IndexRange{From: f.cursor.Next, To: f.read - 1})
	}
	low := f.read - min(f.read, deepest)
	for _, r := range open {
		for from := max(r.From, low); from <= r.To; {
			next, err := t.cohort.Read(f.owner, from, min(r.To, from+look-1), &t.page)
			if err != nil {
				return err
			}
			for i := range t.page.Chunks {
				if err := t.chunk(f, &t.page.Chunks[i], true); err != nil {
					return err
				}
			}
			from = next
		}
	}
	f.cursor.Holes = slices.DeleteFunc(f.cursor.Holes, func(r wire.IndexRange) bool { return r.To < low })
	f.cursor.Holes = f.cursor.Holes[max(0, len(f.cursor.Holes)-retain.MaxHoles):]
	return nil
}

// messageOf is a chunk as the API shows it.
func messageOf(m *node.Message) *Message {
	out := &Message{
		ID: hex.EncodeToString(m.ID[:]), Owner: m.Owner.String(), Late: m.Late,
		Span: hex.EncodeToString(m.Span), Payload: hex.EncodeToString(m.Payload), Signature: hex.EncodeToString(m.Signature),
	}
	if m.HasIndex {
		index := m.Index
		out.Index = &index
	}
	return out
}
