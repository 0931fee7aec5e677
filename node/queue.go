package node

import (
	"sync"

	"treecast/tree"
	"treecast/wire"
)

// A parcel is what a queue holds: one frame in a buffer of its own, or a piece of a
// slab with some, which grows while it waits. It is one reference.
type parcel struct {
	buf    *wire.Buf // nil: it is a piece
	piece  wire.Piece
	frames int
}

func (p *parcel) bytes() []byte {
	if p.buf != nil {
		return p.buf.Frame()
	}
	return p.piece.Bytes()
}

func (p *parcel) size() int {
	if p.buf != nil {
		return len(p.buf.Frame())
	}
	return p.piece.Len()
}

func (p *parcel) release() {
	if p.buf != nil {
		p.buf.Release()
	} else {
		p.piece.Release()
	}
}

// whole says that the parcel is worth a write of its own.
func (p *parcel) whole() bool { return p.buf == nil && p.piece.Len() >= wholeBytes }

// wholeBytes is how long a piece is that is written from where it lies. Shorter ones
// are copied together with what is next to them in the queue, as a write costs more.
const wholeBytes = 16 << 10

// ring is a first-in first-out list of parcels whose memory is used again.
type ring struct {
	slots []parcel // len is 0 or a power of two
	head  int
	n     int
}

func (r *ring) push(b parcel) {
	if r.n == len(r.slots) {
		slots := make([]parcel, max(8, 2*len(r.slots)))
		for i := range r.n {
			slots[i] = r.slots[(r.head+i)&(len(r.slots)-1)]
		}
		r.slots, r.head = slots, 0
	}
	r.slots[(r.head+r.n)&(len(r.slots)-1)] = b
	r.n++
}

// front is the parcel that pop would return, back the one that was pushed last.
func (r *ring) front() *parcel { return &r.slots[r.head] }
func (r *ring) back() *parcel  { return &r.slots[(r.head+r.n-1)&(len(r.slots)-1)] }

func (r *ring) pop() parcel {
	b := r.slots[r.head]
	r.slots[r.head] = parcel{}
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
// and never waits, and signals when the writer is to look; the writer takes. Control
// frames go first and have their own bound (PROTOCOL §2, §5 Slow child).
type queue struct {
	maxFrames, maxControl int
	maxBytes              int64
	wake                  chan struct{} // capacity 1: there is something to do

	mu      sync.Mutex
	control ring
	data    ring
	frames  int   // of data
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
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.admit(len(b.Frame())) {
		q.data.push(parcel{buf: b, frames: 1})
	} else {
		b.Release()
	}
	return q.level()
}

// pushPiece is push of a frame that lies in a slab. The reference stays the caller's.
func (q *queue) pushPiece(p wire.Piece) tree.QueueLevel {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case !q.admit(p.Len()):
	case q.data.n > 0 && q.data.back().piece.Extend(p):
		q.data.back().frames++
	default:
		q.data.push(parcel{piece: p.Retain(), frames: 1})
	}
	return q.level()
}

// admit counts a chunk's frame of so many bytes, if it may wait. It is called with mu
// held.
func (q *queue) admit(size int) bool {
	if q.dead || q.full || q.frames >= q.maxFrames || q.bytes+int64(size) > q.maxBytes {
		q.full = q.full || !q.dead
		return false
	}
	q.frames++
	q.bytes += int64(size)
	return true
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
	q.control.push(parcel{buf: b, frames: 1})
	q.mu.Unlock()
	return true
}

// level is called with mu held.
func (q *queue) level() tree.QueueLevel {
	switch {
	case q.full:
		return tree.QueueOverflow
	case 2*q.frames > q.maxFrames || 2*q.bytes > q.maxBytes:
		return tree.QueueHigh
	}
	return tree.QueueLow
}

// fill returns how much waits.
func (q *queue) fill() (level tree.QueueLevel, frames int, bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.level(), q.control.n + q.frames, q.bytes
}

// take moves what one write is to carry to batch: frames of together at most maxBytes,
// but at least one parcel if there is any, or one piece alone that is worth it. The
// references are the caller's. relieved says that the queue fell to half or less.
// Nothing taken and an ending: the queue is empty for good.
func (q *queue) take(batch []parcel, maxBytes int) (_ []parcel, relieved bool, e ending) {
	q.mu.Lock()
	defer q.mu.Unlock()
	before := q.level()
	size := 0
	fits := func(r *ring) bool {
		if r.n == 0 || len(batch) == 0 {
			return r.n > 0
		}
		return size+r.front().size() <= maxBytes && !r.front().whole() && !batch[len(batch)-1].whole()
	}
	for fits(&q.control) {
		p := q.control.pop()
		size += p.size()
		batch = append(batch, p)
	}
	for q.control.n == 0 && fits(&q.data) {
		p := q.data.pop()
		size += p.size()
		q.frames -= p.frames
		q.bytes -= int64(p.size())
		batch = append(batch, p)
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
		p := q.control.pop()
		p.release()
	}
	for q.data.n > 0 {
		p := q.data.pop()
		p.release()
	}
	q.frames, q.bytes = 0, 0
	q.mu.Unlock()
	q.signal()
}

// signal wakes the writer.
func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
