package node

import (
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// doubts are the peers that did not answer in time, while their connections are tried.
// A connection that carries nothing any more, as when a router has forgotten it, ends by
// itself only after minutes, and whatever is asked meanwhile goes the same way: the one
// parent a node has may be the only one it knows to ask.
type doubts struct {
	mu  sync.Mutex
	set map[peer.ID]struct{}
}

func (x *doubts) begin(p peer.ID) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.set[p]; ok {
		return false
	}
	if x.set == nil {
		x.set = make(map[peer.ID]struct{})
	}
	x.set[p] = struct{}{}
	return true
}

func (x *doubts) end(p peer.ID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.set, p)
}

// doubt has a peer pinged that did not answer in time, and its connection closed if it
// gives no sign of life, so that the next dial makes another. It does not wait.
func (n *Node) doubt(p peer.ID) {
	if n.host.Network().Connectedness(p) != network.Connected || !n.enter() {
		return
	}
	if !n.doubts.begin(p) {
		n.wg.Done()
		return
	}
	go func() { // ends with its timeout; the node's Close waits for it
		defer n.wg.Done()
		defer n.doubts.end(p)
		begin := time.Now()
		x := pinger{n: n, id: p}
		_, err := x.ping(n.ctx, n.cfg.Waits.Doubt)
		if err == nil || !timedOut(err) || n.ctx.Err() != nil || n.links.heard(p).After(begin) {
			x.reset()
			return
		}
		n.counts.add(countConnectionDead)
		n.log.Info("connection closed: it carries nothing", "peer", p)
		n.host.Network().ClosePeer(p) // whose streams then end, that of the ping too
	}()
}
