package node

import (
	"context"
	"slices"
	"time"

	"treecast/node/retain"
	"treecast/node/retain/order"
	"treecast/tree"
	"treecast/wire"
)

// recovery is a loop's part in PROTOCOL §8: what the cohort keeps, what waits for
// its turn, and what is asked of others.
type recovery struct {
	log     *retain.Log // also for others: it has its own lock
	order   *order.Feeds
	known   []wire.Head // from the store, and of own publishers
	indexed bool        // a chunk with an index has come
	silence bool        // no parent sends anything any more
	regroup bool        // parents or spec changed in the actions under way

	waiting     map[order.ChunkID]Message
	lastArrival order.ChunkID
	current     Message // the one that arrives
	currentID   order.ChunkID
	arrival     order.Arrived
	acts        []order.Action    // scratch of inOrder
	settles     settles           // of the actions under way
	passed      []passed          // feeds of which something passed by is still being recovered
	pending     []wire.IndexRange // scratch of settled
	recovered   tree.Recovered    // scratch of answer

	asking  map[order.RequestID]context.CancelFunc
	entry   int      // the entry point that was asked last
	answers []answer // that wait until the checks asked before them are done
	// questions and judged count the checks asked for and done.
	questions, judged uint64
}

// answer is the end of a request that is not told yet.
type answer struct {
	after uint64
	order.Answered
}

// newRecovery makes what a cohort of that core needs.
func (n *Node) newRecovery(cfg *tree.Config) (recovery, error) {
	log, err := retain.NewLog(cfg.Topic, n.cfg.Retain.Ring, n.retained)
	if err != nil {
		return recovery{}, err
	}
	oc := n.cfg.Recovery
	oc.Root, oc.Rand = cfg.Broker, cfg.Rand
	feeds, err := order.New(oc)
	if err != nil {
		return recovery{}, err
	}
	return recovery{
		log: log, order: feeds,
		waiting: make(map[order.ChunkID]Message), asking: make(map[order.RequestID]context.CancelFunc),
	}, nil
}

// regrouped tells both cores who is there now. Not in the midst of actions.
func (l *loop) regrouped() {
	v := l.core.View()
	ev := order.Sources{}
	for i := range v.Parents {
		if p := &v.Parents[i]; !p.Foreign {
			ev.Parents = append(ev.Parents, order.Source{Peer: p.Peer, Broker: p.Broker, RTT: p.RTT})
		}
	}
	ev.Entry = len(otherEntries(&v)) > 0
	if len(l.known) > 0 {
		l.step(tree.Known{Heads: l.known})
	}
	l.inOrder(ev)
}

// otherEntries are the entry points that are no parents.
func otherEntries(v *tree.View) []wire.Overlay {
	return slices.DeleteFunc(v.Entries, func(e wire.Overlay) bool {
		return slices.ContainsFunc(v.Parents, func(p tree.ParentView) bool { return p.Peer == e })
	})
}

// noteHeads brings what a new parent said of its feeds to the order, as far as
// the core believes in them.
func (l *loop) noteHeads(peer wire.Overlay, ack *wire.Ack) {
	v := l.core.View()
	if v.Spec == nil || v.Spec.Binding != wire.BindingFeedTopic {
		return
	}
	explicit := v.Spec.Regime == wire.RegimeExplicitSingle || v.Spec.Regime == wire.RegimeExplicitList
	ev := order.Heads{From: peer, All: explicit && ack.HasBand && len(ack.Heads) < wire.MaxHeads}
	for _, h := range ack.Heads {
		if explicit && slices.ContainsFunc(v.Heads, func(k wire.Head) bool { return k.Owner == h.Owner }) {
			ev.Heads = append(ev.Heads, h)
		}
	}
	l.inOrder(ev)
	for _, h := range ev.Heads { // a feed begins behind the head
		if next, ok := l.order.Next(h.Owner); ok {
			l.log.Settle(h.Owner, next, next, 0)
		}
	}
}

// ask makes a request in a goroutine of its own.
func (l *loop) ask(a *order.Action) {
	c := l.c
	to := a.To
	if to == (wire.Overlay{}) {
		v := l.core.View()
		entries := otherEntries(&v)
		if len(entries) == 0 { // they became parents meanwhile
			entries = v.Entries
		}
		if !a.Same {
			l.entry++
		}
		if len(entries) > 0 {
			to = entries[l.entry%len(entries)]
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.n.cfg.Waits.Recover)
	l.asking[a.Request] = cancel
	from := &answering{peer: to, request: a.Request}
	req := wire.RecoverRequest{Topic: c.topic, Owner: a.Owner, Range: a.Range}
	c.n.counts.add(countRecoverAsked)
	c.wg.Go(func() { // ends with its timeout, or when cancelled
		defer cancel()
		c.fetch(ctx, from, &req)
	})
}

// answer brings chunks that were asked for to the core, and the end of the
// answer to the order.
func (l *loop) answer(b *batch) {
	for i := range b.n {
		f := &b.frames[i]
		l.recovered = tree.Recovered{Peer: b.answer.peer, Chunk: l.chunks.add(f.buf, &f.msg.Soc, wire.Overlay{}), Soc: &f.msg.Soc}
		f.buf = nil // the table's now
		l.step(&l.recovered)
	}
	if b.ended {
		delete(l.asking, b.answer.request)
		l.answers = append(l.answers, answer{l.questions, order.Answered{
			Request: b.answer.request, End: b.answer.end, Refused: b.answer.refused,
		}})
		l.answersJudged()
	}
	b.free()
}

// sent tells the order of a chunk that a parent sends by itself, if it wants to know.
func (l *loop) sent(s *stream, chunk *wire.Soc) {
	if s.inbound || !l.order.Watching() || !chunk.HasIndex || len(chunk.Owner) != len(wire.Owner{}) {
		return
	}
	l.inOrder(order.Sent{From: s.overlay, Owner: wire.Owner(chunk.Owner), Index: chunk.Index})
}

// answersJudged tells the order of answers whose chunks have all been checked.
func (l *loop) answersJudged() {
	for len(l.answers) > 0 && l.answers[0].after <= l.judged {
		a := l.answers[0]
		l.answers = slices.Delete(l.answers, 0, 1)
		l.inOrder(a.Answered)
	}
}

// endRecovery gives up what is asked and releases what waits.
func (l *loop) endRecovery() {
	for _, cancel := range l.asking {
		cancel()
	}
	clear(l.asking)
	for _, m := range l.waiting {
		m.Release()
	}
	clear(l.waiting)
}

// Read fills p with chunks of owner's feed that this node keeps, in memory or in
// its store, from index from up to and with to, and returns the first index that
// it has not looked at. The messages are Broadcast messages, verified when they
// came. It may be called while the cohort runs, and waits for the disk.
func (c *Cohort) Read(owner wire.Owner, from, to uint64, p *retain.Page) (next uint64, err error) {
	return c.loop.log.Read(owner, from, to, p)
}

// First is the lowest index of owner's feed that this node keeps; false if none is.
// With a store it waits for the disk.
func (c *Cohort) First(owner wire.Owner) (first uint64, ok bool, err error) {
	return c.loop.log.First(owner)
}

// Voids are the ranges of owner's feed that were never published, as far as this
// node was told, sorted and disjoint; read-only (PROTOCOL §7 Indices).
func (c *Cohort) Voids(owner wire.Owner) []wire.IndexRange { return c.loop.log.Voids(owner) }

// Progress appends how far each feed of the cohort is handed over, sorted by owner:
// what lies below can be had from Read, unless it is a gap or not kept any more.
func (c *Cohort) Progress(dst []retain.Progress) []retain.Progress {
	return c.loop.log.Progress(dst)
}

// Watch has changed called after each change of Progress until stop. It is called
// by the cohort's loop, so it must not block and must not call the cohort.
func (c *Cohort) Watch(changed func()) (stop func()) { return c.loop.log.Watch(changed) }

// trim has memory forget what it need not keep any more, and what is beyond most
// bytes. It returns the bytes that are kept.
func (c *Cohort) trim(now time.Time, most int64) int64 { return c.loop.log.Trim(now, most) }
