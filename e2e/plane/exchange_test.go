package plane_test

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"treecast/e2e/cluster"
	"treecast/e2e/plane"
	"treecast/node"
)

var share = flag.Int("plane.share", 4, "TestExchange sends one in so many of 10,000 objects, which are 200 MB; 1 sends all, with -short at most one in 8")

// quiet is how long nothing may come before a test gives up: longer than any wait
// of PROTOCOL §5 and §8 that a fault may cost.
const quiet = 60 * time.Second

const kill = syscall.SIGKILL

// publisherOf makes the publisher key of a data directory.
func publisherOf(t *testing.T, dir string) string {
	t.Helper()
	key, err := node.LoadOrMakeKey(dir, node.PublisherKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", key.Owner())
}

// edge is a node with a consumer that it dials.
type edge struct {
	*cluster.Daemon
	args     []string
	consumer *plane.Consumer
}

// restart starts it again as it was.
func (e *edge) restart(t *testing.T) {
	t.Helper()
	e.Daemon = cluster.StartNode(t, treecast, e.Name, e.args...)
}

// depths are the shortest ways from the broker to each of the nodes, by overlay.
func depths(t *testing.T, broker *cluster.Daemon, nodes []*cluster.Daemon) map[string]int {
	t.Helper()
	depth := map[string]int{broker.Overlay: 0}
	for range nodes {
		for _, n := range nodes {
			for _, p := range n.View(t).Cohorts[0].Parents {
				if d, ok := depth[p.Overlay]; ok {
					if now, ok := depth[n.Overlay]; !ok || d+1 < now {
						depth[n.Overlay] = d + 1
					}
				}
			}
		}
		if len(depth) == len(nodes)+1 {
			break
		}
	}
	return depth
}

// TestExchange is the plane under load and faults: two ingresses, one at the
// broker and one at a leaf, each with a publisher that sends as fast as its door
// reads; sixteen nodes in a tree of depth two and more; consumers that only
// listen. Two relays are killed and an edge is started again meanwhile. Everybody
// gets everything once, in the order of each ingress.
func TestExchange(t *testing.T) {
	rng := seeded(t)
	of := *share
	if testing.Short() {
		of = max(of, 8)
	}
	var sizes [2][]int
	for i, size := range plane.Mix(rng, of) {
		sizes[i%2] = append(sizes[i%2], size)
	}
	sets := []*plane.Set{plane.NewSet(rng.Uint64(), sizes[0]), plane.NewSet(rng.Uint64(), sizes[1])}
	total := sets[0].Len() + sets[1].Len()
	dir := t.TempDir()
	second := filepath.Join(dir, "second")
	slots := []string{"--log-level", "warn", "--capacity"}
	broker := cluster.StartNode(t, treecast, "broker", append(append(slices.Clone(slots), "3",
		"--broker", "--retain", "1G", "--ingress-tcp", "127.0.0.1:0", "--publishers", publisherOf(t, second)), unlimited...)...)
	join := []string{"--join", "beef@" + broker.Addrs[0]}
	var relays, nodes []*cluster.Daemon
	for i := range 10 {
		name := fmt.Sprintf("relay%d", i)
		r := cluster.StartNode(t, treecast, name, append(append(slices.Clone(slots), "4"), join...)...)
		r.AwaitReady(t)
		relays, nodes = append(relays, r), append(nodes, r)
	}
	leaf := append(append(slices.Clone(slots), "0"), join...)
	var edges []*edge
	for i := range 4 {
		name := fmt.Sprintf("edge%d", i)
		e := &edge{consumer: plane.NewConsumer(t, fmt.Sprintf("consumer%d", i), sets...)}
		e.args = append(slices.Clone(leaf), "--data-dir", filepath.Join(dir, name), "--retain", "1G",
			"--egress-dial", name+"@"+e.consumer.Addr()+"=tm_plane")
		e.Daemon = cluster.StartNode(t, treecast, name, e.args...)
		e.AwaitReady(t)
		edges, nodes = append(edges, e), append(nodes, e.Daemon)
	}
	ingress := cluster.StartNode(t, treecast, "second", append(append(slices.Clone(leaf), "--data-dir", second,
		"--ingress-tcp", "127.0.0.1:0"), unlimited...)...)
	ingress.AwaitReady(t)
	nodes = append(nodes, ingress)
	depth := depths(t, broker, nodes)
	for _, e := range edges {
		if depth[e.Overlay] < 2 {
			t.Fatalf("%s is at depth %d", e.Name, depth[e.Overlay])
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	start := time.Now()
	sent := make(chan error, 2)
	for i, door := range []string{broker.Ingress[0], ingress.Ingress[0]} {
		go func() { sent <- plane.Publish(ctx, door, "tm_plane", sets[i], 0) }() // ends with ctx
	}
	watched := edges[0].consumer
	awaitCount(t, watched, total/5, quiet)
	killParent(t, relays, edges[0])
	awaitCount(t, watched, total*2/5, quiet)
	again := edges[3]
	if code := again.Daemon.Stop(t); code != 0 {
		t.Errorf("%s: exit %d: %s", again.Name, code, again.Stderr())
	}
	again.restart(t)
	awaitCount(t, watched, total*3/5, quiet)
	killParent(t, relays, edges[1:]...)
	for range 2 {
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range edges {
		awaitCount(t, e.consumer, total, quiet)
	}
	took := time.Since(start)
	for _, e := range edges {
		complete(t, e.consumer, total)
	}
	mb := float64(sets[0].Bytes()+sets[1].Bytes()) / 1e6
	t.Logf("%d objects, %.0f MB in %v, %.1f MB/s; recovered by %s: %v", total, mb, took.Round(time.Millisecond), mb/took.Seconds(),
		again.Name, again.Metric(t, `treecast_cohort_events_total{reason="recovered"}`))
}

// killParent kills a relay that feeds one of the edges: the first that has one,
// as whoever healed onto the broker may be fed by it alone.
func killParent(t *testing.T, relays []*cluster.Daemon, edges ...*edge) {
	t.Helper()
	for _, e := range edges {
		for _, p := range e.View(t).Cohorts[0].Parents {
			for _, r := range relays {
				if r.Overlay == p.Overlay {
					t.Logf("kill %s, a parent of %s", r.Name, e.Name)
					r.Kill()
					return
				}
			}
		}
	}
	t.Fatal("no relay feeds any of them")
}
