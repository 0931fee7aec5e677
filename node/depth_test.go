package node_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"treecast/node"
	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// TestPublishFromDepth has each of twelve nodes, the broker, relays and leaves,
// publish with a key of its own (PROTOCOL §4 From depth): every publication has
// its receipt, and everybody gets every chunk once, the publisher included.
func TestPublishFromDepth(t *testing.T) {
	const nodes, each = 12, 20
	keys := make([]*soc.Key, nodes)
	at := make(map[wire.Owner]int)
	spec := feed("depth", newKey(t))
	spec.Regime = wire.RegimeExplicitList
	for i := range keys {
		keys[i] = newKey(t)
		owner := wire.Owner(keys[i].Owner())
		at[owner] = i
		spec.Publishers = append(spec.Publishers, owner[:])
	}
	broker := start(t, node.Config{})
	cohorts := []*node.Cohort{open(t, broker, spec, 3)}
	for i := 1; i < nodes; i++ {
		capacity := 3
		if i > 8 {
			capacity = -1
		}
		c := join(t, start(t, node.Config{}), broker, spec.Topic, capacity)
		attached(t, c, 2)
		cohorts = append(cohorts, c)
	}
	eventually(t, "all have their parents", func() bool {
		for _, c := range cohorts {
			if !c.View().Settled {
				return false
			}
		}
		return true
	})
	subs := make([]*node.Subscription, nodes)
	for i, c := range cohorts {
		subs[i] = subscribe(t, c)
		defer subs[i].Close()
	}

	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for i, c := range cohorts {
		pub, err := c.Publisher(keys[i])
		if err != nil {
			t.Fatal(err)
		}
		defer pub.Close()
		wg.Go(func() {
			for k := range each {
				index, err := pub.Publish(ctx, fmt.Appendf(nil, "node %d chunk %d", i, k))
				if err != nil || index != uint64(k) {
					t.Errorf("node %d chunk %d: index %d, %v", i, k, index, err)
				}
			}
		})
	}
	wg.Wait()
	for i, s := range subs {
		seen := make(map[string]bool)
		for range nodes * each {
			m, err := s.Next(ctx)
			if err != nil {
				t.Fatalf("node %d has %d of %d: %v", i, len(seen), nodes*each, err)
			}
			want := fmt.Sprintf("node %d chunk %d", at[m.Owner], m.Index)
			if !m.HasIndex || string(m.Payload) != want || seen[want] {
				t.Errorf("node %d got %q from index %d of %v, or twice", i, m.Payload, m.Index, m.Owner)
			}
			seen[want] = true
			m.Release()
		}
	}
	deepest, relayed := uint32(0), uint64(0)
	for i, c := range cohorts {
		n := c.Counters()
		if i > 0 {
			deepest = max(deepest, c.View().Band)
			if n[tree.CountSentUp] > each { // its own, and others'
				relayed += n[tree.CountSentUp] - each
			}
		}
		if got := n[tree.CountDelivered]; got != nodes*each {
			t.Errorf("node %d counts %d delivered", i, got)
		}
		if bad := n[tree.CountForged] + n[tree.CountNotAdmitted] + n[tree.CountFromDepth]; bad != 0 {
			t.Errorf("node %d refused %d publications", i, bad)
		}
	}
	if deepest < 3 || relayed == 0 {
		t.Errorf("deepest band %d, %d publications passed up: nobody published through a relay", deepest, relayed)
	}
}
