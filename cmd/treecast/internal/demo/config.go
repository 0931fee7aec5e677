package demo

import (
	"fmt"
	"log/slog"
	"time"

	"treecast/wire/beef"
)

// Config is one demo. Every field is as the flag of its name says; there are no
// hidden defaults.
type Config struct {
	Nodes       int     // of the network: the broker, relays and consumers' leaves
	Capacity    int     // child slots of the broker and of each relay
	Consumers   int     // each behind a leaf that never relays
	Objects     int     // generated ones, if ObjectsDir is empty
	ObjectBytes int     // bytes of a generated object
	ObjectsDir  string  // directory of objects, one a file
	Rate        float64 // objects a second
	Kill        int     // relays to cut off
	Leave       int     // relays that leave gracefully
	Transport   string  // "tcp" or "quic"
	Seed        uint64  // of the generated objects
	Timeout     time.Duration
	Out         string // directory for what the consumers got; empty = not kept
	API         string // address of the broker's API; empty = none

	Log *slog.Logger
	// Progress, if set, is told how far the demo is; it is called by one
	// goroutine at a time.
	Progress func(phase string, done, total int)
	// Ended, if set, gets the complete report while the network still runs; it
	// ends when Ended returns.
	Ended func(*Demo)
}

// minObject leaves room for a marker and for a number that makes every object
// different.
const minObject = 16

// Faults says what is wrong with the configuration, one line each.
func (cfg *Config) Faults() (faults []string) {
	add := func(format string, args ...any) { faults = append(faults, "demo: "+fmt.Sprintf(format, args...)) }
	if cfg.Capacity < 3 {
		add("--capacity %d: want at least 3", cfg.Capacity)
	}
	if cfg.Consumers < 1 {
		add("--consumers %d: want at least 1", cfg.Consumers)
	}
	relays := cfg.Nodes - 1 - cfg.Consumers
	if relays < 0 {
		add("--nodes %d: want at least the broker and %d consumers", cfg.Nodes, cfg.Consumers)
	}
	if cfg.ObjectsDir == "" && cfg.Objects < 1 {
		add("--objects %d: want at least 1", cfg.Objects)
	}
	if cfg.ObjectsDir == "" && (cfg.ObjectBytes < minObject || cfg.ObjectBytes > beef.DefaultMaxObject) {
		add("--object-bytes %d: want %d to %d", cfg.ObjectBytes, minObject, beef.DefaultMaxObject)
	}
	if cfg.Rate <= 0 {
		add("--rate %v: want above 0", cfg.Rate)
	}
	if cfg.Transport != "tcp" && cfg.Transport != "quic" {
		add("--transport %q is neither tcp nor quic", cfg.Transport)
	}
	if cfg.Timeout <= 0 {
		add("--timeout %v: want above 0", cfg.Timeout)
	}
	switch {
	case cfg.Kill < 0:
		add("--kill %d is negative", cfg.Kill)
	case cfg.Leave < 0:
		add("--leave %d is negative", cfg.Leave)
	case len(faults) > 0:
	case cfg.Kill > relays:
		add("--kill %d: there are %d relays", cfg.Kill, relays)
	case cfg.Kill+cfg.Leave > relays:
		add("--kill %d, --leave %d: there are %d relays", cfg.Kill, cfg.Leave, relays)
	case !cfg.fits(relays):
		add("--capacity %d: too few slots for two parents each, among %d nodes after %d are gone",
			cfg.Capacity, cfg.Nodes, cfg.Kill+cfg.Leave)
	}
	return faults
}

// fits says whether all nodes find their parents also after all departures: the
// broker's children need one, others two.
func (cfg *Config) fits(relays int) bool {
	left := relays - cfg.Kill - cfg.Leave
	others := left + cfg.Consumers
	fed := min(others, cfg.Capacity)
	return fed+2*(others-fed) <= cfg.Capacity*(1+left)
}
