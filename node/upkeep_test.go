package node

import (
	"testing"
	"time"

	"treecast/wire"
)

// TestUpkeepAfter looks often only while a good part of the memory is in use.
func TestUpkeepAfter(t *testing.T) {
	for _, tc := range []struct {
		used, budget int64
		want         time.Duration
	}{
		{0, 1 << 30, upkeepRare},
		{1 << 28, 1 << 30, upkeepRare},
		{1<<28 + 1, 1 << 30, upkeepEvery},
		{1 << 40, 1 << 30, upkeepEvery},
		{0, 1, upkeepRare},
		{1, 1, upkeepEvery},
	} {
		if got := upkeepAfter(tc.used, tc.budget); got != tc.want {
			t.Errorf("%d of %d: %v, want %v", tc.used, tc.budget, got, tc.want)
		}
	}
}

// TestLookWakesNoLoop: the memory in use is told while no loop runs at all.
func TestLookWakesNoLoop(t *testing.T) {
	n, err := New(Config{Memory: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	topic := wire.Topic{1}
	c, err := n.Open(wire.Spec{Topic: topic, Binding: wire.BindingSocID, Regime: wire.RegimeAll}, CohortOptions{Topic: topic})
	if err != nil {
		t.Fatal(err)
	}
	busy, free := make(chan struct{}), make(chan struct{})
	c.box.post(func() { close(busy); <-free })
	<-busy
	limits := Limits{QueueFrames: 100, QueueBytes: 1 << 20, ControlFrames: 10}
	long, short := newQueue(&limits), newQueue(&limits)
	c.queues.add(&long)
	c.queues.add(&short)
	for range 3 {
		long.push(n.pool.Frame(make([]byte, 99)))
	}
	short.push(n.pool.Frame(make([]byte, 99)))
	if got := n.look(); got != 300 { // the longest, as others share its buffers
		t.Errorf("%d bytes in use, want 300", got)
	}
	if got := c.queues.count(); got != 2 {
		t.Errorf("%d queues, want 2", got)
	}
	if !n.spent.Load() {
		t.Error("the budget is not spent")
	}
	c.queues.remove(&long)
	if got := n.look(); got != 100 || n.spent.Load() {
		t.Errorf("%d bytes in use, want 100, spent %v", got, n.spent.Load())
	}
	short.kill()
	long.kill()
	close(free)
}
