package cluster_test

import (
	"fmt"
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
