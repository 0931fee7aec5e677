package sim

import (
	"slices"
	"time"

	"treecast/tree"
)

// How a death is noticed. The kernel of a process that was killed resets its
// connections, which is seen a round trip later. Of a host that fell silent
// liveness tells: it was heard from up to pingEvery before (PROTOCOL §5 Death).
const (
	liveness  = int64(10 * time.Second)
	pingEvery = int64(5 * time.Second)
	leaveFor  = int64(6 * time.Second) // 5 s of patience, and some for the way
	blockFor  = int64(10 * time.Minute)
)

// die ends a node without a word.
func (w *world) die(i int32, quiet bool) {
	n := &w.nodes[i]
	if n.state != stateLive && n.state != stateLeaving || i == 0 {
		return
	}
	n.quiet = quiet
	w.trace.note(w.now, i, "ends")
	for n.streams >= 0 {
		slot, side := n.streams>>1, int(n.streams&1)
		after := 2 * w.streams[slot].delay
		if quiet {
			after = liveness - w.rng.Int64N(pingEvery)
		}
		w.tell(slot, side, tree.CauseReset, after)
		w.finish(slot, side)
	}
	w.bury(i)
}

// bury forgets a node that has no stream any more.
func (w *world) bury(i int32) {
	n := &w.nodes[i]
	w.delist(i)
	n.state = stateDead
	n.m, n.parents, n.dials, n.visits = nil, nil, nil, nil
	if !n.settled {
		w.unsettled--
	}
	if !n.joined && !n.stuck {
		w.joining--
	}
	if n.lostAt != 0 {
		n.lostAt = 0
		w.lost--
	}
}

// leaver is what a machine has that can leave gracefully: it appends what it
// still says to out. It is done when its streams are over.
type leaver interface {
	Leave(now time.Time, out []tree.Action) []tree.Action
}

// mark says of a node that is to go what that means for others: past one that
// fails nobody has to be fed, past one of ours that leaves gracefully everybody.
func (w *world) mark(i int32, kind eventKind) {
	n := &w.nodes[i]
	_, ok := n.m.(leaver)
	n.going, n.doomed = true, kind == evDie || !ok || n.kind != kindOurs
}

// leave lets a node go gracefully; one that does not know how just ends.
func (w *world) leave(i int32) {
	n := &w.nodes[i]
	l, ok := n.m.(leaver)
	if n.state != stateLive || i == 0 {
		return
	}
	if !ok {
		w.die(i, false)
		return
	}
	n.state = stateLeaving
	w.planned++
	w.q.push(evGone, event{at: w.now + leaveFor, node: i})
	w.trace.note(w.now, i, "leaves")
	w.acts = l.Leave(w.at(), w.acts[:0])
	w.do(i)
}

// gone ends what is left of a leaver.
func (w *world) gone(i int32) {
	w.planned--
	w.die(i, false)
}

// cut begins or ends a partition. One that lasts longer than liveness does
// breaks the connections across; frames sent during a shorter one arrive after it.
func (w *world) cut(begins bool) {
	if !begins {
		w.cutUntil = 0
		return
	}
	w.cutUntil = w.now + int64(w.cfg.PartitionFor)
	w.breaks = int64(w.cfg.PartitionFor) >= liveness
	if !w.breaks {
		return
	}
	for slot := range w.streams {
		s := &w.streams[slot]
		if s.over[0] || !s.open || !w.crosses(s.end[0], s.end[1]) {
			continue
		}
		w.tell(int32(slot), dialler, tree.CauseReset, liveness-w.rng.Int64N(pingEvery))
		w.tell(int32(slot), acceptor, tree.CauseReset, liveness-w.rng.Int64N(pingEvery))
	}
}

// blame counts a forged chunk; the eighth in a minute blocks (PROTOCOL §4).
func (w *world) blame(i, peer int32) {
	if peer < 0 {
		return
	}
	pair := [2]int32{i, peer}
	recent := slices.DeleteFunc(w.blames[pair], func(at int64) bool { return w.now-at >= int64(time.Minute) })
	w.blames[pair] = append(recent, w.now)
	if len(w.blames[pair]) >= 8 {
		w.block(i, peer)
	}
}

// block keeps peer from i, in both directions.
func (w *world) block(i, peer int32) {
	if peer < 0 {
		return
	}
	w.blocked[[2]int32{i, peer}] = w.now + blockFor
	for at := w.nodes[i].streams; at >= 0; {
		slot, side := at>>1, int(at&1)
		at = w.streams[slot].next[side]
		if s := &w.streams[slot]; s.end[1-side] == peer && s.open {
			w.tell(slot, side, tree.CauseReset, s.delay)
			w.notices++
			w.q.push(evEnd, event{at: w.now, node: i, ref: w.ref(slot), arg: int32(tree.CauseReset)})
		}
	}
}

// barred says whether one of the two has blocked the other.
func (w *world) barred(a, b int32) bool {
	return len(w.blocked) > 0 && (w.blocked[[2]int32{a, b}] > w.now || w.blocked[[2]int32{b, a}] > w.now)
}
