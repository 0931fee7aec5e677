package node

import (
	"bytes"
	"fmt"
	"testing"

	"treecast/tree"
	"treecast/wire"
)

// taken names the frames of a batch by their messages.
func taken(batch []*wire.Buf) string {
	var names []string
	for _, b := range batch {
		names = append(names, string(b.Msg()))
		b.Release()
	}
	return fmt.Sprint(names)
}

// TestQueueOrder puts control frames before data and leaves nothing behind.
func TestQueueOrder(t *testing.T) {
	pool := wire.NewPool()
	q := newQueue(&Limits{QueueFrames: 100, QueueBytes: 1 << 20, ControlFrames: 10})
	for _, name := range []string{"d1", "d2", "d3"} {
		q.push(pool.Frame([]byte(name)))
	}
	q.pushControl(pool.Frame([]byte("c1")))
	q.pushControl(pool.Frame([]byte("c2")))
	batch, _, _ := q.take(nil, 9) // three frames of 3 bytes
	if got := taken(batch); got != "[c1 c2 d1]" {
		t.Errorf("first %v", got)
	}
	q.pushControl(pool.Frame([]byte("c3")))
	batch, _, end := q.take(nil, 1) // one frame at least
	if got := taken(batch); got != "[c3]" || end != endNone {
		t.Errorf("then %v", got)
	}
	q.finish()
	batch, _, _ = q.take(nil, 1<<20)
	if got := taken(batch); got != "[d2 d3]" {
		t.Errorf("last %v", got)
	}
	if batch, _, end := q.take(nil, 1); len(batch) != 0 || end != endClose {
		t.Error("the empty queue does not end")
	}
	if n := pool.InUse(); n != 0 {
		t.Errorf("%d buffers in use", n)
	}
}

// TestQueueLevels crosses each level by frames and by bytes.
func TestQueueLevels(t *testing.T) {
	frame := bytes.Repeat([]byte("x"), 98) // 99 bytes with its prefix
	for _, l := range []Limits{
		{QueueFrames: 4, QueueBytes: 1 << 20, ControlFrames: 2},
		{QueueFrames: 100, QueueBytes: 4*99 + 50, ControlFrames: 2},
	} {
		pool := wire.NewPool()
		q := newQueue(&l)
		var levels []tree.QueueLevel
		for range 6 {
			levels = append(levels, q.push(pool.Frame(frame)))
		}
		want := []tree.QueueLevel{tree.QueueLow, tree.QueueLow, tree.QueueHigh, tree.QueueHigh, tree.QueueOverflow, tree.QueueOverflow}
		if fmt.Sprint(levels) != fmt.Sprint(want) {
			t.Errorf("%+v: levels %v, want %v", l, levels, want)
		}
		if got := pool.InUse(); got != 4 {
			t.Errorf("%+v: %d buffers held, want 4", l, got)
		}
		q.kill()
		if q.push(pool.Frame(frame)); !q.pushControl(pool.Frame(frame)) {
			t.Error("a dead queue reports an overflow")
		}
		if got := pool.InUse(); got != 0 {
			t.Errorf("%+v: %d buffers held by a dead queue", l, got)
		}
	}
}

// TestQueueRelieved tells the writer once when the queue falls to half.
func TestQueueRelieved(t *testing.T) {
	pool := wire.NewPool()
	q := newQueue(&Limits{QueueFrames: 4, QueueBytes: 1 << 20, ControlFrames: 2})
	for range 4 {
		q.push(pool.Frame([]byte("d")))
	}
	var told []bool
	for range 4 {
		batch, relieved, _ := q.take(nil, 1)
		told = append(told, relieved)
		taken(batch)
	}
	if fmt.Sprint(told) != "[false true false false]" {
		t.Errorf("relieved %v", told)
	}
}

// TestControlBound ends the stream when control frames pile up.
func TestControlBound(t *testing.T) {
	pool := wire.NewPool()
	q := newQueue(&Limits{QueueFrames: 4, QueueBytes: 1 << 20, ControlFrames: 2})
	for i, want := range []bool{true, true, false} {
		if got := q.pushControl(pool.Frame([]byte("c"))); got != want {
			t.Errorf("frame %d: %v", i, got)
		}
	}
	if level, _, _ := q.fill(); level != tree.QueueOverflow {
		t.Errorf("level %d", level)
	}
	q.kill()
}

// TestRing wraps around and grows.
func TestRing(t *testing.T) {
	var r ring
	pool := wire.NewPool()
	next := 0
	push := func(n int) {
		for range n {
			r.push(pool.Frame([]byte(fmt.Sprint(next))))
			next++
		}
	}
	want := 0
	pop := func(n int) {
		for range n {
			b := r.pop()
			if string(b.Msg()) != fmt.Sprint(want) {
				t.Fatalf("got %s, want %d", b.Msg(), want)
			}
			b.Release()
			want++
		}
	}
	push(5)
	pop(3)
	push(20)
	pop(10)
	push(3000)
	pop(3012)
	push(1)
	pop(1)
	if r.n != 0 || pool.InUse() != 0 {
		t.Errorf("%d in the ring, %d in use", r.n, pool.InUse())
	}
}
