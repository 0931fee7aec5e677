package node

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"treecast/wire"
)

// writeBytes is how much one write carries at most.
const writeBytes = wire.SlabBytes

// joinBuffers are for writes of several parcels. They are shared by all streams,
// as most streams are idle most of the time.
var joinBuffers = sync.Pool{New: func() any { return new([writeBytes]byte) }}

// write is the goroutine that writes the stream. Its queue wakes it for all that
// concerns it: frames, the end of the stream, and that the child has closed its half.
func (s *stream) write() {
	var batch []parcel
	var poll <-chan time.Time // set once the child has closed its half
	half := s.half
	for {
		var relieved bool
		var end ending
		batch, relieved, end = s.out.take(batch[:0], writeBytes)
		if relieved {
			s.c.box.post(func() { s.c.queueLevel(s) })
		}
		switch {
		case len(batch) > 0:
			err := s.writeBatch(batch)
			for i := range batch {
				batch[i].release()
				batch[i] = parcel{}
			}
			if err != nil {
				s.writeFailed(err)
				return
			}
			continue
		case end == endClose:
			if err := s.raw.CloseWrite(); err != nil {
				s.writeFailed(err)
				return
			}
			s.linger()
			return
		}
		if poll == nil {
			<-s.out.wake // alone, as to wait for one of several costs more
		} else {
			select {
			case <-s.out.wake:
			case <-poll:
				if err := s.probe(); err != nil {
					s.writeFailed(err)
					return
				}
			}
		}
		select {
		case <-s.done:
			return
		default:
		}
		select {
		case <-half:
			half = nil
			tick := time.NewTicker(halfClosedPoll)
			defer tick.Stop()
			poll = tick.C
		default:
		}
	}
}

// probe finds out whether the other end has reset the stream, without sending
// anything: a write whose deadline is over fails either way, but as reset if it
// was. It is for the writer, and for children that have closed their half, of
// whose reset no read tells.
func (s *stream) probe() error {
	s.raw.SetWriteDeadline(time.Unix(1, 0))
	n, err := s.raw.Write([]byte{0})
	s.deadline = time.Time{} // the next write sets its own
	s.raw.SetWriteDeadline(s.deadline)
	if n == 0 && err != nil && timedOut(err) {
		return nil
	}
	return fmt.Errorf("node: half-closed child: %w", errors.Join(err, network.ErrReset))
}

// writeBatch writes all of batch at once.
func (s *stream) writeBatch(batch []parcel) error {
	// Setting a deadline costs more than a small write, so a busy stream goes on
	// with the one it has while half of it is left.
	if wait, now := s.c.n.cfg.Waits.Write, time.Now(); s.deadline.Sub(now) < wait/2 {
		s.deadline = now.Add(wait)
		s.raw.SetWriteDeadline(s.deadline)
	}
	data := batch[0].bytes()
	if len(batch) > 1 {
		join := joinBuffers.Get().(*[writeBytes]byte)
		defer joinBuffers.Put(join)
		n := 0
		for i := range batch {
			n += copy(join[n:], batch[i].bytes())
		}
		data = join[:n]
	}
	n, err := s.raw.Write(data)
	s.stats.out.Add(uint64(n))
	s.c.n.traffic.out.Add(uint64(n))
	return err
}

func (s *stream) writeFailed(err error) {
	select {
	case <-s.done: // reset by us: nothing failed
	default:
		s.c.n.counts.add(countWriteFailed)
		s.c.log.Debug("write failed", "peer", s.peer, "err", err)
		s.reset(network.StreamNoError)
	}
}
