package node

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/prometheus/client_golang/prometheus"

	"treecast/node/retain"
	"treecast/node/retain/order"
	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// OpenPolicy says from whom an Open is accepted (PROTOCOL §4 Who opens).
type OpenPolicy uint8

// The policies. The own API may open under each of them.
const (
	OpenAPI    OpenPolicy = iota // nobody else
	OpenList                     // the peers of Config.OpenAllow
	OpenAnyone                   // everybody
)

// Config is what a Node is made of. The zero value of a field is its default,
// negative is off where that has a meaning.
type Config struct {
	// DataDir keeps the keys, the cohorts opened here and the index blocks,
	// each in a file of its own. It is made if missing. Empty keeps nothing:
	// then the identity is fresh, and indices start again at 0.
	DataDir string
	// Key is the node key; nil takes DataDir's node.key, made at first start,
	// or without DataDir a fresh one.
	Key *soc.Key
	// Listen are multiaddrs to listen on; none listens nowhere. TCP (noise,
	// yamux) and QUIC are served.
	Listen []string
	// Host, if set, is used instead of an own libp2p host, and is left open by
	// Close. Key and Listen must then be empty: both are the host's. Connections and
	// streams are opened through its Network, which does not wait for identify.
	Host host.Host
	// Overlay is this node's overlay; nil derives it from the node key with a
	// zero nonce, which needs a secp256k1 key (PROTOCOL §1).
	Overlay *wire.Overlay
	// OverlayOf derives an authenticated peer's overlay; nil takes the rule of
	// PROTOCOL §1. It is called often and by several goroutines.
	OverlayOf func(peer.ID) (wire.Overlay, error)
	// Resolve finds a peer by its overlay where neither connections, peerstore
	// nor hints do; nil finds nobody (PROTOCOL §9).
	Resolve func(context.Context, wire.Overlay) (peer.AddrInfo, error)
	// NetworkID goes into every overlay; 0 = 1.
	NetworkID uint64
	// Capacity and Parents are what a cohort gets that does not say, as in
	// tree.Config.
	Capacity, Parents int
	// OpenPolicy and OpenAllow say who else may open cohorts here.
	OpenPolicy OpenPolicy
	OpenAllow  []peer.ID
	// RequireProof answers REJECTED in closed cohorts to whoever does not prove to
	// be a publisher (PROTOCOL §4 auth).
	RequireProof bool
	// PublishRate is the bytes per second that this node admits as a broker, as in
	// tree.Config.
	PublishRate int
	// AllowPrivate believes address hints in loopback and private ranges even
	// if they came over a public connection (PROTOCOL §6).
	AllowPrivate bool
	// Memory bounds the bytes of frames held by queues, in all cohorts; above it
	// new children are answered FULL. 0 = 1 GiB (PROTOCOL §5 Bounds).
	Memory int64
	// Verifiers is the number of goroutines that check chunks; 0 = one a CPU.
	Verifiers int
	// Retain is what is kept of the cohorts' chunks (PROTOCOL §8).
	Retain Retain
	// Recovery is how missing chunks are waited and asked for, with the defaults of
	// package order; its Root and Rand are the node's to set.
	Recovery order.Config
	// Log takes the node's log; nil discards it.
	Log *slog.Logger
	// Registerer takes the node's and libp2p's metrics; nil leaves them out.
	Registerer prometheus.Registerer
	// Timing is given to every cohort's core.
	Timing tree.Timing
	// Limits and Waits are the driver's own bounds.
	Limits Limits
	Waits  Waits
}

// Retain is what is kept of the cohorts' chunks with a feed index, for children
// and others that ask for them, for the application, and over a restart.
type Retain struct {
	// Size bounds the store in the data directory, in bytes over all cohorts; the
	// oldest chunks go first. A receipt of a publication then says that its chunk is
	// on disk. 0 = no store: the newest chunks are in memory alone.
	Size int64
	// Age is how old a chunk in the store may get; 0 = any age.
	Age time.Duration
	// Ring bounds what a cohort keeps in memory.
	Ring retain.RingConfig
}

// Limits are the bounds on what peers and the application make the driver hold.
type Limits struct {
	Cohorts        int   // cohorts of this node [4096]
	OpenedPerPeer  int   // cohorts opened by one peer [16]
	StreamsPerPeer int   // streams that one peer has open here [64]
	QueueFrames    int   // frames in a child's queue [8192]
	QueueBytes     int64 // bytes in a child's queue [32 MiB]
	ControlFrames  int   // control frames in any stream's queue [256]
	Publishing     int   // publications of a cohort without a receipt [512]
	OwnerKeys      int   // owners whose key has a table of 148 KiB, see soc.OwnerKey; negative: none [64]
}

// Waits are the driver's timeouts.
type Waits struct {
	Handshake time.Duration // for a first frame [10 s]
	Resolve   time.Duration // for an overlay to become an address [10 s]
	Dial      time.Duration // for a connection [5 s]
	Ack       time.Duration // for the answer to a Subscribe [5 s]
	Recover   time.Duration // for the answer to a request for chunks, to its end [30 s]
	Refused   time.Duration // until a refused stream is reset [5 s]
	Write     time.Duration // for one write to a peer, at most; half of it at least [30 s]
	Ping      time.Duration // between pings to parents and children [5 s]
	Dead      time.Duration // without a sign of life until the connection is closed [10 s]
	Doubt     time.Duration // the same once the peer has left something unanswered [2 s]
	Idle      time.Duration // until an idle cohort opened by a peer is reclaimed [10 min]
	Block     time.Duration // how long a forger is refused [10 min]
}

func orDefault[T int | int64 | uint64 | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}

// withDefaults checks cfg and fills in what is zero.
func (cfg Config) withDefaults() (Config, error) {
	if cfg.Host != nil && (cfg.Key != nil || len(cfg.Listen) > 0) {
		return cfg, fmt.Errorf("node: config Host: set together with Key or Listen")
	}
	if cfg.OpenPolicy > OpenAnyone {
		return cfg, fmt.Errorf("node: config OpenPolicy: %d", cfg.OpenPolicy)
	}
	if cfg.Capacity == 1 || cfg.Capacity == 2 {
		return cfg, fmt.Errorf("node: config Capacity: %d, want none (negative) or at least 3", cfg.Capacity)
	}
	if cfg.Parents < 0 || cfg.Parents > 2 {
		return cfg, fmt.Errorf("node: config Parents: %d, want 1 or 2", cfg.Parents)
	}
	orDefault(&cfg.NetworkID, 1)
	orDefault(&cfg.Memory, 1<<30)
	orDefault(&cfg.Verifiers, runtime.GOMAXPROCS(0))
	l, w := &cfg.Limits, &cfg.Waits
	orDefault(&l.Cohorts, 4096)
	orDefault(&l.OpenedPerPeer, 16)
	orDefault(&l.StreamsPerPeer, 64)
	orDefault(&l.QueueFrames, 8192)
	orDefault(&l.QueueBytes, 32<<20)
	orDefault(&l.ControlFrames, 256)
	orDefault(&l.Publishing, 512)
	orDefault(&l.OwnerKeys, 64)
	orDefault(&w.Handshake, 10*time.Second)
	orDefault(&w.Resolve, 10*time.Second)
	orDefault(&w.Dial, 5*time.Second)
	orDefault(&w.Ack, 5*time.Second)
	orDefault(&w.Recover, 30*time.Second)
	orDefault(&w.Refused, 5*time.Second)
	orDefault(&w.Write, 30*time.Second)
	orDefault(&w.Ping, 5*time.Second)
	orDefault(&w.Dead, 10*time.Second)
	orDefault(&w.Doubt, 2*time.Second)
	orDefault(&w.Idle, 10*time.Minute)
	orDefault(&w.Block, 10*time.Minute)
	for _, b := range []struct {
		name  string
		value int64
	}{
		{"Memory", cfg.Memory},
		{"Verifiers", int64(cfg.Verifiers)},
		{"Limits.Cohorts", int64(l.Cohorts)},
		{"Limits.OpenedPerPeer", int64(l.OpenedPerPeer)},
		{"Limits.StreamsPerPeer", int64(l.StreamsPerPeer)},
		{"Limits.QueueFrames", int64(l.QueueFrames)},
		{"Limits.QueueBytes", l.QueueBytes},
		{"Limits.ControlFrames", int64(l.ControlFrames)},
		{"Limits.Publishing", int64(l.Publishing)},
		{"Waits.Handshake", int64(w.Handshake)},
		{"Waits.Resolve", int64(w.Resolve)},
		{"Waits.Dial", int64(w.Dial)},
		{"Waits.Ack", int64(w.Ack)},
		{"Waits.Recover", int64(w.Recover)},
		{"Retain.Size", cfg.Retain.Size},
		{"Retain.Age", int64(cfg.Retain.Age)},
		{"Waits.Refused", int64(w.Refused)},
		{"Waits.Write", int64(w.Write)},
		{"Waits.Ping", int64(w.Ping)},
		{"Waits.Dead", int64(w.Dead)},
		{"Waits.Doubt", int64(w.Doubt)},
		{"Waits.Idle", int64(w.Idle)},
		{"Waits.Block", int64(w.Block)},
	} {
		if b.value < 0 {
			return cfg, fmt.Errorf("node: config %s: %d is negative", b.name, b.value)
		}
	}
	if cfg.Retain.Size > 0 && cfg.DataDir == "" {
		return cfg, fmt.Errorf("node: config Retain.Size: set without DataDir")
	}
	if _, err := retain.NewRing(cfg.Retain.Ring); err != nil {
		return cfg, fmt.Errorf("node: config Retain.Ring: %w", err)
	}
	if cfg.Recovery.Root || cfg.Recovery.Rand != nil {
		return cfg, fmt.Errorf("node: config Recovery: Root and Rand are the node's to set")
	}
	recovery := cfg.Recovery
	recovery.Root = true // which needs no Rand
	if _, err := order.New(recovery); err != nil {
		return cfg, fmt.Errorf("node: config Recovery: %w", err)
	}
	if w.Dead <= w.Ping {
		return cfg, fmt.Errorf("node: config Waits.Dead: %v, not above Waits.Ping %v", w.Dead, w.Ping)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return cfg, nil
}
