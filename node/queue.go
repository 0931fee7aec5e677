package node

import (
	"sync"

	"treecast/tree"
	"treecast/wire"
)

// ring is a first-in first-out list of frames whose memory is used again.
type ring struct {
	slots []*wire.Buf // len is 0 or a power of two
	head  int
	n     int
}

func (r *ring) push(b *wire.Buf) {
	if r.n == len(r.slots) {
		slots := make([]*wire.Buf, max(8, 2*len(r.slots)))
		for i := range r.n {
			slots[i] = r.slots[(r.head+i)&(len(r.slots)-1)]
		}
		r.slots, r.head = slots, 0
	}
	r.slots[(r.head+r.n)&(len(r.slots)-1)] = b
	r.n++
}

// front is the frame that pop would return.
func (r *ring) front() *wire.Buf { return r.slots[r.head] }

func (r *ring) pop() *wire.Buf {
	b := r.slots[r.head]
	r.slots[r.head] = nil
	r.head = (r.head + 1) & (len(r.slots) - 1)
	r.n--
	if r.n == 0 && len(r.slots) > 1024 {
		*r = ring{} // a burst's memory is not kept
	}
	return b
}

// ending says what becomes of a stream once its queue is empty.
type ending uint8

const (
	endNone  ending = iota // it goes on
	endClose               // our half is closed
)

// A queue holds the frames that wait for one stream's writer. The loop pushes
// and never waits; the writer takes. Control frames go first and have their own
// bound (PROTOCOL §2, §5 Slow child). Each frame in it is one reference.
type queue struct {
	maxFrames, maxControl int
	maxBytes              int64
	wake                  chan struct{} // capacity 1: there is something to do

	mu      sync.Mutex
	control ring
	data    ring
	bytes   int64 // of data
	ending  ending
	dead    bool // the stream is gone: what comes is released at once
	full    bool // a frame found no room
}

func newQueue(l *Limits) queue {
	return queue{
		maxFrames: l.QueueFrames, maxControl: l.ControlFrames, maxBytes: l.QueueBytes,
		wake: make(chan struct{}, 1),
	}
}

// push takes over one reference to a chunk's frame and tells how full the queue
// is now. A frame without room is released, and so is all that follows it.
func (q *queue) push(b *wire.Buf) tree.QueueLevel {
	size := int64(len(b.Frame()))
	q.mu.Lock()
	if q.dead || q.full || q.data.n >= q.maxFrames || q.bytes+size > q.maxBytes {
		q.full = q.full || !q.dead
		level := q.level()
		q.mu.Unlock()
		b.Release()
		return level
	}
	q.data.push(b)
	q.bytes += size
	level := q.level()
	q.mu.Unlock()
	q.signal()
	return level
}

// pushControl takes over one reference to a control frame. False says that it
// found no room, which ends the stream like a full queue.
func (q *queue) pushControl(b *wire.Buf) bool {
	q.mu.Lock()
	if q.dead || q.control.n >= q.maxControl {
		ok := q.dead
		q.full = q.full || !q.dead
		q.mu.Unlock()
		b.Release()
		return ok
	}
	q.control.push(b)
	q.mu.Unlock()
	q.signal()
	return true
}

// level is called with mu held.
func (q *queue) level() tree.QueueLevel {
	switch {
	case q.full:
		return tree.QueueOverflow
	case 2*q.data.n > q.maxFrames || 2*q.bytes > q.maxBytes:
		return tree.QueueHigh
	}
	return tree.QueueLow
}

// fill returns how much waits.
func (q *queue) fill() (level tree.QueueLevel, frames int, bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.level(), q.control.n + q.data.n, q.bytes
}

// take moves frames of together at most maxBytes, but at least one if there is
// any, to batch; their references are the caller's. relieved says that the queue
// fell to half or less. Nothing taken and an ending: the queue is empty for good.
func (q *queue) take(batch []*wire.Buf, maxBytes int) (_ []*wire.Buf, relieved bool, e ending) {
	q.mu.Lock()
	defer q.mu.Unlock()
	before := q.level()
	size := 0
	fits := func(r *ring) bool {
		return r.n > 0 && (len(batch) == 0 || size+len(r.front().Frame()) <= maxBytes)
	}
	for fits(&q.control) {
		b := q.control.pop()
		size += len(b.Frame())
		batch = append(batch, b)
	}
	for q.control.n == 0 && fits(&q.data) {
		b := q.data.pop()
		n := len(b.Frame())
		size += n
		q.bytes -= int64(n)
		batch = append(batch, b)
	}
	return batch, before == tree.QueueHigh && q.level() == tree.QueueLow, q.ending
}

// finish closes our half of the stream after what is queued.
func (q *queue) finish() {
	q.mu.Lock()
	q.ending = endClose
	q.mu.Unlock()
	q.signal()
}

// kill releases all that is queued and all that will be.
func (q *queue) kill() {
	q.mu.Lock()
	q.dead = true
	for q.control.n > 0 {
		q.control.pop().Release()
	}
	for q.data.n > 0 {
		q.data.pop().Release()
	}
	q.bytes = 0
	q.mu.Unlock()
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
