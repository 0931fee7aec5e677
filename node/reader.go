package node

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"treecast/tree"
	"treecast/wire"
)

const (
	// batchFrames and batchBytes bound what a reader hands over at once.
	batchFrames = 64
	batchBytes  = 128 << 10
	// parentReadAhead is the buffer in front of a parent's stream. Data comes
	// from there in bursts; children only send control frames and publications,
	// and get wire.Reader's own small one.
	parentReadAhead = 32 << 10
)

// A batch is what one reader brings to the loop at once: so a hand-over is paid
// per burst and not per chunk. The frames are decoded already.
type batch struct {
	s      *stream
	n      int
	bytes  int
	frames [batchFrames]struct {
		buf *wire.Buf // one reference
		msg wire.Broadcast
	}
	ended bool // after the frames the stream is gone
	cause tree.EndCause
	// answer, if set, says that these are chunks that were asked for, from no
	// stream of the cohort; with ended the answer is over.
	answer *answering
}

var batches = sync.Pool{New: func() any { return new(batch) }}

// free releases the frames that are still held and gives the batch back.
func (b *batch) free() {
	for i := range b.n {
		f := &b.frames[i]
		if f.buf != nil {
			f.buf.Release()
		}
		f.buf = nil
	}
	b.s, b.answer, b.n, b.bytes, b.ended = nil, nil, 0, 0, false
	batches.Put(b)
}

// reading is the state of one reader: the batch being filled.
type reading struct {
	s *stream
	b *batch
}

// read is the goroutine that reads the stream. The last it does is to tell the
// loop that the stream has ended, however it came to that.
func (s *stream) read() {
	r := reading{s: s}
	s.src.before = r.flush
	cause := r.run()
	r.open().ended, r.b.cause = true, cause
	r.flush()
	s.reset(network.StreamNoError)
}

func (r *reading) run() tree.EndCause {
	for {
		buf, err := r.s.in.Next()
		if err != nil {
			return r.failed(err)
		}
		b := r.open()
		f := &b.frames[b.n]
		if err := f.msg.Parse(buf.Msg()); err != nil {
			buf.Release()
			return r.failed(err)
		}
		if f.msg.Kind == wire.KindNone {
			r.s.c.n.counts.add(countUnknownMember)
			buf.Release()
			continue
		}
		f.buf = buf
		b.n++
		b.bytes += len(buf.Frame())
		if b.n == batchFrames || b.bytes >= batchBytes {
			r.flush()
		}
	}
}

func (r *reading) open() *batch {
	if r.b == nil {
		r.b = batches.Get().(*batch)
		r.b.s = r.s
	}
	return r.b
}

// flush hands the batch to the loop and waits for it: so a peer that sends
// faster than the loop works is held back by its own stream.
func (r *reading) flush() {
	b := r.b
	if b == nil || b.n == 0 && !b.ended {
		return
	}
	r.b = nil
	c := r.s.c
	select {
	case c.frames <- b: // as a rule; to wait for one of two channels costs more
		return
	default:
	}
	select {
	case c.frames <- b:
	case <-c.done:
		b.free()
	}
}

// failed says what an error of the stream means for the core.
func (r *reading) failed(err error) tree.EndCause {
	s := r.s
	var remote *network.StreamError
	switch {
	case errors.Is(err, wire.ErrMalformed):
		s.c.n.countMalformed(err)
		s.c.log.Debug("stream ended: bad frame", "peer", s.peer, "err", err)
		s.reset(network.StreamProtocolViolation)
		return tree.CauseBad
	case err == io.EOF && s.inbound && !s.refused.Load():
		r.flush()
		return s.halfClosed()
	case err == io.EOF:
		return tree.CauseClosed
	case errors.As(err, &remote) && remote.Remote && remote.ErrorCode == codeSlow:
		return tree.CauseSlow
	}
	return tree.CauseReset
}

// halfClosedPoll is how often the connection of a child that will send nothing
// any more is looked at.
const halfClosedPoll = time.Second

// halfClosed waits for the end of a child that closed its own half, which does
// not end the attachment (PROTOCOL §2). Some transports tell no reader of a reset
// that comes later: then the writer finds out.
func (s *stream) halfClosed() tree.EndCause {
	close(s.half)
	s.out.signal()
	tick := time.NewTicker(halfClosedPoll)
	defer tick.Stop()
	var one [1]byte
	for {
		select {
		case <-s.done:
			return tree.CauseReset
		case <-tick.C:
		}
		if s.raw.Conn().IsClosed() {
			return tree.CauseReset
		}
		if _, err := s.raw.Read(one[:]); err != io.EOF {
			return tree.CauseReset
		}
	}
}
