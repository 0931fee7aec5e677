package node

import (
	"bufio"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"treecast/tree"
	"treecast/wire"
)

// ProtocolID is the stream protocol (PROTOCOL §2).
const ProtocolID protocol.ID = "/pubsub/1.0.0"

// codeSlow is the code of a stream that is reset because its reader is too slow
// (PROTOCOL §5 Slow child). libp2p keeps 0x1000 to 0x1fff for itself.
const codeSlow network.StreamErrorCode = 0x510

// source is the reading end of a stream. Before it asks the transport for more,
// which may block, it runs a hook: what was read so far must not wait.
type source struct {
	raw      network.Stream
	before   func() // nil during the handshake
	own, all *traffic
}

func (s *source) Read(p []byte) (int, error) {
	if s.before != nil {
		s.before()
	}
	n, err := s.raw.Read(p)
	s.own.in.Add(uint64(n))
	s.all.in.Add(uint64(n))
	return n, err
}

// traffic counts bytes of streams, prefixes included.
type traffic struct {
	in, out atomic.Uint64
}

// A stream is one (peer, topic) stream after its first frame. Its reader and
// its writer end when done is closed, the former also when the stream breaks.
type stream struct {
	id      tree.StreamID
	c       *Cohort
	raw     network.Stream
	peer    peer.ID
	overlay wire.Overlay
	inbound bool // the peer dialled: it is a child, once accepted
	src     *source
	in      *wire.Reader
	out     queue
	stats   traffic
	refused atomic.Bool // ends when the other end closes

	deadline time.Time     // of writes; the writer's
	half     chan struct{} // closed by the reader: the child has closed its half

	stop sync.Once
	done chan struct{}

	standing
}

// standing is what the loop alone knows of a stream.
type standing struct {
	told   tree.QueueLevel // the level that the core knows of
	pushed bool            // its writer is to be woken
	held   bool            // it is in the loop's list of those whose frames wait for more
	waits  int             // bytes of such frames
	acked  bool            // an inbound stream's Ack was sent
	gone   bool            // no event of it may reach the core any more
	up     time.Time       // of a parent's: when a chunk last went up
	link   *link           // of a parent or a child, watched; nil: neither
}

// start begins reading and writing.
func (s *stream) start() {
	s.c.wg.Go(s.read)
	s.c.wg.Go(s.write)
}

// reset ends the stream at once, with a code for the other end; calls after the
// first do nothing. It does not wait for the transport, whose reset may block
// behind a stalled connection.
func (s *stream) reset(code network.StreamErrorCode) {
	s.stop.Do(func() {
		close(s.done)
		s.out.kill()
		s.c.wg.Go(func() { // ends with the reset; closing the connection ends that
			s.raw.ResetWithError(code) // an error says that it is gone already
			s.c.n.streams.remove(s.raw)
		})
	})
}

// linger waits until the other end had the time to read our last frame.
func (s *stream) linger() {
	t := time.NewTimer(s.c.n.cfg.Waits.Refused)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.done:
	}
	s.reset(network.StreamNoError)
}

// newStream makes a stream that is not admitted yet.
func (n *Node) newStream(c *Cohort, raw network.Stream, id peer.ID, overlay wire.Overlay, readAhead int) *stream {
	s := &stream{
		c: c, raw: raw, peer: id, overlay: overlay,
		out: newQueue(&n.cfg.Limits), done: make(chan struct{}), half: make(chan struct{}),
	}
	s.src = &source{raw: raw, own: &s.stats, all: &n.traffic}
	var r io.Reader = s.src
	if readAhead > 0 {
		r = bufio.NewReaderSize(r, readAhead) // which wire.Reader then uses as its own
	}
	s.in = wire.NewReader(r, n.pool)
	return s
}

// discard ends a stream that was never started.
func (s *stream) discard() {
	s.stop.Do(func() {
		close(s.done)
		s.out.kill()
		s.raw.Reset()
		s.c.n.streams.remove(s.raw)
	})
}
