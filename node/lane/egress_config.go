package lane

import (
	"fmt"
	"log/slog"
	"time"

	"treecast/node/follow"
	"treecast/wire/beef"
)

// DefaultEgressPort is where consumers connect (PROTOCOL §7 Egress lanes).
const DefaultEgressPort = 8729

// EgressConfig is what an Egress is made of. Zero fields take their default.
type EgressConfig struct {
	// Dial are the consumers that the edge connects to; names are distinct.
	Dial []DialConfig
	// Listen is where consumers connect: host:port, or host alone with
	// DefaultEgressPort; empty = nowhere.
	Listen string
	// ShardBits is how many leading bits of a TopicID choose its group, 0..15; it
	// says what Groups answers.
	ShardBits int
	// Follow gives the objects of consumers with a name to go on under, dialled ones
	// included, out of what the node retains. nil: the node keeps no retention; dialled
	// consumers then have a queue as all others.
	Follow *follow.Hub
	// MaxObject bounds an object in bytes; 0 = beef.DefaultMaxObject. Longer ones
	// are not put together.
	MaxObject int
	// Limits bound what the cohort and the consumers can make the node hold.
	Limits EgressLimits
	// Log takes the egress's log; nil discards it.
	Log *slog.Logger
}

// EgressLimits bounds what the cohort and the consumers can make the node hold.
// Zero is the default in brackets; negative takes the limit off where the field
// says so.
type EgressLimits struct {
	Consumers int   // consumers that connected, dialled ones not counted [256]
	Queue     int64 // bytes that wait for one consumer; at least one object [64 MiB]

	Delivered    int           // deliveries remembered against repetition, for all consumers [2^20; negative: none]
	DeliveredAge time.Duration // for how long [10 min; negative: none]

	Slots int           // objects being put together [4096]
	Bytes int64         // bytes of them [256 MiB]
	Age   time.Duration // since an object's last new fragment [30 s]

	Election time.Duration // for a consumer's election line [10 s]
	Dial     time.Duration // for one dial [10 s]
	Backoff  time.Duration // before the second dial, doubling, jittered [250 ms]
	MaxWait  time.Duration // between two dials at most [30 s]
	Write    time.Duration // for a consumer to take the next 256 KiB [2 min]
	Flush    time.Duration // what Close gives connected consumers to take what waits for them [1 s; negative: nothing]
}

// withDefaults checks cfg and fills in what is zero.
func (cfg EgressConfig) withDefaults() (EgressConfig, error) {
	orDefault(&cfg.MaxObject, beef.DefaultMaxObject)
	if cfg.ShardBits < 0 || cfg.ShardBits > beef.MaxShardBits {
		return cfg, fmt.Errorf("lane: egress config ShardBits: %d, want 0..%d", cfg.ShardBits, beef.MaxShardBits)
	}
	var err error
	if cfg.Limits, err = cfg.Limits.withDefaults(); err != nil {
		return cfg, err
	}
	if most := int64(cfg.MaxObject) + beef.MaxEnvelope + beef.HeaderSize; cfg.Limits.Queue < most {
		return cfg, fmt.Errorf("lane: egress config Limits.Queue: %d, want at least the largest record, %d", cfg.Limits.Queue, most)
	}
	names := make(map[string]bool)
	for i := range cfg.Dial {
		d := &cfg.Dial[i]
		if err := d.check(); err != nil {
			return cfg, fmt.Errorf("lane: egress config Dial: %w", err)
		}
		if names[d.Name] {
			return cfg, fmt.Errorf("lane: egress config Dial: name %q twice", d.Name)
		}
		names[d.Name] = true
	}
	if cfg.Listen != "" {
		cfg.Listen = withPort(cfg.Listen, DefaultEgressPort)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return cfg, nil
}

func (l EgressLimits) withDefaults() (EgressLimits, error) {
	orDefault(&l.Consumers, 256)
	orDefault(&l.Queue, 64<<20)
	orDefault(&l.Delivered, 1<<20)
	orDefault(&l.DeliveredAge, 10*time.Minute)
	orDefault(&l.Slots, beef.DefaultSlots)
	orDefault(&l.Bytes, beef.DefaultReassemblyBytes)
	orDefault(&l.Age, beef.DefaultReassemblyAge)
	orDefault(&l.Election, 10*time.Second)
	orDefault(&l.Dial, 10*time.Second)
	orDefault(&l.Backoff, 250*time.Millisecond)
	orDefault(&l.MaxWait, 30*time.Second)
	orDefault(&l.Write, 2*time.Minute)
	orDefault(&l.Flush, time.Second)
	for _, bound := range []struct {
		name  string
		value int64
	}{
		{"Consumers", int64(l.Consumers)},
		{"Queue", l.Queue},
		{"Slots", int64(l.Slots)},
		{"Bytes", l.Bytes},
		{"Age", int64(l.Age)},
		{"Election", int64(l.Election)},
		{"Dial", int64(l.Dial)},
		{"Backoff", int64(l.Backoff)},
		{"MaxWait", int64(l.MaxWait)},
		{"Write", int64(l.Write)},
	} {
		if bound.value < 0 {
			return l, fmt.Errorf("lane: egress config Limits.%s: %d is negative", bound.name, bound.value)
		}
	}
	return l, nil
}
