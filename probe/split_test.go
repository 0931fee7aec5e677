package probe_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"treecast/probe"
	"treecast/wire"
)

// shares runs one search's start and returns the budget of each link.
func shares(t *testing.T, s *probe.Searches, b *bench, budgetRound int) map[probe.StreamID]wire.Probe {
	t.Helper()
	out, drop := s.Begin(b.now, probe.Origin{Token: 1, Asker: childless, Empty: budgetRound}, b.down, b.up, nil)
	if drop != probe.Kept {
		t.Fatal("dropped")
	}
	got := map[probe.StreamID]wire.Probe{}
	for _, a := range out {
		if a.Stream == 0 {
			continue
		}
		var m wire.Broadcast
		if err := m.Parse(a.Body); err != nil {
			t.Fatal(err)
		}
		if _, twice := got[a.Stream]; twice {
			t.Fatalf("stream %d was asked twice", a.Stream)
		}
		got[a.Stream] = m.Probe
	}
	s.Cancel(1)
	return got
}

// A search's walkers are never more or fewer than its budget; those that descend
// are spread evenly, and a budget of at least the number of children reaches all.
func TestSplitSums(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		b := newBench(t, probe.Config{Rand: rng, Budget: 1 + rng.IntN(probe.MaxBudget)})
		downs, ups := rng.IntN(40), rng.IntN(3)
		for i := range downs {
			b.down = append(b.down, child(probe.StreamID(100+i), fmt.Sprint("C", i)))
		}
		for i := range ups {
			b.up = append(b.up, child(probe.StreamID(10+i), fmt.Sprint("P", i)))
		}
		round := rng.IntN(3)
		got := shares(t, b.s, b, round)
		total, descend, low, high := 0, 0, math.MaxInt, 0
		reached := 0
		for stream, p := range got {
			total += int(p.Budget)
			if p.Up != (stream < 100) {
				t.Fatalf("seed %d: stream %d, up %v", seed, stream, p.Up)
			}
			if !p.Up {
				reached++
				descend += int(p.Budget)
				low, high = min(low, int(p.Budget)), max(high, int(p.Budget))
			}
		}
		if downs+ups == 0 {
			if len(got) > 0 {
				t.Fatalf("seed %d: %d asked of nobody", seed, len(got))
			}
			continue
		}
		if total < 1 || total > probe.MaxBudget || ups == 0 && descend != total {
			t.Fatalf("seed %d: %d walkers, %d descend", seed, total, descend)
		}
		if downs == 0 && descend > 0 || high-low > 1 && reached > 0 {
			t.Fatalf("seed %d: shares from %d to %d", seed, low, high)
		}
		if descend >= downs && reached != downs {
			t.Fatalf("seed %d: %d walkers reach %d of %d children", seed, descend, reached, downs)
		}
	}
}

// Every child is as likely as another, and a walker climbs every other time.
func TestSplitChance(t *testing.T) {
	b := newBench(t, probe.Config{Budget: 4})
	for i := range 10 {
		b.down = append(b.down, child(probe.StreamID(100+i), fmt.Sprint("C", i)))
	}
	b.up = []probe.Link{child(1, "P"), child(2, "Q")}
	hits, climbed := map[probe.StreamID]int{}, 0
	const rounds = 5000
	for range rounds {
		for stream, p := range shares(t, b.s, b, 0) {
			hits[stream] += int(p.Budget)
			if p.Up {
				climbed += int(p.Budget)
			}
		}
	}
	if share := float64(climbed) / (4 * rounds); math.Abs(share-0.5) > 0.02 {
		t.Errorf("%.3f of the walkers climbed", share)
	}
	for _, l := range b.down {
		if share := float64(hits[l.Stream]) / (2 * rounds); math.Abs(share-0.1) > 0.02 {
			t.Errorf("child %d got %.3f of the descending walkers", l.Stream, share)
		}
	}
	for _, l := range b.up {
		if share := float64(hits[l.Stream]) / (2 * rounds); math.Abs(share-0.5) > 0.03 {
			t.Errorf("parent %d got %.3f of the climbing walkers", l.Stream, share)
		}
	}
}
