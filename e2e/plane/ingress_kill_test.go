package plane_test

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"treecast/e2e/cluster"
	"treecast/e2e/plane"
)

// submission is what a publisher knows of its objects.
type submission struct {
	submitter *plane.Submitter
	set       *plane.Set

	mu       sync.Mutex
	answered []uint64 // SeqNum by object; 0: no answer yet
	count    int
	tries    int
	err      error
}

// submit posts the whole set from workers that take turns. It ends with ctx.
func (s *submission) submit(ctx context.Context, workers int) {
	s.answered = make([]uint64, s.set.Len())
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < s.set.Len(); i = int(next.Add(1)) - 1 {
				a, tries, err := s.submitter.Submit(ctx, s.set.Append(nil, i))
				s.mu.Lock()
				s.tries += tries
				if err != nil {
					s.err = err
				} else {
					s.answered[i] = a.Seq
					s.count++
				}
				s.mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
}

// sofar is how many objects were answered.
func (s *submission) sofar() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// TestIngressKilled kills the ingress several times in the middle of a thousand
// submissions that wait for their answer. What was answered is at every consumer
// in the end, nothing twice, and no index was signed for two different chunks. The
// publisher submits again what was not answered.
func TestIngressKilled(t *testing.T) {
	for _, where := range []string{"broker", "leaf"} {
		t.Run(where, func(t *testing.T) { ingressKilled(t, where == "broker") })
	}
}

func ingressKilled(t *testing.T, atBroker bool) {
	const total, workers, kills = 1000, 8, 3
	rng := seeded(t)
	sizes := plane.Sizes(total, 0)
	for i := range sizes {
		sizes[i] = 100 + rng.IntN(3000)
		if i%10 == 0 {
			sizes[i] += 8000 // takes several chunks
		}
	}
	set := plane.NewSet(rng.Uint64(), sizes)
	dir := t.TempDir()
	args := map[string][]string{}
	for _, name := range []string{"broker", "leaf"} {
		args[name] = []string{
			"--data-dir", filepath.Join(dir, name), "--log-level", "warn", "--retain", "1G",
			"--listen", "/ip4/127.0.0.1/tcp/" + port(t),
		}
	}
	door := append([]string{"--ingress-tcp", "127.0.0.1:0"}, unlimited...)
	args["broker"] = append(args["broker"], "--broker", "--capacity", "3")
	args["broker"] = append(args["broker"], door...)
	args["broker"] = append(args["broker"], "--publishers", publisherOf(t, filepath.Join(dir, "leaf")))
	broker := cluster.StartNode(t, treecast, "broker", args["broker"]...)
	join := []string{"--join", "beef@" + broker.Addrs[0], "--log-level", "warn"}
	args["leaf"] = append(append(args["leaf"], "--capacity", "0"), append(door, join...)...)

	nodes := []*cluster.Daemon{broker}
	for _, name := range []string{"relay0", "relay1", "relay2"} {
		r := cluster.StartNode(t, treecast, name, append(slices.Clone(join), "--capacity", "8")...)
		r.AwaitReady(t)
		nodes = append(nodes, r)
	}
	var consumers []*plane.Consumer
	for _, name := range []string{"edge0", "edge1"} {
		c := plane.NewConsumer(t, name, set)
		e := cluster.StartNode(t, treecast, name, append(slices.Clone(join), "--capacity", "0", "--egress-dial", name+"@"+c.Addr()+"=*")...)
		e.AwaitReady(t)
		nodes, consumers = append(nodes, e), append(consumers, c)
	}
	witnesses := []*witness{newWitness(t, nodes[1]), newWitness(t, nodes[2])}
	victim := nodes[0]
	name := "broker"
	if !atBroker {
		name = "leaf"
		victim = cluster.StartNode(t, treecast, name, args[name]...)
		victim.AwaitReady(t)
	}
	var url atomic.Value
	url.Store(victim.Submit)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	s := &submission{set: set, submitter: &plane.Submitter{Topic: "tm_plane", URL: func() string { return url.Load().(string) }}}
	var done sync.WaitGroup
	done.Go(func() { s.submit(ctx, workers) }) // ends with ctx
	defer done.Wait()
	defer cancel()
	for k := range kills {
		at := total * (k + 1) / (kills + 1)
		cluster.Eventually(t, time.Minute, "submissions are answered", func() (bool, string) {
			return s.sofar() >= at, "waiting"
		})
		victim.Kill()
		answered := s.sofar()
		victim = cluster.StartNode(t, treecast, name, args[name]...)
		url.Store(victim.Submit)
		t.Logf("killed after %d answers", answered)
	}
	if atBroker {
		nodes[0] = victim
	} else {
		nodes = append(nodes, victim)
	}
	done.Wait()
	if s.err != nil {
		t.Fatal(s.err)
	}
	for _, c := range consumers {
		awaitCount(t, c, total, quiet)
		got := c.Tally()
		if len(got.Missing)+len(got.Twice)+len(got.Strays) > 0 {
			t.Errorf("%s: missing %s, twice %s, strays %q", c.Name, few(got.Missing), few(got.Twice), got.Strays)
		}
	}
	agree(t, witnesses, nodes)
	t.Logf("%d objects answered after %d submissions", s.count, s.tries)
}

// port is a free one.
func port(t *testing.T) string {
	addr := cluster.FreePort(t)
	return addr[len("127.0.0.1:"):]
}

// answers are the numbers of the objects that were answered so far.
func (s *submission) answers() []uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]uint64(nil), s.answered...)
}
