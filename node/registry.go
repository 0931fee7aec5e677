package node

import (
	"fmt"
	"slices"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"

	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// registry is the set of a node's cohorts.
type registry struct {
	mu      sync.Mutex
	cohorts map[wire.Topic]*Cohort
	opening map[wire.Topic]bool // being opened, and so taken
	indices map[indexKey]*indices
	closed  bool
}

// indexKey names the feed of one owner in one cohort.
type indexKey struct {
	topic wire.Topic
	owner wire.Owner
}

func newRegistry() registry {
	return registry{
		cohorts: make(map[wire.Topic]*Cohort), opening: make(map[wire.Topic]bool),
		indices: make(map[indexKey]*indices),
	}
}

// Open serves a new cohort with this node as its broker, and stores it, so that a
// restart reopens it, then with the node's Capacity. A cohort that is served here
// already with an equal spec is returned as it is; another spec or part is
// ErrServed. An invalid spec is an error that wraps tree.ErrSpec. At most one opt
// may follow, of which Capacity and Report count.
func (n *Node) Open(spec wire.Spec, opt ...CohortOptions) (*Cohort, error) {
	var o CohortOptions
	switch len(opt) {
	case 0:
	case 1:
		o = opt[0]
	default:
		return nil, fmt.Errorf("node: open: %d options", len(opt))
	}
	if err := tree.ValidateSpec(&spec); err != nil {
		return nil, fmt.Errorf("node: open: %w", err)
	}
	if c := n.Cohort(spec.Topic); c != nil {
		v := c.View()
		if !v.Broker || v.Spec == nil || !v.Spec.Equal(&spec) {
			return nil, fmt.Errorf("node: open %v: %w", spec.Topic, ErrServed)
		}
		return c, nil
	}
	return n.openBroker(spec.Clone(), o, opened{broker: true})
}

// openBroker makes and starts a cohort with this node as its broker, and stores
// it if it is not stored yet. The spec is valid.
func (n *Node) openBroker(spec *wire.Spec, opt CohortOptions, by opened) (*Cohort, error) {
	if w := tree.SpecWarning(spec, func(owner []byte) wire.Topic { return soc.Keccak256(owner) }); w != "" {
		n.log.Warn("cohort opened that may not do what is meant", "topic", spec.Topic.String(), "why", w)
	}
	cfg := tree.Config{Topic: spec.Topic, Spec: spec, Capacity: opt.Capacity}
	if cfg.Capacity == 0 {
		cfg.Capacity = max(n.cfg.Capacity, 0) // a broker relays, whatever the node does elsewhere
	}
	return n.add(cfg, by, opt.Report, func(c *Cohort) error {
		if by.stored {
			return nil
		}
		c.open.stored = true
		return n.store.putCohort(spec, by.by)
	})
}

// Join starts to look for parents in a cohort and returns at once: WaitAttached
// waits (PROTOCOL §5 Join). A topic that is served here already is ErrServed, also
// while this node is leaving it.
func (n *Node) Join(opt CohortOptions) (*Cohort, error) {
	infos, err := addrInfos(opt.Entries)
	if err != nil {
		return nil, err
	}
	if len(infos) > tree.MaxEntries {
		return nil, fmt.Errorf("node: join: %d entries, at most %d", len(infos), tree.MaxEntries)
	}
	var entries []wire.Overlay
	for _, info := range infos {
		o, err := n.dir.pin(info.ID)
		if err != nil {
			return nil, fmt.Errorf("node: join: entry: %w", err)
		}
		n.host.Peerstore().AddAddrs(info.ID, info.Addrs, peerstore.PermanentAddrTTL)
		entries = append(entries, o)
	}
	cfg := tree.Config{
		Topic: opt.Topic, Spec: opt.Spec, Admin: opt.Admin, Publishers: opt.Publishers,
		Capacity: opt.Capacity, Parents: opt.Parents,
	}
	if cfg.Spec != nil {
		cfg.Spec = cfg.Spec.Clone()
	}
	if cfg.Capacity == 0 {
		cfg.Capacity = n.cfg.Capacity
	}
	if cfg.Parents == 0 {
		cfg.Parents = n.cfg.Parents
	}
	return n.add(cfg, opened{}, opt.Report, func(c *Cohort) error {
		c.join(entries)
		return nil
	})
}

// add makes a cohort and starts it, with prepare in between. Nobody else can add
// the same topic meanwhile.
func (n *Node) add(cfg tree.Config, by opened, report func(tree.Report), prepare func(*Cohort) error) (*Cohort, error) {
	if err := n.reserve(cfg.Topic, by); err != nil {
		return nil, err
	}
	c, err := n.newCohort(cfg, by, report)
	if err == nil {
		err = prepare(c)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.opening, cfg.Topic)
	if err == nil && n.closed {
		err = ErrClosed
	}
	if err != nil {
		return nil, err
	}
	n.cohorts[cfg.Topic] = c
	c.start()
	return c, nil
}

// reserve takes a topic for a cohort to come, within the limits.
func (n *Node) reserve(topic wire.Topic, by opened) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.closed:
		return ErrClosed
	case n.cohorts[topic] != nil || n.opening[topic]:
		return fmt.Errorf("node: cohort %v: %w", topic, ErrServed)
	case len(n.cohorts)+len(n.opening) >= n.cfg.Limits.Cohorts:
		n.counts.add(countCohortLimit)
		return fmt.Errorf("node: cohort %v: %w: %d cohorts", topic, ErrLimit, n.cfg.Limits.Cohorts)
	}
	if by.by != "" {
		opened := 0
		for _, c := range n.cohorts {
			if c.open.by == by.by {
				opened++
			}
		}
		if opened >= n.cfg.Limits.OpenedPerPeer {
			n.counts.add(countOpenedPerPeer)
			return fmt.Errorf("node: cohort %v: %w: %d cohorts of one peer", topic, ErrLimit, opened)
		}
	}
	n.opening[topic] = true
	return nil
}

// remove takes a cohort out of the node; false: it was not in any more.
func (n *Node) remove(c *Cohort) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cohorts[c.topic] != c {
		return false
	}
	delete(n.cohorts, c.topic)
	return true
}

// mayOpen says whether a peer may open cohorts here.
func (n *Node) mayOpen(p peer.ID) bool {
	switch n.cfg.OpenPolicy {
	case OpenAnyone:
		return true
	case OpenList:
		return slices.Contains(n.cfg.OpenAllow, p)
	}
	return false
}

// Cohort is the node's part in the cohort of topic, nil if it has none.
func (n *Node) Cohort(topic wire.Topic) *Cohort {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cohorts[topic]
}

// Cohorts are all cohorts, in the order of their topics.
func (n *Node) Cohorts() []*Cohort {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := make([]*Cohort, 0, len(n.cohorts))
	for _, c := range n.cohorts {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *Cohort) int { return slices.Compare(a.topic[:], b.topic[:]) })
	return list
}

// feedIndices is the one counter of an owner's feed.
func (n *Node) feedIndices(topic wire.Topic, owner wire.Owner, first uint64) (*indices, error) {
	n.mu.Lock()
	key := indexKey{topic, owner}
	x := n.indices[key]
	if x == nil {
		x = n.store.indices(topic, owner)
		n.indices[key] = x
	}
	n.mu.Unlock()
	return x, x.load(first)
}
