package cluster

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"

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
	// Disturbed says that something was done to it, so that it may lack chunks.
	Disturbed bool

	key      *soc.Key // of the node; nil for a host that was given
	capacity int

	mu   sync.Mutex
	got  map[[32]byte][]byte // payloads by id
	seen int                 // messages, repetitions included
}

// New starts a broker that listens on addr, a multiaddr with port 0, with a
// FEED_TOPIC cohort of one publisher. The test's end closes everything.
func New(t testing.TB, addr string, capacity int) *Cluster {
	t.Helper()
	key := newKey(t)
	owner := key.Owner()
	c := &Cluster{Key: key, addr: addr, Spec: wire.Spec{
		Topic: wire.Topic(soc.Keccak256([]byte(t.Name()))), Binding: wire.BindingFeedTopic,
		Regime: wire.RegimeExplicitSingle, Admin: owner[:],
	}}
	n := c.node(t, node.Config{Listen: []string{addr}, Capacity: capacity})
	cohort, err := n.Open(c.Spec)
	if err != nil {
		t.Fatal(err)
	}
	c.add(&Member{Node: n, Cohort: cohort, capacity: capacity})
	return c
}

func newKey(t testing.TB) *soc.Key {
	t.Helper()
	key, err := soc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Join starts a node that enters at the given member. Capacity is as in
// tree.Config: negative never relays.
func (c *Cluster) Join(t testing.TB, at *Member, capacity int) *Member {
	t.Helper()
	return c.enter(t, at, node.Config{Listen: []string{c.addr}, Key: newKey(t)}, capacity)
}

// JoinMuffled starts a node whose host can withhold chunks from its children.
func (c *Cluster) JoinMuffled(t testing.TB, at *Member, capacity int) (*Member, *Muffle) {
	t.Helper()
	h, err := libp2p.New(libp2p.ListenAddrStrings(c.addr), libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	m := &Muffle{Host: h}
	return c.enter(t, at, node.Config{Host: m}, capacity), m
}

// Restart starts a node that was cut off again, with its key.
func (c *Cluster) Restart(t testing.TB, m *Member) *Member {
	t.Helper()
	again := c.enter(t, c.Broker(), node.Config{Listen: []string{c.addr}, Key: m.key}, m.capacity)
	again.Disturbed = true
	return again
}

func (c *Cluster) enter(t testing.TB, at *Member, cfg node.Config, capacity int) *Member {
	t.Helper()
	n := c.node(t, cfg)
	cohort, err := n.Join(node.CohortOptions{Topic: c.Spec.Topic, Spec: &c.Spec, Entries: at.Node.Addrs(), Capacity: capacity})
	if err != nil {
		t.Fatal(err)
	}
	return c.add(&Member{Node: n, Cohort: cohort, key: cfg.Key, capacity: capacity})
}

func (c *Cluster) node(t testing.TB, cfg node.Config) *node.Node {
	t.Helper()
	n, err := node.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

func (c *Cluster) add(m *Member) *Member {
	m.got = make(map[[32]byte][]byte)
	m.Handle(m.take) // ends with the node
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

// Children are the members that have m as a parent.
func (c *Cluster) Children(m *Member) (list []*Member) {
	for _, x := range c.Nodes {
		if x.HasParent(m.Node.Overlay()) {
			list = append(list, x)
		}
	}
	return list
}

// HasParent says whether m has that parent.
func (m *Member) HasParent(o wire.Overlay) bool {
	for _, p := range m.View().Parents {
		if p.Peer == o {
			return true
		}
	}
	return false
}

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

// AwaitRest waits until the network keeps its invariants, which a view taken
// while something moves need not.
func (c *Cluster) AwaitRest(t testing.TB) {
	t.Helper()
	c.AwaitSettled(t)
	Eventually(t, settleLimit, "at rest", func() (bool, string) {
		err := CheckRest(c.Views())
		return err == nil, fmt.Sprint(err)
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
	c.remove(m)
}

// Leave has a node leave gracefully. It is no longer in c.Nodes afterwards.
func (c *Cluster) Leave(t testing.TB, m *Member) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), settleLimit)
	defer cancel()
	if err := m.Node.Leave(ctx); err != nil {
		t.Error(err)
	}
	c.remove(m)
}

func (c *Cluster) remove(m *Member) {
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

// StartLoad publishes chunks of 1 KiB at the broker, rate a second, until the
// stop that it returns is called, which returns what was published.
func (c *Cluster) StartLoad(t testing.TB, rate float64) (stop func() [][]byte) {
	t.Helper()
	p, err := c.Broker().Publisher(c.Key)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var payloads [][]byte
	var failed error
	done := make(chan struct{})
	go func() { // ends with ctx
		defer close(done)
		defer p.Close()
		load, err := Pace(ctx, rate, 1<<20, func(i int) error {
			payload := append(fmt.Appendf(nil, "%08d", i), make([]byte, 1016)...)
			if _, err := p.Publish(context.Background(), payload); err != nil {
				return err
			}
			payloads = append(payloads, payload)
			return nil
		})
		if err != ctx.Err() {
			failed = err
		}
		t.Logf("%d chunks, the generator at most %v late", load.Sent, load.Late)
	}()
	end := sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(end)
	return func() [][]byte {
		t.Helper()
		if end(); failed != nil {
			t.Fatal(failed)
		}
		return payloads
	}
}

// AwaitAll waits until every node but the broker and those disturbed has each
// payload, and checks that each came once and byte for byte.
func (c *Cluster) AwaitAll(t testing.TB, payloads [][]byte) {
	t.Helper()
	want := make(map[string]int)
	for _, p := range payloads {
		want[string(p)]++
	}
	for i, m := range c.Nodes[1:] {
		if m.Disturbed {
			continue
		}
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
