package sim_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"treecast/e2e/sim"
)

// TestTinyCohorts draws tiny cohorts with few slots and lets joins, deaths and
// leaves overlap, with delays from links of very different length and with jitter.
func TestTinyCohorts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := sim.Config{
			Seed:      rapid.Uint64().Draw(t, "seed"),
			Nodes:     rapid.IntRange(3, 40).Draw(t, "nodes"),
			Capacity:  rapid.IntRange(3, 6).Draw(t, "capacity"),
			Mix:       rapid.IntRange(1, 60).Draw(t, "mix"),
			Jitter:    rapid.SampledFrom([]float64{0, 1, 4}).Draw(t, "jitter"),
			RTTSigma:  rapid.SampledFrom([]float64{-1, 0.4, 1.5}).Draw(t, "sigma"),
			Silent:    rapid.SampledFrom([]float64{-1, 0.5}).Draw(t, "silent"),
			Arrivals:  rapid.SampledFrom([]float64{1, 4, 100}).Draw(t, "arrivals"),
			RTTMedian: time.Duration(rapid.IntRange(1, 400).Draw(t, "rtt")) * time.Millisecond,
		}
		r, err := sim.Run(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if r.InvariantViolations != 0 || r.Cycles != 0 || r.Missing != 0 || r.DuplicatesSurfaced != 0 {
			t.Fatalf("%d violations %q, %d cycles, %d missing, %d surfaced twice",
				r.InvariantViolations, r.Detail.Violations, r.Cycles, r.Missing, r.DuplicatesSurfaced)
		}
	})
}

// TestOutOfReach: a Subscribe to the broker takes longer than its Ack may. Who cannot
// get in goes on trying, and that is no fault of a cohort at rest.
func TestOutOfReach(t *testing.T) {
	r, err := sim.Run(sim.Config{
		Seed: 0x4dfb, Nodes: 20, Capacity: 4, Mix: 60, Jitter: 4, RTTSigma: 1.5, Silent: 0.5, Arrivals: 1,
		RTTMedian: 256 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.InvariantViolations != 0 || r.Islands == 0 {
		t.Errorf("%d violations %q, %d islands", r.InvariantViolations, r.Detail.Violations, r.Islands)
	}
}
