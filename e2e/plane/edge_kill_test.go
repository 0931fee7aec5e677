package plane_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"treecast/e2e/cluster"
	"treecast/e2e/plane"
)

// TestParentsAndEdgeKilled kills both parents of an edge and the edge itself at
// once, while objects go through. Started again, it gets what it missed from
// others, and its consumer has everything in the end; the consumer of an edge that
// lost both parents and lived on has, too.
func TestParentsAndEdgeKilled(t *testing.T) {
	const total, every = 1500, 5 * time.Millisecond
	rng := seeded(t)
	sizes := plane.Sizes(total, 0)
	for i := range sizes {
		sizes[i] = 100 + rng.IntN(4000)
		if i%25 == 0 {
			sizes[i] += 50_000
		}
	}
	set := plane.NewSet(rng.Uint64(), sizes)
	log := []string{"--log-level", "warn"}
	broker := cluster.StartNode(t, treecast, "broker", append(append(slices.Clone(log), "--broker", "--capacity", "3",
		"--retain", "1G", "--ingress-tcp", "127.0.0.1:0"), unlimited...)...)
	join := append(slices.Clone(log), "--join", "beef@"+broker.Addrs[0])
	var relays []*cluster.Daemon
	for i := range 6 {
		r := cluster.StartNode(t, treecast, fmt.Sprintf("relay%d", i), append(slices.Clone(join), "--capacity", "4")...)
		r.AwaitReady(t)
		relays = append(relays, r)
	}
	dir := t.TempDir()
	var edges []*edge
	for i := range 3 {
		name := fmt.Sprintf("edge%d", i)
		e := &edge{consumer: plane.NewConsumer(t, name, set)}
		e.args = append(slices.Clone(join), "--capacity", "0", "--data-dir", filepath.Join(dir, name), "--retain", "1G",
			"--egress-dial", name+"@"+e.consumer.Addr()+"=tm_plane")
		e.Daemon = cluster.StartNode(t, treecast, name, e.args...)
		e.AwaitReady(t)
		edges = append(edges, e)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sent := make(chan error, 1)
	go func() { sent <- plane.Publish(ctx, broker.Ingress[0], "tm_plane", set, every) }() // ends with ctx
	killed := edges[0]
	awaitCount(t, killed.consumer, total/3, quiet)
	parents := killed.View(t).Cohorts[0].Parents
	if len(parents) != 2 {
		t.Fatalf("%s has the parents %+v", killed.Name, parents)
	}
	for _, p := range parents {
		i := slices.IndexFunc(relays, func(r *cluster.Daemon) bool { return r.Overlay == p.Overlay })
		if i < 0 {
			t.Fatalf("%s has a parent %s that is no relay", killed.Name, p.Overlay)
		}
		relays[i].Signal(kill)
	}
	killed.Kill()
	before := killed.consumer.Count()
	awaitCount(t, edges[1].consumer, before+total/5, quiet) // it misses that much
	killed.restart(t)
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	for _, e := range edges {
		awaitCount(t, e.consumer, total, quiet)
	}
	for _, e := range edges[1:] {
		complete(t, e.consumer, total)
	}
	recovered := killed.Metric(t, `treecast_cohort_events_total{reason="recovered"}`)
	if recovered == 0 {
		t.Errorf("%s recovered nothing", killed.Name)
	}
	got := killed.consumer.Tally()
	// A record that broke off with the connection comes again whole (PROTOCOL §7).
	if len(got.Twice) > 1 || got.Disorder > 0 || len(got.Strays) > 0 {
		t.Errorf("%s: again %s, %d out of order, strays %q", killed.Name, few(got.Twice), got.Disorder, got.Strays)
	}
	t.Logf("%s had %d objects when it was killed, recovered %v chunks, got %d objects again", killed.Name, before, recovered, len(got.Twice))
}
