package node

import (
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"treecast/wire"
)

const (
	// maxBlame is the forged chunks within blameWindow that block a peer
	// (PROTOCOL §4 Publications).
	maxBlame    = 8
	blameWindow = time.Minute
	// maxBlamed bounds the peers that are remembered with a blame or a block.
	maxBlamed = 8192
)

// A blocker refuses peers that sent forged chunks, by peer ID and in both
// directions. As a connection gater it lets them finish the handshake that
// proves the ID; addresses are never blocked, as others may share them.
type blocker struct {
	wait   time.Duration
	counts *counters

	mu     sync.Mutex
	until  map[peer.ID]time.Time
	blames map[peer.ID][]time.Time // of the last minute
}

func newBlocker(wait time.Duration, c *counters) *blocker {
	return &blocker{wait: wait, counts: c, until: make(map[peer.ID]time.Time), blames: make(map[peer.ID][]time.Time)}
}

// blame notes one forged chunk and says whether that blocks the peer.
func (b *blocker) blame(p peer.ID, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	list, known := b.blames[p]
	for len(list) > 0 && now.Sub(list[0]) >= blameWindow {
		list = list[1:]
	}
	if !known && len(b.blames) >= maxBlamed {
		for q, l := range b.blames {
			if now.Sub(l[len(l)-1]) >= blameWindow {
				delete(b.blames, q)
			}
		}
		if len(b.blames) >= maxBlamed {
			return true // far more forgers than honest mistakes explain
		}
	}
	if list = append(list, now); len(list) < maxBlame {
		b.blames[p] = list
		return false
	}
	delete(b.blames, p)
	return true
}

// block refuses a peer from now on.
func (b *blocker) block(p peer.ID, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.until) >= maxBlamed {
		for q, t := range b.until {
			if !now.Before(t) {
				delete(b.until, q)
			}
		}
		for q := range b.until { // still full: somebody has to go
			if len(b.until) < maxBlamed {
				break
			}
			delete(b.until, q)
		}
	}
	b.until[p] = now.Add(b.wait)
	b.counts.add(countForgersBlocked)
}

// blocked says whether a peer is refused now.
func (b *blocker) blocked(p peer.ID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, ok := b.until[p]
	if ok && !time.Now().Before(t) {
		delete(b.until, p)
		return false
	}
	return ok
}

func (b *blocker) refuse(p peer.ID) bool {
	if b.blocked(p) {
		b.counts.add(countBlockedPeer)
		return true
	}
	return false
}

// InterceptPeerDial is part of connmgr.ConnectionGater.
func (b *blocker) InterceptPeerDial(p peer.ID) bool { return !b.refuse(p) }

// InterceptAddrDial lets all addresses pass.
func (b *blocker) InterceptAddrDial(peer.ID, multiaddr.Multiaddr) bool { return true }

// InterceptAccept lets all addresses pass.
func (b *blocker) InterceptAccept(network.ConnMultiaddrs) bool { return true }

// InterceptSecured refuses blocked peers once their ID is proved.
func (b *blocker) InterceptSecured(_ network.Direction, p peer.ID, _ network.ConnMultiaddrs) bool {
	return !b.refuse(p)
}

// InterceptUpgraded lets all pass that InterceptSecured did.
func (b *blocker) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }

// blamed counts a forged chunk against a peer.
func (n *Node) blamed(o wire.Overlay) {
	if p, ok := n.dir.peer(o); ok && n.blocker.blame(p, time.Now()) {
		n.cutOff(p)
	}
}

// block refuses a peer at once.
func (n *Node) block(o wire.Overlay) {
	if p, ok := n.dir.peer(o); ok {
		n.cutOff(p)
	}
}

func (n *Node) cutOff(p peer.ID) {
	n.log.Warn("peer blocked: it sent forged chunks", "peer", p, "for", n.cfg.Waits.Block)
	n.blocker.block(p, time.Now())
	n.wg.Go(func() { n.host.Network().ClosePeer(p) }) // ends with the connection
}
