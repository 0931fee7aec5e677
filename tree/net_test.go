package tree_test

import (
	"fmt"
	"testing"
	"time"

	"treecast/tree"
)

// TestChurn builds trees, kills nodes one by one with chunks on the way, and
// looks at every rest for rings, islands and lost chunks. A node that had
// another way than over the victim misses nothing.
func TestChurn(t *testing.T) {
	rests, singles, nodes := 0, 0, 0
	for seed := range seeds(40) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			w := newWorld(t, seed)
			n, capacity := 10+w.rng.IntN(60), 3+w.rng.IntN(4)
			broker := w.add(tree.Config{Broker: true, Capacity: capacity})
			for range n {
				cfg, from := tree.Config{Capacity: capacity}, time.Duration(0)
				if w.rng.IntN(4) == 0 {
					cfg.Capacity, from = -1, time.Duration(w.rng.IntN(2))*10*time.Second
				}
				m := w.add(cfg)
				w.plan(from+time.Duration(w.rng.Int64N(int64(10*time.Second))), func() { w.join(m, broker) })
			}
			w.run(60 * time.Second)
			w.rest("built")
			index := uint64(0)
			for range n / 4 {
				alive := w.alive()
				victim := alive[1+w.rng.IntN(len(alive)-1)]
				spared := w.reached(victim.self)
				for i := range uint64(10) {
					at := index + i
					w.plan(time.Duration(w.rng.Int64N(int64(time.Second))), func() { w.publish(broker, at) })
				}
				w.plan(500*time.Millisecond, func() { victim.kill(200 * time.Millisecond) })
				w.run(60 * time.Second)
				w.rest(fmt.Sprintf("after chunk %d", index))
				rests, singles, nodes = rests+1, singles+w.single(), nodes+len(w.alive())
				w.complete(fmt.Sprintf("after chunk %d", index), w.of(spared), index, index+10)
				index += 10
			}
		})
	}
	t.Logf("%d rests, %d of %d nodes with a single parent", rests, singles, nodes)
	if singles*20 > nodes {
		t.Errorf("%d of %d nodes with a single parent", singles, nodes)
	}
}

// TestStorm has everybody join within a tenth of a second.
func TestStorm(t *testing.T) {
	for seed := range seeds(5) {
		w := newWorld(t, seed)
		broker := w.add(tree.Config{Broker: true, Capacity: 8})
		for range 150 {
			m := w.add(tree.Config{Capacity: 8})
			w.plan(time.Duration(w.rng.Int64N(int64(100*time.Millisecond))), func() { w.join(m, broker) })
		}
		w.run(60 * time.Second)
		w.rest(fmt.Sprint("seed ", seed))
		dials := 0
		for _, m := range w.nodes {
			dials += m.dials
		}
		t.Logf("seed %d: %.1f subscribes a join, %d with a single parent", seed, float64(dials)/150, w.single())
		if w.single() > 5 {
			t.Errorf("seed %d: %d nodes with a single parent", seed, w.single())
		}
	}
}

// TestIdle sees that a cohort at rest sends nothing.
func TestIdle(t *testing.T) {
	w := newWorld(t, 1)
	broker := w.add(tree.Config{Broker: true, Capacity: 4})
	for range 30 {
		w.join(w.add(tree.Config{Capacity: 4}), broker)
	}
	w.run(5 * time.Minute)
	if n := w.single(); n > 0 {
		t.Fatalf("%d nodes still look for a parent", n)
	}
	count := func() (n int) {
		for _, m := range w.nodes {
			n += m.sent + m.dials
		}
		return n
	}
	before := count()
	w.run(time.Hour)
	if after := count(); after != before {
		t.Errorf("%d frames in an idle hour", after-before)
	}
}
