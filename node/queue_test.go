package node

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"treecast/tree"
	"treecast/wire"
)

// taken names the frames of a batch by their messages, those of one parcel in a row.
func taken(batch []parcel) string {
	var names []string
	for i := range batch {
		var msgs []string
		for frames := batch[i].bytes(); len(frames) > 0; {
			length, n, err := wire.ParseLength(frames)
			if err != nil {
				panic(err)
			}
			msgs = append(msgs, string(frames[n:n+length]))
			frames = frames[n+length:]
		}
		names = append(names, strings.Join(msgs, "+"))
		batch[i].release()
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
			r.push(parcel{buf: pool.Frame([]byte(fmt.Sprint(next))), frames: 1})
			next++
		}
	}
	want := 0
	pop := func(n int) {
		for range n {
			if got := taken([]parcel{r.pop()}); got != fmt.Sprintf("[%d]", want) {
				t.Fatalf("got %s, want %d", got, want)
			}
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

// laid is a slab with the frames "0", "1", ... in it, and their pieces.
func laid(t *testing.T, frames, size int) (*wire.Slab, []wire.Piece) {
	t.Helper()
	slab := wire.NewSlab()
	var pieces []wire.Piece
	for i := range frames {
		p, ok := slab.Lay(wire.AppendFrame(nil, fmt.Appendf(nil, "%0*d", size, i)))
		if !ok {
			t.Fatalf("no room for frame %d", i)
		}
		pieces = append(pieces, p)
	}
	return slab, pieces
}

// TestQueuePieces: frames that lie behind each other wait as one parcel, others apart;
// a long one goes alone, short ones go together.
func TestQueuePieces(t *testing.T) {
	pool := wire.NewPool()
	q := newQueue(&Limits{QueueFrames: 8, QueueBytes: 1 << 20, ControlFrames: 2})
	_, short := laid(t, 6, 1)
	for _, i := range []int{0, 1, 2, 4} {
		q.pushPiece(short[i])
	}
	if _, frames, bytes := q.fill(); frames != 4 || bytes != 4*2 {
		t.Errorf("%d frames, %d bytes", frames, bytes)
	}
	q.push(pool.Frame([]byte("b")))
	q.pushPiece(short[5])
	q.pushControl(pool.Frame([]byte("c")))
	batch, _, _ := q.take(nil, writeBytes)
	if got := taken(batch); got != "[c 0+1+2 4 b 5]" {
		t.Error(got)
	}
	if _, frames, bytes := q.fill(); frames != 0 || bytes != 0 {
		t.Errorf("%d frames, %d bytes left", frames, bytes)
	}

	_, long := laid(t, 8, wholeBytes/4)
	q.pushPiece(short[0])
	for _, p := range long[:6] {
		q.pushPiece(p)
	}
	q.push(pool.Frame([]byte("b")))
	for _, want := range []int{1, 6, 1} {
		batch, _, _ := q.take(nil, writeBytes)
		if len(batch) != 1 || batch[0].frames != want {
			t.Errorf("%d parcels, the first of %d frames, want one of %d", len(batch), batch[0].frames, want)
		}
		taken(batch)
	}
	if level := q.pushPiece(long[0]); level != tree.QueueLow {
		t.Errorf("level %d of one frame", level)
	}
	for _, p := range long[1:5] {
		q.pushPiece(p)
	}
	if level, _, _ := q.fill(); level != tree.QueueHigh {
		t.Errorf("level %d of five frames of eight", level)
	}
	for _, p := range short[:4] {
		q.pushPiece(p)
	}
	if level, frames, _ := q.fill(); level != tree.QueueOverflow || frames != 8 {
		t.Errorf("level %d, %d frames: pieces go beyond the bound", level, frames)
	}
	q.kill()
	if pool.InUse() != 0 {
		t.Errorf("%d buffers in use", pool.InUse())
	}
	for _, p := range append(short, long...) { // each has its own reference still, and no other
		if p.Len() == 0 || len(p.Bytes()) == 0 {
			t.Error("a piece is gone")
		}
		p.Release()
	}
}

// TestQueueReleasesPieces: with the queue's references a slab goes.
func TestQueueReleasesPieces(t *testing.T) {
	q := newQueue(&Limits{QueueFrames: 3, QueueBytes: 1 << 20, ControlFrames: 2})
	slab, pieces := laid(t, 5, 1)
	for _, p := range pieces {
		q.pushPiece(p) // the last two find no room
		p.Release()
	}
	batch, _, _ := q.take(nil, writeBytes)
	slab.Release()
	taken(batch)
	q.kill()
	defer func() {
		if recover() == nil {
			t.Error("somebody holds the slab still")
		}
	}()
	slab.Release()
}
