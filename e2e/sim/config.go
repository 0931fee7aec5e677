package sim

import (
	"fmt"
	"io"
	"time"
)

// Rules say whose rules the nodes follow.
type Rules string

// The rules.
const (
	RulesOurs  Rules = "ours"  // the real tree and probe
	RulesPlain Rules = "plain" // SWIP-61 without what PROTOCOL §5 adds to it: ranks, walkers, displacement
)

// Entry says where a newcomer asks first.
type Entry string

// The entry points.
const (
	EntryBroker Entry = "broker"
	EntryRandom Entry = "random" // three attached nodes by chance, then the broker; found anew when they fail
)

// Defaults of Config.
const (
	DefaultNodes     = 1000
	DefaultCapacity  = 16
	DefaultRTTMedian = 40 * time.Millisecond
	DefaultRTTSigma  = 0.4
	DefaultSilent    = 0.2
	DefaultArrivals  = 4.0
	DefaultFrames    = 2_000_000_000
	DefaultPlain     = 5_000_000 // under RulesPlain, for many nodes
	plainFrames      = 20_000    // under RulesPlain, a node
	// MaxNodes bounds all nodes of a run together, those that failed included.
	MaxNodes = 1 << 24
)

// Config is one run. The zero value of a field is its default. The order of a
// run is: build up, storm, churn, turnover, leaves, burst, partition, mix; each
// part ends at a rest point.
type Config struct {
	// Nodes are those that join before anything else happens, the broker aside;
	// 0 = DefaultNodes.
	Nodes int
	// Capacity is the number of child slots of the broker and of every node that
	// relays; 0 = DefaultCapacity. BrokerCapacity, if set, is the broker's own.
	Capacity, BrokerCapacity int
	// Budget is the number of walkers of a first round; 0 = probe's default.
	Budget int
	// Relays is the share of the nodes that relay; 0 = 1, negative = none.
	Relays float64
	// Foreign is the share of foreign nodes, half of them plain SWIP-61 relays
	// and half SWIP-60 leaves.
	Foreign float64
	// Leaves60 is a number of SWIP-60 leaves that join before all others.
	Leaves60 int
	// Liars is the share of nodes that lie, each in one of the ways of liar.go.
	Liars float64
	// Churn is the share of the nodes that fail one by one, each healed before the next.
	Churn float64
	// Turnover times the nodes is the number of failures that come together with a join.
	Turnover float64
	// Leave is the share of the nodes that leave gracefully one by one.
	Leave float64
	// Burst is the share of the nodes that fail at one and the same time.
	Burst float64
	// Mix is a number of faults that overlap: joins, deaths, leaves, publications.
	Mix int
	// Storm is a number of nodes that join within StormSpan, after the build-up.
	Storm int
	// Partition is the share of the nodes that is cut off from the rest for
	// PartitionFor [30 s].
	Partition    float64
	PartitionFor time.Duration
	// Entry and Rules: empty = EntryBroker, RulesOurs.
	Entry Entry
	Rules Rules
	// RTTMedian and RTTSigma shape the lognormal round trip of a pair of nodes;
	// 0 = DefaultRTTMedian and DefaultRTTSigma, negative sigma = none.
	RTTMedian time.Duration
	RTTSigma  float64
	// Jitter adds up to this share of the link's latency to each frame; frames of
	// one stream stay in order.
	Jitter float64
	// Silent is the share of deaths that nobody is told of: they are noticed by
	// liveness alone (PROTOCOL §5 Death); 0 = DefaultSilent, negative = none.
	Silent float64
	// Arrivals is the number of joins per median round trip that the build-up
	// reaches; 0 = DefaultArrivals. It begins slower, while the tree is small.
	Arrivals float64
	// Frames bounds the frames of the run, so that probes that never end do end
	// it; 0 = DefaultFrames, under RulesPlain 20,000 a node, DefaultPlain at most.
	Frames int
	// Seed is all chance there is.
	Seed uint64
	// Trace, if set, gets one line for each event.
	Trace io.Writer
	// Stop, if set, is asked now and then whether the run is to end here.
	Stop func() bool
	// Progress, if set, is called now and then.
	Progress func(Progress)
}

// StormSpan is the time within which a storm's nodes join.
const StormSpan = 100 * time.Millisecond

// Progress is how far a run has come.
type Progress struct {
	Part        string // build, storm, churn, turnover, leave, burst, partition, mix
	Done, Total int
	Elapsed     time.Duration // simulated
	Live        int
	Frames      int
}

func (c Config) withDefaults() (Config, error) {
	if c.Nodes == 0 {
		c.Nodes = DefaultNodes
	}
	if c.Capacity == 0 {
		c.Capacity = DefaultCapacity
	}
	if c.BrokerCapacity == 0 {
		c.BrokerCapacity = c.Capacity
	}
	if c.Relays == 0 {
		c.Relays = 1
	}
	if c.Entry == "" {
		c.Entry = EntryBroker
	}
	if c.Rules == "" {
		c.Rules = RulesOurs
	}
	if c.RTTMedian == 0 {
		c.RTTMedian = DefaultRTTMedian
	}
	if c.RTTSigma == 0 {
		c.RTTSigma = DefaultRTTSigma
	}
	if c.Silent == 0 {
		c.Silent = DefaultSilent
	}
	if c.Arrivals == 0 {
		c.Arrivals = DefaultArrivals
	}
	if c.PartitionFor == 0 {
		c.PartitionFor = 30 * time.Second
	}
	if c.Frames == 0 {
		c.Frames = DefaultFrames
		if c.Rules == RulesPlain {
			c.Frames = min(DefaultPlain, plainFrames*c.Nodes)
		}
	}
	c.Relays, c.RTTSigma, c.Silent = max(c.Relays, 0), max(c.RTTSigma, 0), max(c.Silent, 0)
	return c, c.check()
}

// check names the first field whose value makes no run.
func (c *Config) check() error {
	for _, f := range []struct {
		name  string
		value float64
		most  float64
	}{
		{"Relays", c.Relays, 1},
		{"Foreign", c.Foreign, 1},
		{"Liars", c.Liars, 1},
		{"Churn", c.Churn, 0.99},
		{"Leave", c.Leave, 0.99},
		{"Burst", c.Burst, 0.99},
		{"Partition", c.Partition, 0.99},
		{"Silent", c.Silent, 1},
		{"Turnover", c.Turnover, 1000},
		{"RTTSigma", c.RTTSigma, 3},
		{"Jitter", c.Jitter, 10},
		{"Arrivals", c.Arrivals, 1e6},
	} {
		if !(f.value >= 0 && f.value <= f.most) {
			return fmt.Errorf("sim: config %s: %v, want 0 to %v", f.name, f.value, f.most)
		}
	}
	all := float64(c.Nodes)*(1+c.Turnover) + float64(c.Storm) + float64(c.Leaves60) + float64(c.Mix)
	switch {
	case c.Nodes < 1 || c.Storm < 0 || c.Mix < 0 || c.Leaves60 < 0 || all > MaxNodes:
		return fmt.Errorf("sim: config Nodes: %d with a storm of %d and turnover, want 1 to %d", c.Nodes, c.Storm, MaxNodes)
	case c.Rules == RulesOurs && c.Capacity < 3, c.Capacity < 1, c.Capacity > 1024:
		return fmt.Errorf("sim: config Capacity: %d, want 3 to 1024, or 1 to 1024 for plain rules", c.Capacity)
	case c.Rules == RulesOurs && c.BrokerCapacity < 3, c.BrokerCapacity < 1, c.BrokerCapacity > 1<<16:
		return fmt.Errorf("sim: config BrokerCapacity: %d, want 3 to %d, or 1 and more for plain rules", c.BrokerCapacity, 1<<16)
	case c.Budget < 0 || c.Budget > 64:
		return fmt.Errorf("sim: config Budget: %d, want 0 to 64", c.Budget)
	case c.Entry != EntryBroker && c.Entry != EntryRandom:
		return fmt.Errorf("sim: config Entry: %q, want %q or %q", c.Entry, EntryBroker, EntryRandom)
	case c.Rules != RulesOurs && c.Rules != RulesPlain:
		return fmt.Errorf("sim: config Rules: %q, want %q or %q", c.Rules, RulesOurs, RulesPlain)
	case c.RTTMedian < time.Microsecond || c.RTTMedian > maxRTT:
		return fmt.Errorf("sim: config RTTMedian: %v, want 1µs to %v", c.RTTMedian, maxRTT)
	case c.PartitionFor < 0 || c.PartitionFor > time.Hour:
		return fmt.Errorf("sim: config PartitionFor: %v, want up to 1h", c.PartitionFor)
	case c.Frames < 0:
		return fmt.Errorf("sim: config Frames: %d is negative", c.Frames)
	case c.Arrivals == 0:
		return fmt.Errorf("sim: config Arrivals: 0")
	}
	return nil
}

// Check says what makes c no run, without running it.
func (c Config) Check() error {
	_, err := c.withDefaults()
	return err
}
