package sim

import (
	"slices"

	"treecast/tree"
	"treecast/wire"
)

// act does one action of node i, and says whether its parents changed.
func (w *world) act(i int32, a *tree.Action) (changed bool) {
	switch a.Kind {
	case tree.ActSend:
		w.actSend(i, a)
	case tree.ActForward:
		w.actForward(i, a)
	case tree.ActVerify:
		w.after = append(w.after, follow{node: i, frame: int32(uint32(a.Chunk)), chunk: a.Chunk})
	case tree.ActDeliver:
		w.delivered(i, a)
	case tree.ActRelease:
		w.held--
		w.drop(int32(uint32(a.Chunk)))
	case tree.ActDial:
		w.dial(i, a.Dial)
	case tree.ActCancel:
		w.cancel(i, a.Dial.ID)
	case tree.ActEnd:
		return w.actEnd(i, a)
	case tree.ActBlame:
		w.blame(i, w.index(a.Peer))
	case tree.ActBlock:
		w.block(i, w.index(a.Peer))
	case tree.ActReport:
		return w.report(i, a.Report)
	}
	return false
}

// own is the stream of one of i's actions, -1 if it is over for i.
func (w *world) own(i int32, id tree.StreamID) (int32, int) {
	slot := w.slot(uint64(id))
	if slot < 0 {
		return -1, 0
	}
	side := w.streams[slot].side(i)
	if w.streams[slot].over[side] {
		return -1, 0
	}
	return slot, side
}

// actSend sends a control frame, or the Ack of a stream that is being opened.
func (w *world) actSend(i int32, a *tree.Action) {
	slot, side := w.own(i, a.Stream)
	if slot < 0 {
		return
	}
	body := a.Body
	if l := w.nodes[i].lie; l != lieNone {
		body = w.distort(l, body, side == acceptor && w.streams[slot].dial != 0)
	}
	s := &w.streams[slot]
	if side == acceptor && s.dial != 0 && !s.child && accepts(body) {
		s.child = true
		w.nodes[i].children++
		w.after = append(w.after, follow{node: i, frame: -1, ref: uint64(a.Stream)})
		w.slots = true
	}
	if side == acceptor && s.child && len(body) > 0 && body[0] == byte(wire.KindReparent)<<3|2 {
		s.moving, w.slots = true, true
	}
	at := w.newFrame(body)
	w.frames[at].asker = int32(a.Request) - 1 // see plain.go
	w.send(slot, side, at)
}

// accepts says whether an Ack is an OK, which its first field tells.
func accepts(ack []byte) bool {
	return len(ack) > 1 && ack[0] == 1<<3 && ack[1] == byte(wire.StatusOK)
}

// actForward sends a chunk on, unless the node is a liar that does otherwise.
func (w *world) actForward(i int32, a *tree.Action) {
	slot, side := w.own(i, a.Stream)
	if slot < 0 {
		return
	}
	at := int32(uint32(a.Chunk))
	switch w.nodes[i].lie {
	case lieWithhold:
		return
	case lieForge:
		at = w.forge(at)
	default:
		w.frames[at].refs++
	}
	w.stats.chunks++
	w.send(slot, side, at)
}

// actEnd ends a stream for i. A refusal's Ack still travels: the dialler ends
// its side when it has read it. It says whether a child went.
func (w *world) actEnd(i int32, a *tree.Action) bool {
	slot, side := w.own(i, a.Stream)
	if slot < 0 {
		return false
	}
	child := side == acceptor && w.streams[slot].child
	switch a.Code {
	case tree.EndRefused:
	case tree.EndSlow:
		w.tell(slot, side, tree.CauseSlow, w.streams[slot].delay)
	default:
		w.tell(slot, side, tree.CauseReset, w.streams[slot].delay)
	}
	w.finish(slot, side)
	return child
}

// report follows a node's parents.
func (w *world) report(i int32, r *tree.Report) bool {
	n := &w.nodes[i]
	peer := int32(-1)
	if r.Kind == tree.ReportAttached || r.Kind == tree.ReportDetached {
		peer = w.index(r.Peer)
	}
	switch r.Kind {
	case tree.ReportAttached:
		if slices.ContainsFunc(n.parents, func(l link) bool { return l.peer == peer }) {
			w.violated(i, "node %d has parent %d twice", i, peer)
		}
		n.parents = append(n.parents, link{peer, w.answer})
		w.after = append(w.after, follow{node: i, frame: -1, ref: w.ref(w.answer)})
		if !n.attached {
			n.attached = true
			w.stats.attached(w, n)
		}
		w.stats.lit(w, n)
	case tree.ReportDetached:
		n.parents = slices.DeleteFunc(n.parents, func(l link) bool { return l.peer == peer })
		if len(n.parents) == 0 && n.state == stateLive {
			n.darkAt = w.now
		}
		if len(n.parents) == 0 && w.cfg.Entry == EntryRandom {
			w.planDiscover(i)
		}
	case tree.ReportRefused:
		if len(n.parents) == 0 && w.cfg.Entry == EntryRandom {
			w.planDiscover(i)
		}
		return false
	default:
		return false
	}
	return true
}

// settle looks whether i has the parents it wants, and keeps account of how long
// it took to get them.
func (w *world) settle(i int32) {
	n := &w.nodes[i]
	have := len(n.parents) >= n.kind.wants() || slices.ContainsFunc(n.parents, func(l link) bool { return l.peer == 0 })
	if have == n.settled {
		return
	}
	n.settled = have
	if !have {
		w.unsettled++
		if n.lostAt == 0 {
			n.lostAt = w.now
			w.lost++
		}
		return
	}
	w.unsettled--
	if !n.joined {
		n.joined = true
		if !n.stuck {
			w.joining--
		}
		w.stats.joined(w, n)
	} else if n.lostAt != 0 {
		w.stats.healed(w, n)
	}
	if n.lostAt != 0 {
		n.lostAt = 0
		w.lost--
	}
	n.stuck = false
}
