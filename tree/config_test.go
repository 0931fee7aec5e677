package tree_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"treecast/tree"
	"treecast/wire"
)

// brokerConfig is a complete one.
func brokerConfig() tree.Config {
	a := parseArgs(nil)
	spec := parseSpec(&a)
	return tree.Config{Self: node("N"), Topic: spec.Topic, Spec: spec, Broker: true, Rand: rand.New(rand.NewPCG(1, 2))}
}

// An error names the field and the value.
func TestConfigErrors(t *testing.T) {
	for want, change := range map[string]func(*tree.Config){
		"Rand: nil":                             func(c *tree.Config) { c.Rand = nil },
		"Spec: tree: invalid spec: bind":        func(c *tree.Config) { c.Spec = &wire.Spec{} },
		"Spec: topic ":                          func(c *tree.Config) { c.Topic[0] ^= 1 },
		"Spec: a broker needs one":              func(c *tree.Config) { c.Spec = nil },
		"Capacity: 1, want":                     func(c *tree.Config) { c.Capacity = 1 },
		"Capacity: 2, want":                     func(c *tree.Config) { c.Capacity = 2 },
		"Capacity: none, but a broker":          func(c *tree.Config) { c.Capacity = -1 },
		"Parents: 3, want 1 or 2":               func(c *tree.Config) { c.Parents = 3 },
		"Parents: -1, want 1 or 2":              func(c *tree.Config) { c.Parents = -1 },
		"PendingJoins: -1 is negative":          func(c *tree.Config) { c.PendingJoins = -1 },
		"ProbeBudget: -2 is negative":           func(c *tree.Config) { c.ProbeBudget = -2 },
		"Owners: -3 is negative":                func(c *tree.Config) { c.Owners = -3 },
		"Window: -64 is negative":               func(c *tree.Config) { c.Window = -64 },
		"Window: 100 is no multiple":            func(c *tree.Config) { c.Window = 100 },
		"Publishing: -4 is negative":            func(c *tree.Config) { c.Publishing = -4 },
		"Budget: 65, at most 64":                func(c *tree.Config) { c.ProbeBudget = 65 },
		"WaitMax: 5s, at most 4s":               func(c *tree.Config) { c.Timing.ProbeWaitMax = 5 * time.Second },
		"Timing.HealSpread: -1ns is negative":   func(c *tree.Config) { c.Timing.HealSpread = -1 },
		"Timing.HealWait: -1s is negative":      func(c *tree.Config) { c.Timing.HealWait = -time.Second },
		"Timing.ReceiptWait: -1ns is negative":  func(c *tree.Config) { c.Timing.ReceiptWait = -1 },
		"Timing.EntryWaitMax: -1ns is negative": func(c *tree.Config) { c.Timing.EntryWaitMax = -1 },
	} {
		cfg := brokerConfig()
		change(&cfg)
		if _, err := tree.New(cfg); err == nil || !strings.Contains(err.Error(), "config "+want) {
			t.Errorf("%q: error %v", want, err)
		}
	}
}

// Zero is the default, and New works on a copy.
func TestConfigDefaults(t *testing.T) {
	for _, c := range []struct {
		change func(*tree.Config)
		want   int
	}{
		{func(c *tree.Config) {}, tree.DefaultBrokerCapacity},
		{func(c *tree.Config) { c.Broker = false }, tree.DefaultCapacity},
		{func(c *tree.Config) { c.Broker, c.Capacity = false, -7 }, 0},
		{func(c *tree.Config) { c.Capacity = 3 }, 3},
	} {
		cfg := brokerConfig()
		c.change(&cfg)
		core, err := tree.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := core.View().Capacity; got != c.want {
			t.Errorf("capacity %d, want %d", got, c.want)
		}
		cfg.Spec.Admin[0] ^= 0xff
		if core.View().Spec.Admin[0] == cfg.Spec.Admin[0] {
			t.Error("the core shares its spec with the caller")
		}
		if d := core.Deadline(); !d.IsZero() {
			t.Errorf("a new core wants to be called at %v", d)
		}
	}
}
