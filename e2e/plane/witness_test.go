package plane_test

import (
	"context"
	"crypto/sha256"
	"sync"
	"testing"
	"time"

	"github.com/multiformats/go-multiaddr"

	"treecast/e2e/cluster"
	"treecast/node"
	"treecast/wire"
	"treecast/wire/beef"
)

// signed is a place in a feed: what is signed for it may not change.
type signed struct {
	owner wire.Owner
	index uint64
}

// witness is a node in this process that keeps what came under which index.
type witness struct {
	*node.Node
	cohort *node.Cohort

	mu    sync.Mutex
	bytes map[signed][32]byte
}

// newWitness joins the plane at a node.
func newWitness(t *testing.T, at *cluster.Daemon) *witness {
	t.Helper()
	n, err := node.New(node.Config{Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	entry, err := multiaddr.NewMultiaddr(at.Addrs[0])
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{Node: n, bytes: make(map[signed][32]byte)}
	w.cohort, err = n.Join(node.CohortOptions{
		Topic: beef.CohortTopic(beef.BaseGroup), Entries: []multiaddr.Multiaddr{entry}, Capacity: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.cohort.Handle(w.take) // ends with the node
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := w.cohort.WaitAttached(ctx, 1); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *witness) take(m node.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bytes[signed{m.Owner, m.Index}] = sha256.Sum256(m.Payload)
}

// seen is what it kept.
func (w *witness) seen() map[signed][32]byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make(map[signed][32]byte, len(w.bytes))
	for k, v := range w.bytes {
		all[k] = v
	}
	return all
}

// agree checks that no two witnesses were shown different bytes under one index,
// and that no node has seen two chunks signed for one.
func agree(t *testing.T, witnesses []*witness, nodes []*cluster.Daemon) {
	t.Helper()
	all := make(map[signed][32]byte)
	for _, w := range witnesses {
		for at, sum := range w.seen() {
			if known, ok := all[at]; ok && known != sum {
				t.Errorf("index %d of %v was signed with different bytes", at.index, at.owner)
			}
			all[at] = sum
		}
	}
	if len(all) == 0 {
		t.Error("the witnesses saw nothing")
	}
	for _, n := range nodes {
		if c := n.Metric(t, `treecast_cohort_events_total{reason="equivocation"}`); c > 0 {
			t.Errorf("%s saw %v chunks under an index that had another", n.Name, c)
		}
	}
}
