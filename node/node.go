package node

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"treecast/node/retain"
	"treecast/wire"
	"treecast/wire/soc"
)

// A Node is one identity, one libp2p host and its cohorts. Its methods may be
// called by several goroutines.
type Node struct {
	cfg Config
	log *slog.Logger
	self
	neighbours
	registry

	pool      *wire.Pool
	store     *store
	retained  *retain.Store     // nil: nothing is kept on disk
	positions *retain.Positions // nil likewise
	answering answers
	doubts    doubts
	verifier  *verifier
	counts    counters
	past      pastCounters
	traffic   traffic
	spent     atomic.Bool // the memory budget is

	ctx    context.Context // ended by Close
	cancel context.CancelFunc
	wg     sync.WaitGroup // handshakes, pingers, upkeep, handlers
	unhook []func()       // what Close undoes at a host that stays
	ended  chan struct{}  // closed when Close is through
}

// self is who the node is.
type self struct {
	host    host.Host
	ownHost bool
	overlay wire.Overlay
	eth     soc.Owner
	keyFile sync.Mutex // so that the publisher key is made once
}

// neighbours is what the node knows of peers.
type neighbours struct {
	dir     *directory
	blocker *blocker
	links   *links
	streams *streams
	hints   hintRules
	failed  failedHints
}

// New makes a node, starts its host and reopens the cohorts that were opened here
// before. An error leaves nothing running.
func New(cfg Config) (_ *Node, err error) {
	cfg, err = cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	n := &Node{
		cfg: cfg, log: cfg.Log, self: self{host: cfg.Host}, registry: newRegistry(),
		pool: wire.NewPool(), ended: make(chan struct{}),
	}
	n.streams = newStreams(cfg.Limits.StreamsPerPeer)
	n.blocker = newBlocker(cfg.Waits.Block, &n.counts)
	n.links = newLinks(n)
	n.ctx, n.cancel = context.WithCancel(context.Background())
	if n.store, err = newStore(cfg.DataDir); err != nil {
		return nil, err
	}
	stored, err := n.store.cohorts(n.log)
	if err == nil {
		err = n.openRetained()
	}
	if err == nil {
		err = n.becomeHost()
	}
	if err != nil {
		return nil, errors.Join(err, n.closeStores())
	}
	n.verifier = newVerifier(cfg.Verifiers, newOwners(cfg.Limits.OwnerKeys, &n.counts))
	if err := n.begin(stored); err != nil {
		n.Close()
		return nil, err
	}
	return n, nil
}

// becomeHost finds out who this node is and makes its host, if none is given.
func (n *Node) becomeHost() (err error) {
	derive := n.cfg.OverlayOf
	if derive == nil {
		derive = func(p peer.ID) (wire.Overlay, error) { return overlayOfPeer(p, n.cfg.NetworkID), nil }
	}
	n.dir = newDirectory(derive)
	n.hints = hintRules{allowPrivate: n.cfg.AllowPrivate, derive: derive}
	if n.host == nil {
		key := n.cfg.Key
		if key == nil {
			if key, err = LoadOrMakeKey(n.cfg.DataDir, NodeKeyFile); err != nil {
				return err
			}
		}
		if n.host, err = newHost(&n.cfg, key, n.blocker); err != nil {
			return err
		}
		n.ownHost = true
	}
	n.cfg.Key = nil // it is in the host now
	if owner, err := ownerOfPeer(n.host.ID()); err == nil {
		n.eth = owner
	}
	if n.cfg.Overlay != nil {
		n.overlay = *n.cfg.Overlay
	} else if n.overlay, err = derive(n.host.ID()); err != nil {
		if n.ownHost {
			n.host.Close()
		}
		return fmt.Errorf("node: own overlay: %w", err)
	}
	n.log = n.log.With("node", n.overlay.String()[:8])
	return nil
}

// begin starts what runs without being asked.
func (n *Node) begin(stored []storedCohort) error {
	if n.cfg.Registerer != nil {
		m := newMetrics(n)
		if err := n.cfg.Registerer.Register(m); err != nil {
			return fmt.Errorf("node: metrics: %w", err)
		}
		n.unhook = append(n.unhook, func() { n.cfg.Registerer.Unregister(m) })
	}
	watch := &network.NotifyBundle{ConnectedF: n.connected}
	n.host.Network().Notify(watch)
	n.unhook = append(n.unhook, func() { n.host.Network().StopNotify(watch) })
	for _, p := range n.host.Network().Peers() {
		n.dir.overlay(p) // a peer without one is not looked for
	}
	for i := range stored {
		by := opened{broker: true, stored: true, by: stored[i].by}
		if _, err := n.openBroker(&stored[i].spec, CohortOptions{}, by); err != nil {
			n.log.Warn("stored cohort not reopened", "err", err)
		}
	}
	if err := n.watchAddrs(); err != nil {
		return err
	}
	n.wg.Go(n.upkeep)    // ends with ctx
	n.wg.Go(n.links.run) // ends with ctx
	n.host.SetStreamHandler(ProtocolID, n.accept)
	n.host.SetStreamHandler(RecoverProtocolID, n.answerRequest)
	n.unhook = append(n.unhook, func() {
		n.host.RemoveStreamHandler(ProtocolID)
		n.host.RemoveStreamHandler(RecoverProtocolID)
	})
	n.log.Info("node started", "peer", n.host.ID(), "overlay", n.overlay.String())
	return nil
}

// connected looks at each new connection: a blocked peer's goes, also at a host
// that was given and so has no gater of ours.
func (n *Node) connected(_ network.Network, conn network.Conn) {
	p := conn.RemotePeer()
	if n.blocker.blocked(p) {
		if !n.ownHost {
			n.counts.add(countBlockedPeer)
		}
		if n.enter() {
			go func() { // ends with the connection; Close waits for it
				defer n.wg.Done()
				conn.Close()
			}()
		}
		return
	}
	n.dir.overlay(p)
}

// enter counts a goroutine that libp2p started into those that Close waits for.
// False: the node is closed.
func (n *Node) enter() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return false
	}
	n.wg.Add(1)
	return true
}

// Close ends all cohorts and streams at once, and the host unless it was given;
// Leave lets those below find other parents first. Nothing of the node runs
// afterwards. Attached peers notice at once. Twice is fine; it
// must not be called by a handler.
func (n *Node) Close() error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		<-n.ended
		return nil
	}
	n.closed = true
	cohorts := n.cohorts
	n.cohorts = make(map[wire.Topic]*Cohort)
	n.mu.Unlock()
	defer close(n.ended)

	n.cancel()
	for _, undo := range slices.Backward(n.unhook) {
		undo()
	}
	for _, s := range n.streams.close() {
		n.wg.Go(func() { s.Reset() }) // ends with the reset; closing the host ends that
	}
	var err error
	if n.ownHost {
		err = n.host.Close()
	}
	for _, c := range cohorts {
		c.shut()
	}
	n.wg.Wait()
	n.verifier.close()
	return errors.Join(err, n.closeStores())
}

// closeStores ends what is on disk: last, when nobody uses it any more.
func (n *Node) closeStores() (err error) {
	if n.positions != nil {
		err = n.positions.Close()
	}
	if n.retained != nil {
		err = errors.Join(err, n.retained.Close())
	}
	return errors.Join(err, n.store.close())
}

// ID is the node's libp2p peer ID.
func (n *Node) ID() peer.ID { return n.host.ID() }

// Overlay is the node's address in the tree.
func (n *Node) Overlay() wire.Overlay { return n.overlay }

// EthAddress is the Ethereum address of the node key; zero for a given host with
// a key of another kind.
func (n *Node) EthAddress() soc.Owner { return n.eth }

// Host is the libp2p host.
func (n *Node) Host() host.Host { return n.host }

// Addrs are the addresses to reach this node at, each with /p2p.
func (n *Node) Addrs() []multiaddr.Multiaddr {
	addrs, err := peer.AddrInfoToP2pAddrs(&peer.AddrInfo{ID: n.host.ID(), Addrs: n.host.Addrs()})
	if err != nil {
		return nil // of an ID that is no multihash, which no host has
	}
	return addrs
}

// PublisherKey is the key in the data directory's publisher.key, made at first
// need; without a data directory a fresh one each time.
func (n *Node) PublisherKey() (*soc.Key, error) {
	n.keyFile.Lock()
	defer n.keyFile.Unlock()
	return LoadOrMakeKey(n.cfg.DataDir, PublisherKeyFile)
}

// newRand is the chance of one core.
func newRand() *rand.Rand {
	var seed [32]byte
	crand.Read(seed[:]) // never fails
	return rand.New(rand.NewChaCha8(seed))
}
