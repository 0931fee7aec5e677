package node

import (
	"testing"

	"treecast/tree"
	"treecast/wire"
)

// idleLoop is a cohort whose loop does not run, with a child, and a frame of that child
// which is counted when the core has it.
func idleLoop(t *testing.T) (l *loop, s *stream, frame func() *batch, taken func() uint64) {
	t.Helper()
	n, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	spec := wire.Spec{Topic: wire.Topic{1}, Binding: wire.BindingSocID, Regime: wire.RegimeAll}
	c, err := n.newCohort(tree.Config{Topic: spec.Topic, Spec: &spec}, opened{broker: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l = c.loop
	s = n.newStream(c, nil, "child", wire.Overlay{2}, 0)
	s.inbound = true
	l.takeTurn()
	l.runTasks()
	l.admit(s)
	l.step(&tree.SubscribeIn{Stream: s.id, Peer: s.overlay, Msg: &wire.Subscribe{Topic: spec.Topic}})
	l.endTurn()
	t.Cleanup(func() {
		l.takeTurn()
		l.forget(s) // and with it the link
		l.turn.mu.Unlock()
		c.wg.Wait()
	})
	frame = func() *batch {
		b := batches.Get().(*batch)
		b.s, b.n = s, 1
		b.frames[0].buf, b.frames[0].msg = n.pool.Frame([]byte{1}), wire.Broadcast{Kind: wire.KindReparent}
		return b
	}
	return l, s, frame, func() uint64 { return l.core.Counters()[tree.CountWrongDirection] }
}

// TestLoneFrame: the reader of a lone frame takes it to the core, with no goroutine but
// its own.
func TestLoneFrame(t *testing.T) {
	_, s, frame, taken := idleLoop(t)
	r := reading{s: s, b: frame()}
	r.flush()
	if got := taken(); got != 1 {
		t.Errorf("%d frames taken, want 1", got)
	}
	if got := s.behind.Load(); got != 0 {
		t.Errorf("%d batches behind", got)
	}
}

// TestFramesKeepTheirTurn: a frame waits for the loop while another has the turn, while
// an earlier one of its stream or one of another waits, while chunks are being checked,
// and at the end.
func TestFramesKeepTheirTurn(t *testing.T) {
	l, s, frame, taken := idleLoop(t)
	waits := func(when string) {
		t.Helper()
		before := taken()
		r := reading{s: s, b: frame()}
		r.flush()
		if len(l.c.frames) == 0 || taken() != before {
			t.Fatalf("%s: %d wait, %d taken", when, len(l.c.frames), taken()-before)
		}
	}
	work := func() {
		for len(l.c.frames) > 0 {
			b := <-l.c.frames
			l.takeTurn()
			l.batch(b)
			l.endTurn()
		}
	}
	l.takeTurn()
	waits("another's turn")
	l.endTurn()
	b := <-l.c.frames // the loop has it, and not yet the turn
	l.c.frames <- frame()
	l.c.frames <- b
	s.behind.Add(1)
	waits("more waits")
	work()
	if got := taken(); got != 3 || s.behind.Load() != 0 {
		t.Fatalf("%d taken, %d behind", got, s.behind.Load())
	}
	s.behind.Add(1) // the loop took a batch from the channel and has not begun with it
	waits("an earlier one is under way")
	s.behind.Add(-1)
	work()
	l.asked = 1
	waits("a check is under way")
	l.asked = 0
	work()
	two := frame()
	two.n, two.frames[1] = 2, two.frames[0]
	two.frames[1].buf = l.c.n.pool.Frame([]byte{1})
	r := reading{s: s, b: two}
	r.flush()
	if len(l.c.frames) != 1 {
		t.Error("two frames do not wait")
	}
	work()
	l.turn.over = true
	waits("the end")
	l.turn.over = false
	work()
	if got := taken(); got != 8 || s.behind.Load() != 0 {
		t.Errorf("%d taken, %d behind", got, s.behind.Load())
	}
}
