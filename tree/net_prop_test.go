package tree_test

import (
	"flag"
	"testing"
	"time"

	"pgregory.net/rapid"

	"treecast/tree"
	"treecast/wire"
)

var (
	cohorts    = flag.Int("cohorts", 200, "how many random cohorts TestCohorts plays")
	cohortSeed = flag.Uint64("cohort", 1, "the first one's seed")
)

// TestCohorts plays small cohorts by chance: joins, deaths, leaves, publications,
// broken streams, and delays that reorder whatever travels on different streams. No
// state has a ring (see act), every core is valid after each Step (see step), nobody
// gets a chunk twice, and at rest everybody is fed, by two parents where there is a
// slot for it (see rest). One cohort alone: -cohort SEED -cohorts 1.
func TestCohorts(t *testing.T) {
	for seed := *cohortSeed; seed < *cohortSeed+seeds(uint64(*cohorts)); seed++ {
		p := &play{w: newWorld(t, seed)}
		p.draw = func(_ string, from, to int) int { return from + p.w.rng.IntN(to-from+1) }
		p.play()
		if t.Failed() {
			t.Fatalf("seed %d: go test ./tree -run 'TestCohorts$' -cohort %d -cohorts 1", seed, seed)
		}
	}
}

// TestDrawnCohorts plays cohorts that rapid draws: smaller ones, and the smallest
// that fails is shown.
func TestDrawnCohorts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &play{w: newWorld(t, rapid.Uint64().Draw(t, "seed"))}
		p.draw = func(what string, from, to int) int { return rapid.IntRange(from, to).Draw(t, what) }
		p.play()
	})
}

// play is one cohort, and the chance that makes it.
type play struct {
	draw    func(what string, from, to int) int
	w       *world
	broker  *member
	index   uint64
	foreign bool // there are plain leaves
}

func (p *play) play() {
	p.w.lat = time.Duration(p.draw("latency ms", 1, 150)) * time.Millisecond
	p.w.far = time.Duration(p.draw("jitter ms", 0, 300)) * time.Millisecond
	p.w.check = time.Duration(p.draw("check ms", 0, 20)) * time.Millisecond
	p.broker = p.w.add(tree.Config{Broker: true, Capacity: p.draw("broker's slots", 3, 6)})
	p.foreign = p.draw("plain leaves", 0, 3) == 0
	for range p.draw("nodes", 3, 38) {
		p.joins(time.Duration(p.draw("joins at", 0, 10)) * time.Second)
	}
	p.w.run(time.Duration(p.draw("head start", 0, 20)) * time.Second)
	for range p.draw("events", 0, 10) {
		p.event()
	}
	p.w.settle()
	p.w.rest("at rest")
	from := p.index
	p.publish(p.broker)
	p.w.run(10 * time.Second)
	p.w.complete("at rest", p.w.of(p.w.reached(wire.Overlay{})), from, from+1)
}

// joins plans a new node: with slots, without, or a plain leaf.
func (p *play) joins(after time.Duration) {
	kind := p.draw("kind", 0, 9)
	if kind == 9 && p.foreign {
		m := p.w.addPlain(p.broker)
		p.w.plan(after, func() { m.plain.join(p.broker.self) })
		return
	}
	cfg := tree.Config{Capacity: p.draw("slots", 3, 6)}
	if kind >= 8 {
		cfg.Capacity = -1
	}
	m := p.w.add(cfg)
	entries := []wire.Overlay{p.broker.self}
	if p.draw("entry", 0, 2) == 0 {
		entries = []wire.Overlay{p.any().self, p.broker.self}
	}
	p.w.plan(after, func() { m.step(tree.Join{Entries: entries}) })
}

// any is some node that lives.
func (p *play) any() *member {
	alive := p.w.alive()
	return alive[p.draw("node", 0, len(alive)-1)]
}

// event is one thing that happens, and how long it is until the next.
func (p *play) event() {
	switch p.draw("event", 0, 4) {
	case 0: // so many fail together
		for range p.draw("failures", 1, 5) {
			if m := p.any(); m != p.broker {
				m.kill(time.Duration(p.draw("detected after ms", 0, 10000)) * time.Millisecond)
			}
		}
	case 1:
		if m := p.any(); m != p.broker && m.plain == nil {
			m.step(tree.Leave{})
		}
	case 2:
		if len(p.w.alive()) < 40 {
			p.joins(0)
		}
	case 3:
		if m := p.any(); m.plain == nil {
			p.publish(m)
		}
	case 4: // a stream breaks on its own
		m := p.any()
		if m.next > 0 {
			m.ends[tree.StreamID(p.draw("stream", 1, int(m.next)))].breaks()
		}
	}
	p.w.run(time.Duration(p.draw("pause ms", 0, 15000)) * time.Millisecond)
}

func (p *play) publish(m *member) {
	p.w.publish(m, p.index)
	p.index++
}
