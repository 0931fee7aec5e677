package sim

import (
	"slices"
	"time"

	"treecast/tree"
	"treecast/wire"
)

// Waits of the driver (PROTOCOL §5 Join): for an overlay to be resolved, for a
// connection, for an Ack.
const (
	resolveLimit = int64(10 * time.Second)
	dialLimit    = int64(5 * time.Second)
	ackLimit     = int64(5 * time.Second)
)

// dial sends a Subscribe out. To a node that is no neighbour a connection is
// made first, which takes one and a half round trips.
func (w *world) dial(i int32, d *tree.Dial) {
	n := &w.nodes[i]
	n.subs++
	w.stats.subscribes++
	peer := w.index(d.Peer)
	if peer < 0 || w.nodes[peer].state == stateWaiting || peer == i {
		// Nobody, or this node itself: a stream to nowhere carries the failure.
		slot := w.setOut(i, i, d.ID)
		n.dials = append(n.dials, dialRef{d.ID, w.ref(slot)})
		w.fail(slot, tree.DialUnreachable, resolveLimit)
		return
	}
	slot := w.setOut(i, peer, d.ID)
	n.dials = append(n.dials, dialRef{d.ID, w.ref(slot)})
	s := &w.streams[slot]
	body := d.Body
	if n.lie != lieNone {
		body = w.distortSubscribe(n.lie, body)
	}
	s.body = w.newFrame(body)
	after := s.delay
	if !w.adjacent(i, peer) {
		after += 3 * s.delay
	}
	w.sent++
	w.q.push(evArrive, event{at: w.now + after, node: peer, ref: w.ref(slot)})
}

// adjacent says whether the two are parent and child, so that there is a connection.
func (w *world) adjacent(a, b int32) bool {
	return slices.ContainsFunc(w.nodes[a].parents, func(l link) bool { return l.peer == b }) ||
		slices.ContainsFunc(w.nodes[b].parents, func(l link) bool { return l.peer == a })
}

func (w *world) fail(slot int32, outcome tree.DialOutcome, after int64) {
	w.q.push(evUnreachable, event{at: w.now + after, node: w.streams[slot].end[dialler], ref: w.ref(slot), arg: int32(outcome)})
}

// subscribed brings a Subscribe to its acceptor.
func (w *world) subscribed(e *event) {
	slot := w.slot(e.ref)
	if slot < 0 || w.streams[slot].over[dialler] {
		return
	}
	s := &w.streams[slot]
	i, peer := s.end[dialler], s.end[acceptor]
	n := &w.nodes[peer]
	switch {
	case w.crosses(i, peer), n.state == stateDead && n.quiet:
		w.fail(slot, tree.DialUnreachable, dialLimit-4*s.delay)
		return
	case n.state == stateDead || w.barred(i, peer):
		w.fail(slot, tree.DialUnreachable, s.delay)
		return
	}
	s.open = true
	w.hang(slot, acceptor)
	w.q.push(evAckTimeout, event{at: w.now + max(ackLimit-s.delay, s.delay), node: i, ref: e.ref})
	body := w.frames[s.body].body
	w.drop(s.body)
	s.body = -1
	first, err := wire.ParseFirst(body)
	if err != nil || first.Subscribe == nil {
		w.violated(i, "node %d: first frame of node %d does not decode: %v", peer, i, err)
		return
	}
	if p, ok := n.m.(*plain); ok {
		p.asker = i
	}
	w.step(peer, &tree.SubscribeIn{Stream: tree.StreamID(e.ref), Peer: w.overlay(i), Msg: first.Subscribe})
}

// failed tells a dialler that its Subscribe came to nothing.
func (w *world) failed(e *event, outcome tree.DialOutcome) {
	slot := w.slot(e.ref)
	if slot < 0 {
		return
	}
	s := &w.streams[slot]
	if s.over[dialler] || s.dial == 0 {
		return
	}
	ev := tree.Dialled{Dial: s.dial, Outcome: outcome, Self: s.end[0] == s.end[1]}
	w.forgetDial(e.node, s.dial)
	s.dial = 0
	w.tell(slot, dialler, tree.CauseReset, s.delay)
	w.finish(slot, dialler)
	if len(w.nodes[e.node].parents) == 0 && w.cfg.Entry == EntryRandom {
		w.planDiscover(e.node)
	}
	w.step(e.node, &ev)
}

// acked takes the frame that answers a Subscribe.
func (w *world) acked(slot, at int32) {
	s := &w.streams[slot]
	i := s.end[dialler]
	body := w.frames[at].body
	w.drop(at)
	ack, err := wire.ParseAck(body)
	if err != nil {
		w.violated(i, "node %d: Ack of node %d does not decode: %v", i, s.end[acceptor], err)
		return
	}
	ev := tree.Dialled{Dial: s.dial, Ack: &ack}
	w.forgetDial(i, s.dial)
	s.dial = 0
	if ack.Status == wire.StatusOK {
		ev.Stream = tree.StreamID(w.ref(slot))
		w.answer = slot
	} else {
		w.tell(slot, dialler, tree.CauseReset, s.delay)
		w.finish(slot, dialler)
	}
	w.step(i, &ev)
}

// cancel gives up a Subscribe whose answer nobody wants.
func (w *world) cancel(i int32, id tree.DialID) {
	for _, d := range w.nodes[i].dials {
		if d.id != id {
			continue
		}
		if slot := w.slot(d.ref); slot >= 0 {
			w.tell(slot, dialler, tree.CauseReset, w.streams[slot].delay)
			w.finish(slot, dialler)
		}
	}
	w.forgetDial(i, id)
}

func (w *world) forgetDial(i int32, id tree.DialID) {
	n := &w.nodes[i]
	if n.dials = slices.DeleteFunc(n.dials, func(d dialRef) bool { return d.id == id }); len(n.dials) == 0 {
		n.dials = nil
	}
}

// arrived brings a frame to its node.
func (w *world) arrived(e *event) {
	f := &w.frames[e.arg]
	if f.soc != nil {
		w.flying--
	}
	slot := w.slot(e.ref)
	if slot < 0 {
		w.drop(e.arg)
		return
	}
	s := &w.streams[slot]
	side := s.side(e.node)
	switch {
	case s.over[side]:
		w.drop(e.arg)
	case side == dialler && s.dial != 0:
		w.acked(slot, e.arg)
	case f.soc != nil:
		w.copies++
		w.held++
		id := tree.ChunkID(w.copies)<<32 | tree.ChunkID(uint32(e.arg))
		w.frame = tree.Frame{Stream: tree.StreamID(e.ref), Msg: f.soc, Chunk: id}
		w.step(e.node, &w.frame)
	default:
		asker := f.asker
		if err := w.msg.Parse(f.body); err != nil {
			w.violated(e.node, "node %d: frame of node %d does not decode: %v", e.node, s.end[1-side], err)
		} else {
			w.count(e.node, asker)
			if p, ok := w.nodes[e.node].m.(*plain); ok {
				p.asker = asker
			}
			w.frame = tree.Frame{Stream: tree.StreamID(e.ref), Msg: &w.msg}
			w.step(e.node, &w.frame)
		}
		w.drop(e.arg)
	}
}

// ended brings the end of a stream to its node.
func (w *world) ended(e *event) {
	slot := w.slot(e.ref)
	if slot < 0 {
		return
	}
	s := &w.streams[slot]
	side := s.side(e.node)
	if s.over[side] {
		return
	}
	if side == dialler && s.dial != 0 {
		w.failed(e, tree.DialBroken)
		return
	}
	child := side == acceptor && s.child
	w.finish(slot, side)
	w.step(e.node, tree.StreamEnded{Stream: tree.StreamID(e.ref), Cause: tree.EndCause(e.arg)})
	if child {
		w.observe(e.node)
	}
}
