package node

import (
	"sync"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// streams is the set of this node's open protocol streams, so that Close reaches
// those too that no cohort has yet, and so that one peer's are bounded.
type streams struct {
	perPeer int

	mu      sync.Mutex
	all     map[network.Stream]struct{}
	inbound map[peer.ID]int
	closed  bool
}

func newStreams(perPeer int) *streams {
	return &streams{
		perPeer: perPeer,
		all:     make(map[network.Stream]struct{}), inbound: make(map[peer.ID]int),
	}
}

// add enters a stream that this node opened. False: the node is closed.
func (x *streams) add(s network.Stream) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.closed {
		x.all[s] = struct{}{}
	}
	return !x.closed
}

// accept enters a stream that a peer opened. False: the node is closed, or,
// with full, the peer has too many.
func (x *streams) accept(s network.Stream) (ok, full bool) {
	p := s.Conn().RemotePeer()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed || x.inbound[p] >= x.perPeer {
		return false, !x.closed
	}
	x.all[s] = struct{}{}
	x.inbound[p]++
	return true, false
}

// remove forgets a stream; it may have been forgotten before.
func (x *streams) remove(s network.Stream) {
	p := s.Conn().RemotePeer()
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.all[s]; !ok {
		return
	}
	delete(x.all, s)
	if s.Stat().Direction == network.DirInbound {
		if x.inbound[p]--; x.inbound[p] == 0 {
			delete(x.inbound, p)
		}
	}
}

// count is the number of open streams.
func (x *streams) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.all)
}

// close lets no stream in any more and returns those that are left.
func (x *streams) close() []network.Stream {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	left := make([]network.Stream, 0, len(x.all))
	for s := range x.all {
		left = append(left, s)
	}
	return left
}
