package sim

import (
	"time"

	"treecast/tree"
)

// follow is a Step that an action asks for, taken after the actions beside it.
type follow struct {
	node  int32
	frame int32 // chunk to be judged; -1: a round trip was measured
	chunk tree.ChunkID
	ref   uint64
}

// step gives an event to a node and does what it answers.
func (w *world) step(i int32, ev tree.Event) {
	n := &w.nodes[i]
	if n.m == nil {
		return
	}
	w.trace.event(w.now, i, ev)
	w.acts = n.m.Step(w.at(), ev, w.acts[:0])
	w.do(i)
}

// do does the actions in w.acts, and what they ask to be done next.
func (w *world) do(i int32) {
	changed := false
	for k := range w.acts {
		a := &w.acts[k]
		w.trace.action(w.now, i, a)
		if w.act(i, a) {
			changed = true
		}
	}
	if w.slots {
		w.slots = false
		w.checkSlots(i)
	}
	if changed {
		w.settle(i)
		w.observe(i)
	}
	w.schedule(i)
	for len(w.after) > 0 {
		f := w.after[0]
		w.after = w.after[:copy(w.after, w.after[1:])]
		w.follow(f)
	}
}

// follow takes a step that another one asked for.
func (w *world) follow(f follow) {
	if f.frame < 0 {
		if slot := w.slot(f.ref); slot >= 0 && !w.streams[slot].over[w.streams[slot].side(f.node)] {
			w.step(f.node, tree.RTT{Stream: tree.StreamID(f.ref), RTT: time.Duration(2 * w.streams[slot].delay)})
		}
		return
	}
	w.judged = tree.Verified{Chunk: f.chunk}
	if w.frames[f.frame].forged {
		w.judged.Verdict = tree.VerdictForged
	}
	w.step(f.node, &w.judged)
}

// schedule plans the tick that a node wants.
func (w *world) schedule(i int32) {
	n := &w.nodes[i]
	if n.m == nil {
		return
	}
	d := n.m.Deadline()
	if d.IsZero() {
		return
	}
	at := max(int64(d.Sub(epoch)), w.now)
	if n.wake == 0 || at < n.wake {
		n.wake = at
		w.q.push(evTick, event{at: at, node: i})
	}
}

// tick wakes a node, unless another tick took this one's place.
func (w *world) tick(e *event) {
	n := &w.nodes[e.node]
	if n.wake != e.at || n.m == nil {
		return
	}
	n.wake = 0
	if d := n.m.Deadline(); !d.IsZero() && !w.at().Before(d) {
		w.step(e.node, tree.Tick{})
		return
	}
	w.schedule(e.node)
}
