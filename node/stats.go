package node

import (
	"slices"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"

	"treecast/tree"
	"treecast/wire"
)

// Stats are figures of a whole node.
type Stats struct {
	// Counters are the driver's own: why it dropped or refused something.
	Counters map[string]uint64
	// BytesIn and BytesOut are the bytes of protocol streams, length prefixes
	// included, without what libp2p adds.
	BytesIn, BytesOut uint64
	Cohorts, Streams  int
	// Buffers are the frame buffers in use, those of messages that the
	// application has not released included.
	Buffers int64
	// Retained are the bytes of chunks in the store; 0 without one.
	Retained int64
}

// Stats are the node's figures now.
func (n *Node) Stats() Stats {
	n.mu.Lock()
	cohorts := len(n.cohorts)
	n.mu.Unlock()
	var retained int64
	if n.retained != nil {
		retained = n.retained.Stats().Bytes
	}
	return Stats{
		Retained: retained,
		Counters: n.counts.snapshot(), BytesIn: n.traffic.in.Load(), BytesOut: n.traffic.out.Load(),
		Cohorts: cohorts, Streams: n.streams.count(), Buffers: n.pool.InUse(),
	}
}

// CohortStats are figures of one cohort that its core does not have.
type CohortStats struct {
	Streams []StreamStats // of parents and children, and of joins under way, by ID
	Held    int           // chunks that the core holds
	Asked   int           // chunks that wait for their check
}

// StreamStats are figures of one stream.
type StreamStats struct {
	Stream            tree.StreamID
	Peer              wire.Overlay
	PeerID            peer.ID
	Addr              string // the connection's remote multiaddr
	Inbound           bool   // the peer dialled
	BytesIn, BytesOut uint64
	// QueueFrames and QueueBytes wait for the writer; QueueFill is the share of
	// the bound that is used, 0..1.
	QueueFrames int
	QueueBytes  int64
	QueueFill   float64
}

// Stats are the cohort's figures now; none of a closed one.
func (c *Cohort) Stats() (st CohortStats) {
	c.call(func(l *loop) {
		st.Held, st.Asked = l.chunks.held(), l.asked
		for _, id := range l.streamIDs() {
			st.Streams = append(st.Streams, l.streams[id].figures())
		}
	})
	return st
}

func (s *stream) figures() StreamStats {
	_, frames, bytes := s.out.fill()
	return StreamStats{
		Stream: s.id, Peer: s.overlay, PeerID: s.peer, Addr: s.raw.Conn().RemoteMultiaddr().String(), Inbound: s.inbound,
		BytesIn: s.stats.in.Load(), BytesOut: s.stats.out.Load(), QueueFrames: frames, QueueBytes: bytes,
		QueueFill: max(float64(frames)/float64(s.out.maxFrames), float64(bytes)/float64(s.out.maxBytes)),
	}
}

// streamIDs are the loop's streams in order.
func (l *loop) streamIDs() []tree.StreamID {
	ids := make([]tree.StreamID, 0, len(l.streams))
	for id := range l.streams {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// pastCounters are the counts of cohorts that are closed, so that the sums over
// all cohorts never fall.
type pastCounters struct {
	mu  sync.Mutex
	sum tree.Counters
}

func (x *pastCounters) add(c tree.Counters) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for k, v := range c {
		x.sum[k] += v
	}
}

// total adds up the counts of all cohorts there were.
func (n *Node) total() tree.Counters {
	n.past.mu.Lock()
	sum := n.past.sum
	n.past.mu.Unlock()
	for _, c := range n.Cohorts() {
		for k, v := range c.Counters() {
			sum[k] += v
		}
	}
	return sum
}
