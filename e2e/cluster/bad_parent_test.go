package cluster_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"treecast/e2e/cluster"
)

// replaceLimit is how long a parent that brings nothing, or not all, is kept.
const replaceLimit = 5 * time.Second

// TestBadParentIsReplaced has a relay keep chunks back from its children while it
// stays connected and answers everything: all of them, or every second. Each
// child finds another parent in time and lacks nothing (PROTOCOL §5 Lag).
func TestBadParentIsReplaced(t *testing.T) {
	for name, every := range map[string]int64{"muted": 1, "withholding": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cluster.New(t, transports["tcp"], 3)
			for range 2 {
				c.Join(t, c.Broker(), 4)
				c.AwaitSettled(t)
			}
			bad, muffle := c.JoinMuffled(t, c.Broker(), 4)
			c.AwaitSettled(t)
			for i := range 8 {
				c.Join(t, c.Broker(), 4)
				if i%3 == 2 {
					c.Join(t, c.Broker(), -1)
				}
				c.AwaitSettled(t)
			}
			stop := c.StartLoad(t, 100)
			time.Sleep(time.Second) // of good behaviour
			children := c.Children(bad)
			if len(children) == 0 {
				t.Fatal("the bad relay has no children")
			}
			muffle.Withhold(every)
			since := time.Now()
			cluster.Eventually(t, replaceLimit, "the bad parent is replaced", func() (bool, string) {
				for i, m := range children {
					if !fedWithout(m, bad) {
						return false, fmt.Sprintf("child %d of %d: %+v", i, len(children), m.View().Parents)
					}
				}
				return true, ""
			})
			t.Logf("%d children had others after %v", len(children), time.Since(since).Round(time.Millisecond))
			cluster.Eventually(t, 2*replaceLimit, "the bad parent is let go", func() (bool, string) {
				left := 0
				for _, m := range children {
					if m.HasParent(bad.Node.Overlay()) {
						left++
					}
				}
				return left == 0, fmt.Sprintf("%d children keep it", left)
			})
			payloads := stop()
			if muffle.Held() == 0 {
				t.Error("nothing was kept back")
			}
			c.AwaitAll(t, payloads)
		})
	}
}

// fedWithout says whether m has two parents, or the broker, beside bad.
func fedWithout(m, bad *cluster.Member) bool {
	others := 0
	for _, p := range m.View().Parents {
		switch {
		case p.Broker:
			return true
		case p.Peer != bad.Node.Overlay():
			others++
		}
	}
	return others >= 2
}

// TestAllParentsMute mutes two relays at the same moment, and with them all that
// some node hears: it has nothing to compare, and finds out all the same.
func TestAllParentsMute(t *testing.T) {
	c := cluster.New(t, transports["tcp"], 4)
	muffles := make(map[*cluster.Member]*cluster.Muffle)
	for range 4 { // two remain, with room for all
		m, muffle := c.JoinMuffled(t, c.Broker(), 12)
		c.AwaitSettled(t)
		muffles[m] = muffle
	}
	for range 8 {
		c.Join(t, c.Broker(), 4)
		c.AwaitSettled(t)
	}
	bad := allHeard(c, muffles)
	if len(bad) != 2 {
		t.Fatal("no node hears two relays of the broker alone")
	}
	stop := c.StartLoad(t, 100)
	time.Sleep(time.Second) // of good behaviour
	for _, m := range bad {
		muffles[m].Mute()
	}
	since := time.Now()
	cluster.Eventually(t, 6*replaceLimit, "all hear somebody", func() (bool, string) {
		deaf := 0
		for _, m := range c.Nodes[1:] {
			if !hearsOther(m, bad) {
				deaf++
			}
		}
		return deaf == 0, fmt.Sprintf("%d nodes hear only mute parents", deaf)
	})
	t.Logf("all heard somebody after %v", time.Since(since).Round(time.Millisecond))
	c.AwaitAll(t, stop())
}

// allHeard are the parents of the first node that has two, both among muffles.
func allHeard(c *cluster.Cluster, muffles map[*cluster.Member]*cluster.Muffle) (parents []*cluster.Member) {
	for _, m := range c.Nodes[1:] {
		parents = parents[:0]
		for p := range muffles {
			if m.HasParent(p.Node.Overlay()) {
				parents = append(parents, p)
			}
		}
		if len(parents) == 2 && len(m.View().Parents) == 2 {
			return parents
		}
	}
	return nil
}

// hearsOther says whether m has a parent that is not among bad.
func hearsOther(m *cluster.Member, bad []*cluster.Member) bool {
	for _, p := range m.View().Parents {
		if !slices.ContainsFunc(bad, func(b *cluster.Member) bool { return b.Node.Overlay() == p.Peer }) {
			return true
		}
	}
	return false
}
