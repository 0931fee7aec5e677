package node_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"treecast/node"
	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

const loopbackTCP, loopbackQUIC = "/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/udp/0/quic-v1"

// start makes a node on loopback that ends with the test.
func start(t testing.TB, cfg node.Config) *node.Node {
	t.Helper()
	if cfg.Listen == nil && cfg.Host == nil {
		cfg.Listen = []string{loopbackTCP}
	}
	n, err := node.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func newKey(t testing.TB) *soc.Key {
	t.Helper()
	key, err := soc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// feed is the spec of a cohort for one publisher.
func feed(name string, key *soc.Key) wire.Spec {
	owner := key.Owner()
	return wire.Spec{
		Topic: soc.Keccak256([]byte(name)), Binding: wire.BindingFeedTopic,
		Regime: wire.RegimeExplicitSingle, Admin: owner[:],
	}
}

func open(t testing.TB, n *node.Node, spec wire.Spec, capacity int) *node.Cohort {
	t.Helper()
	c, err := n.Open(spec, node.CohortOptions{Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func join(t testing.TB, n, entry *node.Node, topic wire.Topic, capacity int) *node.Cohort {
	t.Helper()
	c, err := n.Join(node.CohortOptions{Topic: topic, Entries: entry.Addrs(), Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func attached(t testing.TB, c *node.Cohort, parents int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := c.WaitAttached(ctx, parents); err != nil {
		t.Fatal(err)
	}
}

// payload is what index carries: distinct bytes of a length that varies.
func payload(index int) []byte {
	b := bytes.Repeat([]byte(fmt.Sprintf("%08d ", index)), 512)
	return b[:9+(index*97)%(4096-9)]
}

// receive takes count messages and compares every byte.
func receive(t testing.TB, s *node.Subscription, owner wire.Owner, first, count int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	seen := make(map[uint64]bool)
	for range count {
		m, err := s.Next(ctx)
		if err != nil {
			t.Fatalf("after %d of %d messages: %v", len(seen), count, err)
		}
		want := payload(int(m.Index))
		span := soc.Span(len(want))
		switch {
		case !m.HasIndex || m.Index < uint64(first) || m.Index >= uint64(first+count) || seen[m.Index]:
			t.Fatalf("index %d (known: %v) out of %d.. or twice", m.Index, m.HasIndex, first)
		case m.Owner != owner:
			t.Fatalf("index %d of owner %v, want %v", m.Index, m.Owner, owner)
		case !bytes.Equal(m.Payload, want) || !bytes.Equal(m.Span, span[:]):
			t.Fatalf("index %d has other bytes", m.Index)
		}
		chunk := m.Chunk()
		if _, err := soc.Verify(&chunk); err != nil {
			t.Fatal(err)
		}
		seen[m.Index] = true
		m.Release()
	}
}

func subscribe(t testing.TB, c *node.Cohort) *node.Subscription {
	t.Helper()
	s, err := c.Subscribe(node.SubscribeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestChain sends chunks from a broker over a relay to a leaf.
func TestChain(t *testing.T) {
	for _, transport := range []string{loopbackTCP, loopbackQUIC} {
		t.Run(transport, func(t *testing.T) {
			key := newKey(t)
			spec := feed("chain", key)
			listen := node.Config{Listen: []string{transport}}
			broker, relay, leaf := start(t, listen), start(t, listen), start(t, listen)
			top := open(t, broker, spec, 0)
			middle := join(t, relay, broker, spec.Topic, 0)
			attached(t, middle, 1)
			bottom := join(t, leaf, relay, spec.Topic, -1)
			attached(t, bottom, 1)

			subs := []*node.Subscription{subscribe(t, top), subscribe(t, middle), subscribe(t, bottom)}
			pub, err := top.Publisher(key)
			if err != nil {
				t.Fatal(err)
			}
			defer pub.Close()
			const count = 300
			first, err := pub.Reserve(count)
			if err != nil || first != 0 {
				t.Fatal(first, err)
			}
			receipts := make(chan error, count)
			for i := range count {
				pub.PublishAtAsync(uint64(i), payload(i), func(err error) { receipts <- err })
			}
			for range count {
				if err := <-receipts; err != nil {
					t.Fatal(err)
				}
			}
			for _, s := range subs {
				receive(t, s, wire.Owner(key.Owner()), 0, count)
				s.Close()
			}
			if v := bottom.View(); v.Spec == nil || !v.Spec.Equal(&spec) {
				t.Errorf("leaf sees spec %v", v.Spec)
			}
			if got := bottom.Counters()[tree.CountDelivered]; got != count {
				t.Errorf("leaf counts %d delivered", got)
			}
		})
	}
}
