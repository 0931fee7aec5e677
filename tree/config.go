package tree

import (
	"fmt"
	"math/rand/v2"
	"time"

	"treecast/wire"
)

// Defaults of Config (PROTOCOL §5). Durations are what the section gives.
const (
	DefaultCapacity       = 16
	DefaultBrokerCapacity = 32
	DefaultParents        = 2
	DefaultPendingJoins   = 1024
	DefaultOwners         = 256
	DefaultWindow         = 1 << 16
	DefaultRecent         = 1024
	DefaultPublishing     = 1024
	DefaultPublishRate    = 64 << 20
	MaxBand               = 4096
	MaxEntries            = 64
)

// Config is one node's part in one cohort. The zero value of a field is its
// default; negative is off where that has a meaning.
type Config struct {
	// Self is this node's overlay.
	Self wire.Overlay
	// Topic names the cohort.
	Topic wire.Topic
	// Spec is the cohort's spec: required for a broker; for others, if set, the
	// only spec that is accepted from a parent (PROTOCOL §4 Whose spec).
	Spec *wire.Spec
	// Admin and Publishers, if set, are what a parent's spec must name: the
	// admin, and the whole list in any order.
	Admin      *wire.Owner
	Publishers []wire.Owner
	// Broker says that this node is the root of the cohort.
	Broker bool
	// Brokers are peers that count as the broker although their Ack has no
	// extension fields (PROTOCOL §5 Foreign parents).
	Brokers []wire.Overlay
	// Capacity is the number of child streams: 0 = DefaultCapacity or, for a
	// broker, DefaultBrokerCapacity; negative = never relay; 1 and 2 are refused.
	Capacity int
	// Parents is the number of parents kept: 0 = DefaultParents; 1 or 2.
	Parents int
	// RequireProof answers Subscribes without a proved auth REJECTED in closed cohorts.
	RequireProof bool
	// PendingJoins bounds the Subscribes that wait for a search; 0 = DefaultPendingJoins.
	PendingJoins int
	// ProbeBudget is the number of walkers of a first round; 0 = probe's default.
	ProbeBudget int
	// Owners bounds the owners whose feed indices are tracked; 0 = DefaultOwners.
	Owners int
	// Window is the width in indices, or the number of addresses, of the
	// duplicate window; 0 = DefaultWindow.
	Window int
	// Recent is how many chunks an owner are remembered with their signatures, so
	// that an equivocation can be shown; 0 = DefaultRecent, negative = none.
	Recent int
	// Publishing bounds the own publications without a receipt; 0 = DefaultPublishing.
	Publishing int
	// PublishRate is the bytes per second that the broker admits; 0 =
	// DefaultPublishRate, negative = no limit.
	PublishRate int
	// Rand is the core's chance; required.
	Rand *rand.Rand
	// Timing holds the waits; zero fields are defaults.
	Timing Timing
}

// Timing holds the waits of one cohort; a zero field is the default beside it
// (PROTOCOL §5).
type Timing struct {
	ProbeWait    time.Duration // origin's wait for a search, doubling per empty round [1 s]
	ProbeWaitMax time.Duration // [4 s]
	PlainWait    time.Duration // wait for a foreign child's answer [300 ms]
	Grace        time.Duration // wait after the second candidate [60 ms]
	HealSpread   time.Duration // a node that lost a parent and has another searches after a random part of it [100 ms]
	HealWait     time.Duration // first wait after an empty round at a parent, doubling [500 ms]
	HealWaitMax  time.Duration // [16 s]
	EntryWait    time.Duration // first back-off after an entry point's refusal, doubling, full jitter [1 s]
	EntryWaitMax time.Duration // [30 s]
	SlowBan      time.Duration // how long a slow child is answered FULL, doubling [30 s]
	SlowBanMax   time.Duration // [10 min]
	ReceiptWait  time.Duration // wait for a publication's receipt before it is sent again [5 s]
	Standby      time.Duration // how long a parent may keep back what another brings first; negative: not at all [200 ms]
	Overlap      time.Duration // how long a parent that is no longer wanted goes on feeding [2 s]
}

// check refuses negative waits: none of them can be off, Standby aside.
func (t Timing) check() error {
	for _, w := range []struct {
		name  string
		value time.Duration
	}{
		{"ProbeWait", t.ProbeWait},
		{"ProbeWaitMax", t.ProbeWaitMax},
		{"PlainWait", t.PlainWait},
		{"Grace", t.Grace},
		{"HealSpread", t.HealSpread},
		{"HealWait", t.HealWait},
		{"HealWaitMax", t.HealWaitMax},
		{"EntryWait", t.EntryWait},
		{"EntryWaitMax", t.EntryWaitMax},
		{"SlowBan", t.SlowBan},
		{"SlowBanMax", t.SlowBanMax},
		{"ReceiptWait", t.ReceiptWait},
		{"Overlap", t.Overlap},
	} {
		if w.value < 0 {
			return fmt.Errorf("tree: config Timing.%s: %v is negative", w.name, w.value)
		}
	}
	return nil
}

func orDefault[T int | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}

func (t Timing) withDefaults() Timing {
	orDefault(&t.ProbeWait, time.Second)
	orDefault(&t.ProbeWaitMax, 4*time.Second)
	orDefault(&t.PlainWait, 300*time.Millisecond)
	orDefault(&t.Grace, 60*time.Millisecond)
	orDefault(&t.HealSpread, 100*time.Millisecond)
	orDefault(&t.HealWait, 500*time.Millisecond)
	orDefault(&t.HealWaitMax, 16*time.Second)
	orDefault(&t.EntryWait, time.Second)
	orDefault(&t.EntryWaitMax, 30*time.Second)
	orDefault(&t.SlowBan, 30*time.Second)
	orDefault(&t.SlowBanMax, 10*time.Minute)
	orDefault(&t.ReceiptWait, 5*time.Second)
	orDefault(&t.Standby, 200*time.Millisecond)
	orDefault(&t.Overlap, 2*time.Second)
	return t
}

// withDefaults checks cfg and fills in what is zero.
func (cfg Config) withDefaults() (Config, error) {
	if cfg.Rand == nil {
		return cfg, fmt.Errorf("tree: config Rand: nil")
	}
	if cfg.Spec != nil {
		if err := ValidateSpec(cfg.Spec); err != nil {
			return cfg, fmt.Errorf("tree: config Spec: %w", err)
		}
		if cfg.Spec.Topic != cfg.Topic {
			return cfg, fmt.Errorf("tree: config Spec: topic %v, cohort %v", cfg.Spec.Topic, cfg.Topic)
		}
	}
	if cfg.Broker && cfg.Spec == nil {
		return cfg, fmt.Errorf("tree: config Spec: a broker needs one")
	}
	switch {
	case cfg.Capacity == 1 || cfg.Capacity == 2:
		return cfg, fmt.Errorf("tree: config Capacity: %d, want none (negative) or at least 3", cfg.Capacity)
	case cfg.Capacity < 0:
		cfg.Capacity = -1
	case cfg.Capacity == 0 && cfg.Broker:
		cfg.Capacity = DefaultBrokerCapacity
	case cfg.Capacity == 0:
		cfg.Capacity = DefaultCapacity
	}
	if cfg.Broker && cfg.Capacity < 0 {
		return cfg, fmt.Errorf("tree: config Capacity: none, but a broker must relay")
	}
	orDefault(&cfg.Parents, DefaultParents)
	if cfg.Parents != 1 && cfg.Parents != 2 {
		return cfg, fmt.Errorf("tree: config Parents: %d, want 1 or 2", cfg.Parents)
	}
	orDefault(&cfg.PendingJoins, DefaultPendingJoins)
	orDefault(&cfg.Owners, DefaultOwners)
	orDefault(&cfg.Window, DefaultWindow)
	orDefault(&cfg.Recent, DefaultRecent)
	orDefault(&cfg.Publishing, DefaultPublishing)
	orDefault(&cfg.PublishRate, DefaultPublishRate)
	for _, b := range []struct {
		name  string
		value int
	}{{"PendingJoins", cfg.PendingJoins}, {"ProbeBudget", cfg.ProbeBudget}, {"Owners", cfg.Owners}, {"Window", cfg.Window}, {"Publishing", cfg.Publishing}} {
		if b.value < 0 {
			return cfg, fmt.Errorf("tree: config %s: %d is negative", b.name, b.value)
		}
	}
	if cfg.Window%64 != 0 {
		return cfg, fmt.Errorf("tree: config Window: %d is no multiple of 64", cfg.Window)
	}
	if err := cfg.Timing.check(); err != nil {
		return cfg, err
	}
	cfg.Timing = cfg.Timing.withDefaults()
	return cfg, nil
}
