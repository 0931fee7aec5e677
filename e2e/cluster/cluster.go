package cluster

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

// settleLimit is how long a small network may take to find its parents.
const settleLimit = 20 * time.Second

// Cluster is nodes in this process, all in one cohort. Nodes[0] is its broker.
type Cluster struct {
	Spec  wire.Spec
	Key   *soc.Key // of the admin, who publishes
	Nodes []*Member
	addr  string // what everybody listens on
}

// Member is one node and all it was delivered.
type Member struct {
	*node.Cohort
	Node *node.Node

	mu   sync.Mutex
	got  map[[32]byte][]byte // payloads by id
	seen int                 // messages, repetitions included
}

// New starts a broker that listens on addr, a multiaddr with port 0, with a
// FEED_TOPIC cohort of one publisher. The test's end closes everything.
func New(t testing.TB, addr string, capacity int) *Cluster {
	t.Helper()
	key, err := soc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	owner := key.Owner()
	c := &Cluster{Key: key, addr: addr, Spec: wire.Spec{
		Topic: wire.Topic(soc.Keccak256([]byte(t.Name()))), Binding: wire.BindingFeedTopic,
		Regime: wire.RegimeExplicitSingle, Admin: owner[:],
	}}
	n := c.node(t, capacity)
	cohort, err := n.Open(c.Spec)
	if err != nil {
		t.Fatal(err)
	}
	c.add(n, cohort)
	return c
}

// Join starts a node that enters at the given member. Capacity is as in
// tree.Config: negative never relays.
func (c *Cluster) Join(t testing.TB, at *Member, capacity int) *Member {
	t.Helper()
	n := c.node(t, capacity)
	cohort, err := n.Join(node.CohortOptions{Topic: c.Spec.Topic, Spec: &c.Spec, Entries: at.Node.Addrs()})
	if err != nil {
		t.Fatal(err)
	}
	return c.add(n, cohort)
}

func (c *Cluster) node(t testing.TB, capacity int) *node.Node {
	t.Helper()
	n, err := node.New(node.Config{Listen: []string{c.addr}, Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

func (c *Cluster) add(n *node.Node, cohort *node.Cohort) *Member {
	m := &Member{Cohort: cohort, Node: n, got: make(map[[32]byte][]byte)}
	cohort.Handle(m.take) // ends with the node
	c.Nodes = append(c.Nodes, m)
	return m
}

func (m *Member) take(msg node.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen++
	m.got[msg.ID] = append([]byte(nil), msg.Payload...)
}

// Broker is the root.
func (c *Cluster) Broker() *Member { return c.Nodes[0] }

// AwaitSettled waits until every node has the parents it wants.
func (c *Cluster) AwaitSettled(t testing.TB) {
	t.Helper()
	Eventually(t, settleLimit, "all settled", func() (bool, string) {
		for i, m := range c.Nodes {
			if v := m.View(); !v.Settled {
				return false, fmt.Sprintf("node %d has %d parents", i, len(v.Parents))
			}
		}
		return true, ""
	})
}

// Views are all nodes' views.
func (c *Cluster) Views() []tree.View {
	views := make([]tree.View, len(c.Nodes))
	for i, m := range c.Nodes {
		views[i] = m.View()
	}
	return views
}

// Cut ends a node as a crash would: its connections and listeners close at once
// and nothing is said to anybody. It is no longer in c.Nodes afterwards.
func (c *Cluster) Cut(t testing.TB, m *Member) {
	t.Helper()
	if err := m.Node.Host().Network().Close(); err != nil {
		t.Fatal(err)
	}
	m.Node.Close()
	for i, x := range c.Nodes {
		if x == m {
			c.Nodes = append(c.Nodes[:i], c.Nodes[i+1:]...)
			return
		}
	}
}

// Publish publishes the payloads at the broker, waiting for each receipt.
func (c *Cluster) Publish(t testing.TB, payloads [][]byte) {
	t.Helper()
	p, err := c.Broker().Publisher(c.Key)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i, payload := range payloads {
		ctx, cancel := context.WithTimeout(t.Context(), settleLimit)
		if _, err := p.Publish(ctx, payload); err != nil {
			t.Fatalf("payload %d: %v", i, err)
		}
		cancel()
	}
}

// AwaitAll waits until every node but the broker has each payload, and checks
// that each came once and byte for byte.
func (c *Cluster) AwaitAll(t testing.TB, payloads [][]byte) {
	t.Helper()
	want := make(map[string]int)
	for _, p := range payloads {
		want[string(p)]++
	}
	for i, m := range c.Nodes[1:] {
		Eventually(t, settleLimit, fmt.Sprintf("node %d has all", i+1), func() (bool, string) {
			m.mu.Lock()
			defer m.mu.Unlock()
			return len(m.got) >= len(payloads), fmt.Sprintf("%d of %d", len(m.got), len(payloads))
		})
		m.mu.Lock()
		if m.seen != len(m.got) || len(m.got) != len(payloads) {
			t.Errorf("node %d: %d messages, %d distinct, %d published", i+1, m.seen, len(m.got), len(payloads))
		}
		for id, p := range m.got {
			if want[string(p)] == 0 {
				t.Errorf("node %d: chunk %x has bytes that nobody published", i+1, id)
			}
		}
		m.mu.Unlock()
	}
}
