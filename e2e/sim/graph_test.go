package sim

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// drawn makes a world of n nodes with the attachments that edges names, child
// first; nothing runs in it.
func drawn(t *testing.T, n int, edges [][2]int32) *world {
	t.Helper()
	cfg, err := Config{Nodes: n}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for range n {
		i := w.addNode(kindOurs)
		w.nodes[i].m, w.nodes[i].state = newPlain(w.overlay(i), w.overlay(0), false, false, 3, &w.spec, w.rng), stateLive
		w.enlist(i)
	}
	for _, e := range edges {
		slot := w.setOut(e[0], e[1], 0)
		s := &w.streams[slot]
		s.open, s.child = true, true
		w.hang(slot, acceptor)
		w.nodes[e[0]].parents = append(w.nodes[e[0]].parents, link{e[1], slot})
	}
	return w
}

// reach is who the broker feeds when without is taken away, found the slow way.
func reach(n int, edges [][2]int32, without int32) map[int32]bool {
	ok := map[int32]bool{0: true}
	for again := true; again; {
		again = false
		for _, e := range edges {
			if ok[e[1]] && !ok[e[0]] && e[0] != without {
				ok[e[0]], again = true, true
			}
		}
	}
	return ok
}

// TestDominators compares with taking every node away in turn.
func TestDominators(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 3 + rng.IntN(25)
		var edges [][2]int32
		for i := int32(1); i <= int32(n); i++ {
			p := rng.Int32N(i)
			edges = append(edges, [2]int32{i, p})
			if q := rng.Int32N(i); q != p && rng.IntN(5) > 0 {
				edges = append(edges, [2]int32{i, q})
			}
		}
		w := drawn(t, n, edges)
		s := w.graph.look(w)
		want := 0
		for i := int32(1); i <= int32(n); i++ {
			if len(w.nodes[i].parents) < 2 {
				continue
			}
			for k := int32(1); k <= int32(n); k++ {
				if k != i && !reach(n, edges, k)[i] {
					want++
					break
				}
			}
		}
		if s.dominated != want || s.islands != 0 || s.cycles != 0 {
			t.Fatalf("seed %d: %d dominated, want %d; %d islands, %d cycles", seed, s.dominated, want, s.islands, s.cycles)
		}
	}
}

// TestRings draws what a healthy tree never shows.
func TestRings(t *testing.T) {
	for _, c := range []struct {
		name            string
		n               int
		edges           [][2]int32
		islands, cycles int
	}{
		{"a ring of three beside the broker, one below it", 5, [][2]int32{{1, 2}, {2, 3}, {3, 1}, {4, 3}, {5, 0}}, 4, 1},
		{"two that feed each other and are fed", 3, [][2]int32{{1, 0}, {1, 2}, {2, 1}, {3, 2}}, 0, 1},
		{"two rings, one leading into the other", 4, [][2]int32{{1, 2}, {2, 1}, {3, 1}, {3, 4}, {4, 3}}, 4, 1},
		{"two rings apart", 4, [][2]int32{{1, 2}, {2, 1}, {3, 4}, {4, 3}}, 4, 2},
		{"an orphan with a child", 3, [][2]int32{{1, 0}, {3, 2}}, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := drawn(t, c.n, c.edges)
			if s := w.graph.look(w); s.islands != c.islands || s.cycles != c.cycles {
				t.Errorf("%d islands, %d cycles, want %d and %d", s.islands, s.cycles, c.islands, c.cycles)
			}
		})
	}
}

// TestSpared leaves out who is only reached past a node that is about to fail.
func TestSpared(t *testing.T) {
	w := drawn(t, 4, [][2]int32{{1, 0}, {2, 0}, {3, 1}, {3, 2}, {4, 1}})
	w.nodes[1].doomed = true
	if got := fmt.Sprintf("%b", w.graph.spared(w)[0]); got != "1100" {
		t.Errorf("spared %s, want 2 and 3", got)
	}
}

// TestLatency looks at the links of a thousand pairs.
func TestLatency(t *testing.T) {
	w := drawn(t, 0+1, nil)
	below := 0
	for i := range int32(1000) {
		d := w.oneWay(i, i+7)
		if d != w.oneWay(i+7, i) {
			t.Fatalf("link %d is not the same both ways", i)
		}
		if d < int64(DefaultRTTMedian)/2 {
			below++
		}
		if d <= 0 || d > int64(maxRTT)/2 {
			t.Fatalf("link %d: %v", i, time.Duration(d))
		}
	}
	if below < 440 || below > 560 {
		t.Errorf("%d of 1000 links below the median", below)
	}
}
