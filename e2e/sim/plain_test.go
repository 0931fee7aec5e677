package sim

import (
	"math/rand/v2"
	"testing"
	"time"
)

// scene is a world in which the test says who comes and goes.
type scene struct {
	*world
	t *testing.T
}

func newScene(t *testing.T, cfg Config) *scene {
	t.Helper()
	cfg, err := cfg.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &scene{w, t}
}

// join lets n nodes in, one after the other.
func (s *scene) join(n int) {
	for range n {
		s.plan(evJoin, event{at: s.now + int64(time.Second), node: s.addNode(kindOurs)})
		s.rest(false)
	}
}

// go1 lets one node go and waits until the others are well, or cannot be.
func (s *scene) go1(kind eventKind, i int32) survey {
	s.plan(kind, event{at: s.now + int64(time.Second), node: i})
	s.rest(false)
	return s.graph.look(s.world)
}

// plainFive is the smallest tree of the counterexample: the broker feeds 1 and 2,
// they feed 3 and 4, those feed 5, and every slot but one is needed.
func plainFive(t *testing.T) *scene {
	s := newScene(t, Config{Rules: RulesPlain, Capacity: 2, RTTSigma: -1, Silent: -1})
	s.join(5)
	for i, want := range map[int32][2]int32{3: {1, 2}, 4: {1, 2}, 5: {3, 4}} {
		for _, l := range s.nodes[i].parents {
			if l.peer != want[0] && l.peer != want[1] {
				t.Fatalf("node %d has parent %d", i, l.peer)
			}
		}
	}
	return s
}

// TestPlainRing has the plain rules build the ring of PROTOCOL §5: both parents
// of 3 and 4 fail one after the other, and they heal onto each other and onto 5,
// their own child, while the broker stands beside them with free slots.
func TestPlainRing(t *testing.T) {
	s := plainFive(t)
	s.go1(evDie, 1)
	if got := s.go1(evDie, 2); got.cycles == 0 || got.islands != 3 {
		t.Errorf("%d cycles, %d islands, want a ring of three nodes that nobody feeds", got.cycles, got.islands)
	}
	if s.nodes[0].children != 0 {
		t.Errorf("the broker has %d children", s.nodes[0].children)
	}
}

// TestPlainLeaveRing has them build it without a failure: 1 and 2 leave gracefully.
func TestPlainLeaveRing(t *testing.T) {
	s := plainFive(t)
	s.go1(evLeave, 1)
	if got := s.go1(evLeave, 2); got.cycles == 0 {
		t.Errorf("%d cycles, %d islands, want a ring", got.cycles, got.islands)
	}
}

// TestPlainEndless lets half of a plain tree fail. Where a ring has no free slot
// a probe goes round in it for good, as nothing tells it from a new one.
func TestPlainEndless(t *testing.T) {
	for seed := range uint64(20) {
		r, err := Run(Config{Rules: RulesPlain, Nodes: 60, Capacity: 3, Churn: 0.6, Seed: seed, Frames: 50_000})
		if err != nil {
			t.Fatal(err)
		}
		if r.Detail.Truncated {
			t.Logf("seed %d: %d cycles, %d probes for %d joins and %d failures", seed, r.Cycles, r.Detail.Probes, r.Joins, r.Failures)
			return
		}
	}
	t.Error("every probe ended")
}

// TestOursInTheirPlace plays the same kind of story by our rules, with the least
// slots that they allow: a row below the broker, more rows below, and then the
// rows that feed the others go, by death or gracefully, one after the other.
func TestOursInTheirPlace(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		s := newScene(t, Config{Capacity: 3, Seed: seed, Silent: -1})
		s.join(5 + rng.IntN(8))
		for i := range int32(3) {
			kind := evDie
			if rng.IntN(2) == 0 {
				kind = evLeave
			}
			if got := s.go1(kind, i+1); got.cycles != 0 {
				t.Fatalf("seed %d: %d cycles", seed, got.cycles)
			}
		}
		if s.stats.violations != 0 {
			t.Fatalf("seed %d: %v", seed, s.stats.words)
		}
		s.run(s.now+int64(IdleFor), nil) // what the last change leaves behind
		well, before := s.unsettled == 0, s.sent
		s.run(s.now+int64(time.Minute), nil)
		if well && s.sent != before {
			t.Errorf("seed %d: %d frames in an idle minute", seed, s.sent-before)
		}
	}
}
