package cluster_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"treecast/e2e/cluster"
)

// relay is a member other than the broker that has children, chosen at random.
func relay(t *testing.T, c *cluster.Cluster, rng *rand.Rand) *cluster.Member {
	t.Helper()
	var list []*cluster.Member
	for _, m := range c.Nodes[1:] {
		if len(m.View().Children) > 0 {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		t.Fatal("no relay has children")
	}
	return list[rng.IntN(len(list))]
}

// leaveLimit is how long a node that leaves waits for its children to move. On a
// machine that is too busy they may not have.
const leaveLimit = 5 * time.Second

// TestRelayLeaves has relays leave while chunks go through: nobody lacks one, and
// every node has its parents when the leaver has gone.
func TestRelayLeaves(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(seed(t), 0))
	c := cluster.New(t, transports["tcp"], 3)
	for range 13 {
		c.Join(t, c.Broker(), 4)
		c.AwaitSettled(t)
	}
	stop := c.StartLoad(t, 100)
	for range 3 {
		leaver := relay(t, c, rng)
		children := c.Children(leaver)
		since := time.Now()
		c.Leave(t, leaver)
		took := time.Since(since)
		for _, m := range children {
			if v := m.View(); took < leaveLimit && (!v.Settled || m.HasParent(leaver.Node.Overlay())) {
				t.Errorf("after %v a child of the leaver has the parents %+v", took, v.Parents)
			}
		}
		c.AwaitRest(t)
	}
	c.AwaitAll(t, stop())
}

// TestFortyNodesWithRestarts cuts relays of a larger network off, one after the
// other, and starts each again with its key: nobody else lacks a chunk.
func TestFortyNodesWithRestarts(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed(t), 0))
	c := cluster.New(t, transports["tcp"], 4)
	for i := range 39 {
		capacity := 4
		if i%5 == 4 {
			capacity = -1
		}
		c.Join(t, c.Broker(), capacity)
	}
	c.AwaitRest(t)
	restarts := 8
	if testing.Short() {
		restarts = 3
	}
	stop := c.StartLoad(t, 50)
	for range restarts {
		victim := relay(t, c, rng)
		since := time.Now()
		c.Cut(t, victim)
		c.AwaitSettled(t)
		healed := time.Since(since)
		c.Restart(t, victim)
		c.AwaitRest(t)
		t.Logf("healed within %v, at rest again after %v", healed.Round(time.Millisecond), time.Since(since).Round(time.Millisecond))
	}
	c.AwaitAll(t, stop())
}
