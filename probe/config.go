package probe

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Limits of PROTOCOL §5 Walkers; what a peer asks beyond them is dropped.
const (
	MaxBudget   = 64
	MaxHops     = 64
	MaxUpHops   = 8
	MaxDeadline = 4 * time.Second
)

// patientRTTs is the least wait of an origin, in round trips of its slowest link.
const patientRTTs = 12

// Config holds what may be set; a zero field is its default.
type Config struct {
	// Budget is the number of walkers of a first round; it doubles with each
	// empty round up to MaxBudget [4].
	Budget int
	// Wait is an origin's patience in a first round, doubling with each empty
	// round up to WaitMax [1 s, 4 s].
	Wait, WaitMax time.Duration
	// PlainWait is the patience with a foreign child [300 ms].
	PlainWait time.Duration
	// Grace is how long a search goes on after its second candidate [60 ms].
	Grace time.Duration
	// PerStream bounds the searches that one stream may have outstanding here [32].
	PerStream int
	// UpRate bounds the climbing probes per second that one child may send [10].
	UpRate int
	// Origins bounds the searches that this node runs for askers of its own [256].
	Origins int
	// Rand is the core's chance; required.
	Rand *rand.Rand
}

func (c Config) withDefaults() (Config, error) {
	if c.Rand == nil {
		return c, fmt.Errorf("probe: config Rand: nil")
	}
	for _, f := range []struct {
		name string
		v    *int
		d    int
	}{{"Budget", &c.Budget, 4}, {"PerStream", &c.PerStream, 32}, {"UpRate", &c.UpRate, 10}, {"Origins", &c.Origins, 256}} {
		if *f.v == 0 {
			*f.v = f.d
		}
		if *f.v < 0 {
			return c, fmt.Errorf("probe: config %s: %d is negative", f.name, *f.v)
		}
	}
	if c.Budget > MaxBudget {
		return c, fmt.Errorf("probe: config Budget: %d, at most %d", c.Budget, MaxBudget)
	}
	for _, f := range []struct {
		name string
		v    *time.Duration
		d    time.Duration
	}{
		{"Wait", &c.Wait, time.Second}, {"WaitMax", &c.WaitMax, MaxDeadline},
		{"PlainWait", &c.PlainWait, 300 * time.Millisecond}, {"Grace", &c.Grace, 60 * time.Millisecond},
	} {
		if *f.v == 0 {
			*f.v = f.d
		}
		if *f.v < 0 {
			return c, fmt.Errorf("probe: config %s: %v is negative", f.name, *f.v)
		}
	}
	if c.WaitMax > MaxDeadline {
		return c, fmt.Errorf("probe: config WaitMax: %v, at most %v", c.WaitMax, MaxDeadline)
	}
	return c, nil
}

// round is the budget and the patience of an origin's search after empty
// rounds that found nothing.
func (c *Config) round(empty int) (int, time.Duration) {
	shift := min(empty, 16)
	return min(c.Budget<<shift, MaxBudget), min(c.Wait<<shift, c.WaitMax)
}

// patience is wait, or what walkers need on slow links: each hop keeps one and a
// half round trips of the deadline to itself, and a search takes some hops.
func (c *Config) patience(wait time.Duration, links ...[]Link) time.Duration {
	for _, l := range links {
		for i := range l {
			wait = max(wait, patientRTTs*l[i].RTT)
		}
	}
	return min(wait, c.WaitMax)
}
