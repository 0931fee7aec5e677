package tree_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"treecast/tree"
)

// TestHealSpread has many children lose the same parent at the same moment. Those
// with another one search after a time within the spread, evenly over all of it,
// and a loss after the loss postpones nothing.
func TestHealSpread(t *testing.T) {
	for _, spread := range []time.Duration{0, 30 * time.Millisecond, time.Nanosecond} {
		most := spread
		if spread == 0 {
			most = 100 * time.Millisecond
		}
		var tenths [10]int
		for seed := range uint64(1000) {
			s := spreadScript(t, seed, spread)
			do(t, s, "ended s1 reset")
			wait := s.core.Deadline().Sub(s.now)
			if wait <= 0 || wait > most {
				t.Fatalf("seed %d, spread %v: the search begins after %v", seed, most, wait)
			}
			tenths[(wait-1)*10/most]++
			s.now = s.now.Add(wait - 1)
			do(t, s, "tick")
			if dials := strings.Count(s.text.String(), "  dial "); dials != 0 && wait > 1 {
				t.Fatalf("seed %d: it has begun already: %s", seed, s.text)
			}
			do(t, s, "tick 1ns")
			if dials := strings.Count(s.text.String(), "  dial "); dials != 1 {
				t.Fatalf("seed %d: %d dials when the wait was over", seed, dials)
			}
		}
		if spread == time.Nanosecond {
			continue
		}
		for i, n := range tenths {
			if n < 50 || n > 150 {
				t.Errorf("spread %v: %d of 1000 begin in tenth %d: %v", most, n, i, tenths)
			}
		}
	}
}

// TestHealSpreadLast has the other parent end at any moment of the wait: no node
// without a parent waits.
func TestHealSpreadLast(t *testing.T) {
	for seed := range uint64(200) {
		s := spreadScript(t, seed, 0)
		do(t, s, "ended s1 reset")
		wait := s.core.Deadline().Sub(s.now)
		s.now = s.now.Add(time.Duration(rand.New(rand.NewPCG(seed, 2)).Int64N(int64(wait))))
		do(t, s, "ended s2 reset")
		if !strings.HasSuffix(s.text.String(), "report detached B parents=0\n  dial d4 E band=0 relays childless entry\n") {
			t.Fatalf("seed %d: %s", seed, s.text)
		}
		if at := s.core.Deadline(); !at.IsZero() {
			t.Fatalf("seed %d: a search is planned beside the one under way", seed)
		}
	}
}

// spreadScript is a node with the parents A and B.
func spreadScript(t *testing.T, seed uint64, spread time.Duration) *script {
	t.Helper()
	cfg, spec, err := parseConfig([]string{"capacity=4"})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Rand = rand.New(rand.NewPCG(seed, 1))
	cfg.Timing = tree.Timing{HealSpread: spread}
	s, err := scriptOf(&strings.Builder{}, cfg, spec)
	if err != nil {
		t.Fatal(err)
	}
	do(t, s, "place s1=A:2 s2=B:2")
	return s
}

// do runs one line of a script.
func do(t *testing.T, s *script, line string) {
	t.Helper()
	if err := s.run(strings.Fields(line)); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
}
