package node

import (
	"slices"

	"github.com/libp2p/go-libp2p/core/network"

	"treecast/node/retain/order"
	"treecast/tree"
	"treecast/wire"
)

// deliver keeps a chunk and gives it to the application: one with a feed index
// in its turn, others at once. What the core wants done after it is in rest.
func (l *loop) deliver(a *tree.Action, rest []tree.Action) {
	held := l.chunks.get(a.Chunk)
	m := Message{
		ID: a.ID, Owner: wire.Owner(held.soc.Owner), Index: a.Index, HasIndex: a.HasIndex,
		Span: held.soc.Span, Payload: held.soc.Payload, Signature: held.soc.Signature, buf: held.buf,
	}
	if !a.HasIndex {
		if l.indexed { // in a feed, and nobody can tell where
			l.c.n.counts.add(countUntracked)
		}
		l.show(m)
		return
	}
	l.indexed = true
	if !l.log.Add(l.now, m.Owner, m.Index, m.buf, l.lay(held), receiptFollows(rest)) {
		l.c.n.counts.add(countNotRetained)
	}
	l.arrive(m.Retain(), held.from, false)
}

// lay copies the frame of a chunk to where it is sent from and kept, once.
func (l *loop) lay(held *heldChunk) wire.Piece {
	if held.laid == (wire.Piece{}) {
		held.laid = l.log.Lay(held.buf)
	}
	return held.laid
}

// receiptFollows says whether the chunk that was delivered is somebody's whom
// its receipt makes rely on it.
func receiptFollows(rest []tree.Action) bool {
	for i := range rest {
		switch rest[i].Kind {
		case tree.ActReceipt:
			return true
		case tree.ActRelease:
			return false
		}
	}
	return false
}

// show gives a message to all subscriptions.
func (l *loop) show(m Message) {
	subs := l.c.subs.list.Load()
	if subs == nil {
		return
	}
	for _, s := range *subs {
		if m.Gap != nil && !s.gaps {
			continue
		}
		if !s.push(m.Retain()) {
			l.c.n.counts.add(countSubscriptionSlow)
			l.c.log.Warn("subscription ended: its consumer is too slow")
		}
	}
}

// arrive brings a chunk with an index to its feed. It takes over one reference.
func (l *loop) arrive(m Message, from wire.Overlay, stored bool) {
	l.lastArrival++
	l.current, l.currentID = m, l.lastArrival
	l.arrival = order.Arrived{
		Owner: m.Owner, Index: m.Index, Chunk: l.lastArrival, Size: len(m.buf.Frame()), From: from, Stored: stored,
	}
	l.inOrder(&l.arrival)
	if l.currentID != 0 {
		l.waiting[l.currentID] = l.current
		l.current, l.currentID = Message{}, 0
	}
}

// taken is the message that an action names, which waits no longer.
func (l *loop) taken(id order.ChunkID) (m Message) {
	if id == l.currentID {
		m = l.current
		l.current, l.currentID = Message{}, 0
		return m
	}
	m = l.waiting[id]
	delete(l.waiting, id)
	return m
}

// inOrder gives the feeds one event and does what they say.
func (l *loop) inOrder(ev order.Event) {
	l.acts = l.order.Step(l.now, ev, l.acts[:0])
	for i := range l.acts {
		switch a := &l.acts[i]; a.Kind {
		case order.ActHandOver:
			m := l.taken(a.Chunk)
			m.Late = a.Late
			l.show(m)
			l.settling(&m.Owner, m.Index)
			if a.Late {
				l.settles.late++
			}
			m.Release()
		case order.ActDrop:
			l.c.n.counts.add(countBeforeRestart)
			l.taken(a.Chunk).Release()
		case order.ActGap:
			l.gap(a)
			l.settling(&a.Owner, a.Range.From)
		case order.ActAsk:
			l.ask(a)
		case order.ActWithheld:
			l.withheld(a.To)
		case order.ActSilence:
			l.silence = true
		case order.ActGiveUp:
			if cancel := l.asking[a.Request]; cancel != nil {
				cancel()
			}
		}
	}
	l.settled()
	for i := len(l.passed) - 1; i >= 0; i-- { // an attempt that ends is no action
		l.passedBy(l.passed[i].owner)
	}
}

// withheld ends the stream of a parent that is mute, or has chunks and sends none,
// when no other sends any. It is done in its turn: the core may be amid an event.
func (l *loop) withheld(parent wire.Overlay) {
	l.c.box.post(func() {
		for _, s := range l.streams {
			if s.overlay != parent || s.inbound {
				continue
			}
			l.c.n.counts.add(countWithheld)
			l.c.log.Warn("parent dropped: nothing comes from it", "peer", parent.String())
			l.c.n.doubt(s.peer)
			s.reset(network.StreamNoError)
			l.ended(s, tree.CauseMute)
			return
		}
	})
}

// settles is what the actions under way settle in one feed.
type settles struct {
	owner wire.Owner
	low   uint64 // the first index
	late  uint64
	any   bool
}

// settling notes that an index of owner's feed is settled.
func (l *loop) settling(owner *wire.Owner, index uint64) {
	if l.settles.any && l.settles.owner == *owner {
		return
	}
	l.settled()
	l.settles = settles{owner: *owner, low: index, any: true}
}

// settled has the log, and the store, note how far that feed is settled now.
func (l *loop) settled() {
	x := l.settles
	if !x.any {
		return
	}
	l.settles.any = false
	next, ok := l.order.Next(x.owner)
	if !ok { // one feed too many to be put in order: it cannot be followed
		l.c.n.counts.add(countUntracked)
		return
	}
	l.passedBy(x.owner)
	l.log.Settle(x.owner, x.low, next, x.late)
	if l.c.n.retained != nil {
		l.pending = l.pending[:0]
		if next > 0 {
			l.pending = l.order.Pending(x.owner, wire.IndexRange{To: next - 1}, l.pending)
		}
		l.c.n.retained.Mark(l.c.topic, x.owner, next, l.pending)
	}
}

// passed is the first index of a feed that is still being recovered.
type passed struct {
	owner wire.Owner
	first uint64
}

// passedBy has the log note what of a feed is still being recovered.
func (l *loop) passedBy(owner wire.Owner) {
	first, ok := l.order.Passed(owner)
	at := slices.IndexFunc(l.passed, func(p passed) bool { return p.owner == owner })
	switch {
	case !ok && at < 0, ok && at >= 0 && l.passed[at].first == first:
		return
	case !ok:
		l.passed = slices.Delete(l.passed, at, at+1)
	case at < 0:
		l.passed = append(l.passed, passed{owner, first})
	default:
		l.passed[at].first = first
	}
	l.log.Passed(owner, first, !ok)
}

// gap tells of a gap, the application and whoever asks this node.
func (l *loop) gap(a *order.Action) {
	if a.Void {
		l.log.AddVoid(a.Owner, a.Range)
		l.c.log.Info("feed indices that were never published", "owner", a.Owner.String(), "from", a.Range.From, "to", a.Range.To)
	} else {
		l.c.n.counts.add(countGaps)
		l.c.log.Warn("gap in a feed", "owner", a.Owner.String(), "from", a.Range.From, "to", a.Range.To)
	}
	l.show(Message{Owner: a.Owner, Gap: &Gap{From: a.Range.From, To: a.Range.To, Void: a.Void}})
}

// settle ends a request of the application. One that succeeded may be relied on
// only when the chunk is on disk; all keep their order.
func (l *loop) settle(done func(error), err error) {
	store := l.c.n.retained
	if store == nil || !l.indexed {
		done(err)
		return
	}
	store.After(err == nil, func(failed error) {
		if err == nil {
			err = failed
		}
		done(err)
	})
}
