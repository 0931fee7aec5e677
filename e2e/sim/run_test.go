package sim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"treecast/e2e/sim"
)

// run plays cfg, and wants what holds in every run, whatever fails in it: no
// invariant broken, no ring among our nodes, no chunk lost that had a way, none
// delivered twice.
func run(t *testing.T, cfg sim.Config) sim.Result {
	t.Helper()
	r, err := sim.Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r.InvariantViolations != 0 || r.Cycles != 0 || r.Missing != 0 || r.DuplicatesSurfaced != 0 || r.Detail.Truncated {
		t.Errorf("seed %d: %d violations %q, %d cycles, %d missing, %d surfaced twice, truncated %v", cfg.Seed,
			r.InvariantViolations, r.Detail.Violations, r.Cycles, r.Missing, r.DuplicatesSurfaced, r.Detail.Truncated)
	}
	return r
}

// TestBuildUp holds the build-up against the figures that the project promises.
func TestBuildUp(t *testing.T) {
	for _, n := range []int{30, 300, 3000} {
		r := run(t, sim.Config{Nodes: n, Seed: 1})
		if r.Joins != n || r.Islands != 0 || r.Dominated != 0 || r.DualParentedShare != 1 {
			t.Errorf("%d nodes: %+v", n, r)
		}
		if r.Depth.Mean > 1.05*r.Depth.Ideal || r.FramesPerJoin > 20 || r.FramesMaxNode > 4 || r.SubscribesPerJoin > 4 {
			t.Errorf("%d nodes: depth %v, %.1f frames a join, %d at one node, %.1f subscribes", n, r.Depth, r.FramesPerJoin, r.FramesMaxNode, r.SubscribesPerJoin)
		}
		if r.JoinRTT.P50 < 3 || r.JoinRTT.P50 > 20 {
			t.Errorf("%d nodes: %v round trips a join", n, r.JoinRTT)
		}
	}
}

// TestFaults plays each kind of fault by itself.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  sim.Config
		gone int
	}{
		{"churn", sim.Config{Nodes: 200, Churn: 0.4}, 80},
		{"silent churn", sim.Config{Nodes: 100, Churn: 0.3, Silent: 1}, 30},
		{"turnover", sim.Config{Nodes: 100, Turnover: 1}, 100},
		{"leave", sim.Config{Nodes: 200, Leave: 0.3}, 60},
		{"burst", sim.Config{Nodes: 300, Burst: 0.5}, 150},
		{"storm", sim.Config{Nodes: 200, Storm: 200}, 0},
		{"short partition", sim.Config{Nodes: 150, Partition: 0.3, PartitionFor: 4 * time.Second}, 0},
		{"long partition", sim.Config{Nodes: 150, Partition: 0.3}, 0},
		{"any entry", sim.Config{Nodes: 200, Entry: sim.EntryRandom, Churn: 0.2}, 40},
		{"half relay", sim.Config{Nodes: 200, Relays: 0.5, Churn: 0.1}, 20},
		{"jitter", sim.Config{Nodes: 100, Jitter: 2, Churn: 0.2}, 20},
		{"slow links", sim.Config{Nodes: 100, RTTMedian: 250 * time.Millisecond, RTTSigma: 0.8, Churn: 0.2}, 20},
		{"one budget", sim.Config{Nodes: 200, Budget: 1, Churn: 0.1}, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cfg.Seed = 1
			r := run(t, c.cfg)
			if r.Failures+r.Leaves != c.gone {
				t.Errorf("%d failures, %d leaves, want %d", r.Failures, r.Leaves, c.gone)
			}
			if c.gone > 0 && r.Published == 0 {
				t.Error("nothing was published")
			}
			if r.Failures > 0 && r.HealRTT.P50 == 0 {
				t.Error("nobody healed")
			}
		})
	}
}

// TestBereftFirst kills many nodes at one moment where round trips are short beside
// the wait of those that still have a parent: who has none left is fed again before
// most of the others search at all.
func TestBereftFirst(t *testing.T) {
	const seeds = 20
	var darks, dark, heal float64 // medians, in round trips, weighted
	for seed := range uint64(seeds) {
		r := run(t, sim.Config{Nodes: 300, Capacity: 8, Burst: 0.125, RTTMedian: 2 * time.Millisecond, Silent: -1, Seed: seed})
		n := float64(r.Detail.Darks)
		darks, dark, heal = darks+n, dark+n*r.Detail.DarkRTT.P50, heal+r.HealRTT.P50/seeds
		if r.HealFailed != 0 || r.Dominated != 0 || r.Islands != 0 || r.DualParentedShare != 1 {
			t.Errorf("seed %d: %+v", seed, r)
		}
	}
	if dark /= darks; !(dark > 0 && dark < heal/2) { // NaN when nobody lost all
		t.Errorf("%v nodes had no parent for %.1f round trips, all healings took %.1f", darks, dark, heal)
	}
}

// TestSameSeed plays runs twice: the traces are equal, and those of another seed not.
func TestSameSeed(t *testing.T) {
	for _, cfg := range []sim.Config{
		{Nodes: 300, Churn: 0.1, Turnover: 0.1, Leave: 0.05, Burst: 0.2, Storm: 50, Partition: 0.2, Mix: 50},
		{Nodes: 200, Foreign: 0.4, Entry: sim.EntryRandom, Churn: 0.2, Jitter: 1},
		{Nodes: 200, Liars: 0.2, Churn: 0.2},
		{Nodes: 60, Rules: sim.RulesPlain, Capacity: 4, Leave: 0.2},
	} {
		var sums []string
		for _, seed := range []uint64{5, 5, 6} {
			cfg.Seed = seed
			r, err := sim.Run(cfg)
			if err != nil {
				t.Fatal(err)
			}
			r.ElapsedS = 0
			b, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			sums = append(sums, string(b))
		}
		if sums[0] != sums[1] {
			t.Errorf("%+v: the same seed, another result:\n%s\n%s", cfg, sums[0], sums[1])
		}
		if sums[0] == sums[2] {
			t.Errorf("%+v: another seed, the same result", cfg)
		}
	}
}

// TestForeign mixes foreign nodes in. Rings and islands among them are not ours to
// prevent; a chunk that one of them loses is, unless it asked its only parent left
// for another one (PROTOCOL §5 Slots).
func TestForeign(t *testing.T) {
	for seed := range uint64(5) {
		r, err := sim.Run(sim.Config{Nodes: 300, Foreign: 0.3, Churn: 0.2, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if r.InvariantViolations != 0 || r.Cycles != 0 || r.Islands != 0 || r.DuplicatesSurfaced != 0 {
			t.Errorf("seed %d: %+v", seed, r)
		}
	}
}

// TestFullBroker has SWIP-60 leaves come to a small broker before all others: at
// most half of its slots are theirs, and everybody gets in.
func TestFullBroker(t *testing.T) {
	r := run(t, sim.Config{Nodes: 40, Capacity: 16, BrokerCapacity: 4, Leaves60: 3, Seed: 1})
	if r.Joins != 43 || r.Islands+r.Detail.ExemptIslands != 0 || r.Detail.Orphans != 0 {
		t.Errorf("%+v %+v", r, r.Detail)
	}
}

// TestLiars has one node in ten lie. The others' ranks stay in order, and who has a
// way past the liars misses nothing and is given nothing forged.
func TestLiars(t *testing.T) {
	below := 0
	for seed := range uint64(5) {
		below += run(t, sim.Config{Nodes: 200, Liars: 0.1, Churn: 0.1, Seed: seed}).Detail.Exempt
	}
	if below == 0 {
		t.Error("nobody is below a liar")
	}
}

// mixed is the fault mix of a seed: a small cohort and all kinds of faults over
// each other.
func mixed(seed uint64) sim.Config {
	r := rand.New(rand.NewPCG(seed, 7))
	pick := func(list ...float64) float64 { return list[r.IntN(len(list))] }
	cfg := sim.Config{
		Seed: seed, Nodes: 3 + r.IntN(58), Capacity: 3 + r.IntN(6), Mix: 20 + r.IntN(60),
		Relays: pick(1, 1, 0.5), Jitter: pick(0, 0, 1), Silent: pick(-1, 0.2, 1), RTTSigma: pick(0.4, 1),
		RTTMedian: time.Duration(pick(40, 250)) * time.Millisecond, Partition: pick(0, 0, 0.3), Burst: pick(0, 0, 0.3),
		Storm: int(pick(0, 0, 20)), Churn: pick(0, 0.2), PartitionFor: time.Duration(pick(5, 30)) * time.Second,
	}
	if r.IntN(3) == 0 {
		cfg.Entry = sim.EntryRandom
	}
	return cfg
}

// TestMix plays 200 seeds of the fault mix. Play one again with
// `go test ./e2e/sim -run 'TestMix/seed=N'`.
func TestMix(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { run(t, mixed(seed)) })
	}
}

// TestFields holds the JSON form against the contract (CLI `treecast sim --json`).
func TestFields(t *testing.T) {
	b, err := json.Marshal(sim.Result{})
	if err != nil {
		t.Fatal(err)
	}
	var have map[string]any
	if err := json.Unmarshal(b, &have); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, v := range have {
		sub, ok := v.(map[string]any)
		if !ok {
			names = append(names, name)
		}
		for k := range sub {
			names = append(names, name+"."+k)
		}
	}
	slices.Sort(names)
	want := strings.Fields(`cycles depth.ideal depth.max depth.mean dominated dual_parented_share duplicates_surfaced
		elapsed_s failures frames_max_node frames_per_join heal_failed heal_rtt.max heal_rtt.p50 heal_rtt.p95
		invariant_violations islands join_rtt.p50 join_rtt.p95 joins leaves missing nodes published seed
		subscribes_per_join trace_sha256`)
	if !slices.Equal(names, want) {
		t.Errorf("fields %v, want %v", names, want)
	}
}

// TestTrace writes a trace: it has a line for each event, and does not change the run.
func TestTrace(t *testing.T) {
	cfg := sim.Config{Nodes: 50, Churn: 0.2, Seed: 3}
	plain := run(t, cfg)
	var lines bytes.Buffer
	cfg.Trace = &lines
	parts := map[string]int{}
	cfg.Progress = func(p sim.Progress) { parts[p.Part] = p.Done }
	r := run(t, cfg)
	if r.TraceSHA256 != plain.TraceSHA256 {
		t.Error("the trace file changed the trace")
	}
	for _, want := range []string{"\tjoin\n", "\tends\n", "subscribe from=", "ack FULL", "frame probe", "publish chunk=0"} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("no %q in %d bytes of trace", want, lines.Len())
		}
	}
	if parts["build"] != 50 || parts["churn"] != 10 {
		t.Errorf("progress %v", parts)
	}
}
