package node

import (
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"

	"treecast/wire"
)

// maxDirectory bounds the peers that a directory remembers besides those of
// its own configuration.
const maxDirectory = 8192

// A directory knows which peers have which overlays. An overlay is only ever
// entered for a peer ID that it was derived from, so nobody can claim one.
type directory struct {
	derive func(peer.ID) (wire.Overlay, error)

	mu     sync.RWMutex
	peers  map[wire.Overlay]peer.ID
	addrs  map[peer.ID]wire.Overlay
	pinned map[peer.ID]bool // of the configuration: never forgotten
}

func newDirectory(derive func(peer.ID) (wire.Overlay, error)) *directory {
	return &directory{
		derive: derive,
		peers:  make(map[wire.Overlay]peer.ID),
		addrs:  make(map[peer.ID]wire.Overlay),
		pinned: make(map[peer.ID]bool),
	}
}

// overlay is the peer's; it is remembered, and forgotten when many others came.
func (d *directory) overlay(p peer.ID) (wire.Overlay, error) {
	d.mu.RLock()
	o, ok := d.addrs[p]
	d.mu.RUnlock()
	if ok {
		return o, nil
	}
	o, err := d.derive(p)
	if err != nil {
		return wire.Overlay{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.addrs) >= maxDirectory+len(d.pinned) {
		d.evict()
	}
	d.addrs[p], d.peers[o] = o, p
	return o, nil
}

// pin enters a peer of the configuration.
func (d *directory) pin(p peer.ID) (wire.Overlay, error) {
	o, err := d.overlay(p)
	if err != nil {
		return o, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pinned[p] = true
	d.addrs[p], d.peers[o] = o, p
	return o, nil
}

// peer is the peer with that overlay, if it is known.
func (d *directory) peer(o wire.Overlay) (peer.ID, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	p, ok := d.peers[o]
	return p, ok
}

// evict makes room: any that are not pinned, one in eight, whichever the map
// brings first. What is forgotten is derived again when it is needed. It is
// called with mu held.
func (d *directory) evict() {
	n := maxDirectory / 8
	for p, o := range d.addrs {
		if n == 0 {
			return
		}
		if !d.pinned[p] {
			delete(d.addrs, p)
			delete(d.peers, o)
			n--
		}
	}
}
