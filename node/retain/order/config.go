package order

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Defaults of Config (PROTOCOL §8).
const (
	DefaultOwners    = 256
	DefaultWait      = 250 * time.Millisecond
	DefaultEntryWait = 2 * time.Second
	DefaultTries     = 3
	DefaultHold      = 2 * time.Second
	DefaultHoldBytes = 16 << 20
	DefaultWidth     = 1 << 15
	DefaultGaps      = 256
)

// Config is how one node's part in one cohort recovers and hands over. A zero
// field is the default beside it; negative ones are refused.
type Config struct {
	// Root says that there is nobody to ask: this node is the broker.
	Root bool
	// Owners bounds the feeds that are put in order; chunks of further owners
	// are handed over as they come [256].
	Owners int
	// Wait is how long a gap is left to the other parent [250 ms]. A node with
	// one parent asks at once.
	Wait time.Duration
	// EntryWait, and up to as much again by chance, passes before an entry point
	// is asked [2 s]. It is also the wait between rounds over the same parents.
	EntryWait time.Duration
	// Tries is how often a chunk is asked for [3].
	Tries int
	// Hold is how long a chunk waits for those below it at most [2 s], and
	// HoldBytes what all that wait may have together [16 MiB].
	Hold      time.Duration
	HoldBytes int
	// Width is how far below the newest index a gap is asked for; what lies
	// deeper is reported at once. It fits the duplicate window of package tree,
	// which takes older ones for delivered [32,768].
	Width int
	// Gaps bounds the gaps that a feed has open; of more the lowest is given up [256].
	Gaps int
	// Rand is the jitter's chance; required unless Root.
	Rand *rand.Rand
}

func (cfg Config) withDefaults() (Config, error) {
	if cfg.Rand == nil && !cfg.Root {
		return cfg, fmt.Errorf("order: config Rand: nil")
	}
	for _, v := range []struct {
		name     string
		value    *int
		standard int
	}{
		{"Owners", &cfg.Owners, DefaultOwners},
		{"Tries", &cfg.Tries, DefaultTries},
		{"HoldBytes", &cfg.HoldBytes, DefaultHoldBytes},
		{"Width", &cfg.Width, DefaultWidth},
		{"Gaps", &cfg.Gaps, DefaultGaps},
	} {
		if *v.value < 0 {
			return cfg, fmt.Errorf("order: config %s: %d is negative", v.name, *v.value)
		}
		if *v.value == 0 {
			*v.value = v.standard
		}
	}
	for _, v := range []struct {
		name     string
		value    *time.Duration
		standard time.Duration
	}{
		{"Wait", &cfg.Wait, DefaultWait},
		{"EntryWait", &cfg.EntryWait, DefaultEntryWait},
		{"Hold", &cfg.Hold, DefaultHold},
	} {
		if *v.value < 0 {
			return cfg, fmt.Errorf("order: config %s: %v is negative", v.name, *v.value)
		}
		if *v.value == 0 {
			*v.value = v.standard
		}
	}
	return cfg, nil
}
