package lane

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"treecast/wire/beef"
)

// Default ports of the doors (PROTOCOL §7 Ingress doors).
const (
	DefaultTCPPort    = 8725 // records or object frames, by their first bytes; UDP too
	DefaultRecordPort = 8728 // records alone
)

// IngressConfig is what an Ingress is made of. Zero fields take their default.
type IngressConfig struct {
	// Publishers publish in the cohorts of the groups that this ingress serves, by
	// group index (PROTOCOL §7); at least one. Objects whose first topic belongs to
	// another group are rejected. The ingress does not close them.
	Publishers map[uint32]Publisher
	// ShardBits is how many leading bits of a TopicID choose its group, 0..15; at 0
	// the one group is beef.BaseGroup.
	ShardBits int
	// Doors are the raw ports where publishers send, HTTP the door that Handler
	// serves; at least one of either.
	Doors []Door
	HTTP  *HTTPDoor
	// Overlay is the node's overlay address, of which the sender address is made
	// where none is configured (PROTOCOL §7 Carriage).
	Overlay [32]byte
	// Sender is the IPv6 address that, with the group, names this ingress's flow;
	// the zero Addr = fd00::/8 and the first 15 bytes of Overlay.
	Sender netip.Addr
	// MaxObject bounds an object in bytes; 0 = beef.DefaultMaxObject.
	MaxObject int
	// Limits bound what publishers can make the node do.
	Limits IngressLimits
	// Log takes the ingress's log; nil discards it.
	Log *slog.Logger
}

// IngressLimits bounds what publishers can make the node hold and do. Zero is the
// default in brackets; negative takes the limit off where the field says so.
type IngressLimits struct {
	Objects     float64 // objects a second of one source at one door [100; negative: no limit]
	Bytes       float64 // bytes a second of one source at one door [4 MiB; negative: no limit]
	NodeObjects float64 // objects a second of the whole ingress [1000; negative: no limit]

	Conns        int   // connections and requests of the whole ingress [256]
	SourceConns  int   // connections of one source at one door [64]
	LargeObjects int   // objects over 64 KiB that are being received at once [8]
	Backlog      int64 // bytes of chunks taken and not settled [32 MiB]

	Window    int           // submissions remembered against duplicates [2^20; negative: none]
	WindowAge time.Duration // for how long [10 min; negative: none]

	Idle  time.Duration // between two objects on one connection [10 min; negative: for ever]
	Stall time.Duration // what a started object may be late beyond 16 KiB/s [30 s]

	// What an HTTP request waits: for one of LargeObjects, and for the number of its
	// object or, with ?wait=1, for the object to come back down.
	LargeWait time.Duration // [5 s]
	Confirm   time.Duration // [1 min]
}

// withDefaults checks cfg and fills in what is zero.
func (cfg IngressConfig) withDefaults() (IngressConfig, error) {
	if len(cfg.Publishers) == 0 {
		return cfg, errors.New("lane: ingress config Publishers: none")
	}
	if len(cfg.Doors) == 0 && cfg.HTTP == nil {
		return cfg, errors.New("lane: ingress config Doors: none")
	}
	if cfg.HTTP != nil {
		if err := cfg.HTTP.check(); err != nil {
			return cfg, err
		}
	}
	if cfg.Sender.IsValid() && (!cfg.Sender.Is6() || cfg.Sender.Zone() != "") {
		return cfg, fmt.Errorf("lane: ingress config Sender: %s, want an IPv6 address without zone", cfg.Sender)
	}
	if cfg.ShardBits < 0 || cfg.ShardBits > beef.MaxShardBits {
		return cfg, fmt.Errorf("lane: ingress config ShardBits: %d, want 0..%d", cfg.ShardBits, beef.MaxShardBits)
	}
	last := beef.BaseGroup + 1<<cfg.ShardBits - 1
	for group, p := range cfg.Publishers {
		if p == nil || group < beef.BaseGroup || group > last {
			return cfg, fmt.Errorf("lane: ingress config Publishers: group %#x, want %#x..%#x and a publisher", group, beef.BaseGroup, last)
		}
	}
	orDefault(&cfg.MaxObject, beef.DefaultMaxObject)
	var err error
	if cfg.Limits, err = cfg.Limits.withDefaults(); err != nil {
		return cfg, err
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return cfg, nil
}

func (l IngressLimits) withDefaults() (IngressLimits, error) {
	orDefault(&l.Objects, 100)
	orDefault(&l.Bytes, 4<<20)
	orDefault(&l.NodeObjects, 1000)
	orDefault(&l.Conns, 256)
	orDefault(&l.SourceConns, 64)
	orDefault(&l.LargeObjects, 8)
	orDefault(&l.Backlog, 32<<20)
	orDefault(&l.Window, 1<<20)
	orDefault(&l.WindowAge, 10*time.Minute)
	orDefault(&l.Idle, 10*time.Minute)
	orDefault(&l.Stall, 30*time.Second)
	orDefault(&l.LargeWait, 5*time.Second)
	orDefault(&l.Confirm, time.Minute)
	for _, bound := range []struct {
		name  string
		value int64
	}{
		{"Conns", int64(l.Conns)},
		{"SourceConns", int64(l.SourceConns)},
		{"LargeObjects", int64(l.LargeObjects)},
		{"Backlog", l.Backlog},
		{"Stall", int64(l.Stall)},
		{"LargeWait", int64(l.LargeWait)},
		{"Confirm", int64(l.Confirm)},
	} {
		if bound.value < 0 {
			return l, fmt.Errorf("lane: ingress config Limits.%s: %d is negative", bound.name, bound.value)
		}
	}
	return l, nil
}

func orDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}
