package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"treecast/node"
	"treecast/node/retain"
	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// slots is how many children any node of a tree has room for, the broker too.
const slots = 8

// settleLimit is how long a network may take to be ready.
const settleLimit = 60 * time.Second

// treeNet is our side: one cohort, its broker the publisher.
type treeNet struct {
	sent    traffic
	members []*treeMember  // the broker first
	takers  []*meteredHost // subscribers that are no nodes, if there are any
	pub     *node.Publisher
	failed  atomic.Pointer[error]
	books   atomic.Pointer[reader]
}

type treeMember struct {
	host   *meteredHost
	node   *node.Node
	cohort *node.Cohort
	gone   bool
}

// newTree starts n nodes, one after the other, and waits until all have the
// parents they want.
func newTree(ctx context.Context, n, parents int) (_ *treeNet, err error) {
	t := &treeNet{}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	key, err := soc.NewKey()
	if err != nil {
		return nil, err
	}
	spec := specOf("bench", key.Owner())
	for i := range n {
		m, err := newTreeMember(&t.sent)
		if err != nil {
			return nil, err
		}
		t.members = append(t.members, m)
		if i == 0 {
			m.cohort, err = m.node.Open(spec, node.CohortOptions{Topic: spec.Topic, Capacity: slots})
		} else {
			m.cohort, err = m.node.Join(node.CohortOptions{
				Topic: spec.Topic, Spec: &spec, Entries: t.members[0].node.Addrs(), Capacity: slots, Parents: parents,
			})
		}
		if err != nil {
			return nil, err
		}
		if i > 0 {
			t.listen(i-1, m)
			if err := m.cohort.WaitAttached(ctx, parents); err != nil {
				return nil, fmt.Errorf("bench: node %d: %w", i, err)
			}
		}
	}
	if t.pub, err = t.members[0].cohort.Publisher(key); err != nil {
		return nil, err
	}
	return t, t.settle(ctx)
}

// specOf is the cohort of one publisher under a name.
func specOf(name string, owner soc.Owner) wire.Spec {
	return wire.Spec{
		Topic: wire.Topic(soc.Keccak256([]byte(name))), Binding: wire.BindingFeedTopic,
		Regime: wire.RegimeExplicitSingle, Admin: owner[:],
	}
}

// ringBytes is what a node keeps in memory of what came last. The product's default
// is 15 s, which one node has room for and which a run would not fill: it would
// measure how fast a machine hands out fresh pages. At a closed loop's pace these
// bytes are two seconds.
const ringBytes = 8 << 20

// withRing is a node that keeps so many bytes in memory.
func withRing(bytes int) node.Config {
	return node.Config{Retain: node.Retain{Ring: retain.RingConfig{Min: bytes, Max: bytes}}}
}

func newTreeMember(sent *traffic) (*treeMember, error) { return newMemberOf(sent, withRing(ringBytes)) }

// newMemberOf starts a node of a given configuration on a host of its own.
func newMemberOf(sent *traffic, cfg node.Config) (*treeMember, error) {
	h, err := newSecpHost(sent)
	if err != nil {
		return nil, err
	}
	cfg.Host = h
	n, err := node.New(cfg)
	if err != nil {
		h.Close()
		return nil, err
	}
	return &treeMember{host: h, node: n}, nil
}

func (t *treeNet) listen(sub int, m *treeMember) {
	take := t.taking(sub)
	m.cohort.Handle(func(msg node.Message) { take(msg.Payload) }) // ends with the node
}

// taking is what a subscriber does with a payload.
func (t *treeNet) taking(sub int) func(payload []byte) {
	return func(payload []byte) {
		if r := t.books.Load(); r != nil {
			r.take(sub, payload)
		}
	}
}

// settle waits until all nodes have the parents they want, and no more: one that
// is let go feeds on for a while.
func (t *treeNet) settle(ctx context.Context) error {
	return until(ctx, "all nodes have their parents", func() bool {
		for _, m := range t.members {
			if v := m.cohort.View(); !v.Settled || len(v.Parents) > 2 {
				return false
			}
		}
		return true
	})
}

func (t *treeNet) attach(r *reader)  { t.books.Store(r) }
func (t *treeNet) traffic() *traffic { return &t.sent }
func (t *treeNet) subscribers() int  { return len(t.members) - 1 + len(t.takers) }

func (t *treeNet) links() int {
	hosts := make([]*meteredHost, len(t.members))
	for i, m := range t.members {
		hosts[i] = m.host
	}
	return connections(hosts)
}

func (t *treeNet) publish(payload []byte) error {
	if err := t.failed.Load(); err != nil {
		return *err
	}
	index, err := t.pub.Reserve(1)
	if err != nil {
		return err
	}
	t.pub.PublishAtAsync(index, payload, func(err error) {
		if err != nil {
			t.failed.Store(&err)
		}
	})
	return nil
}

// copies are the chunks that came in at all nodes but the broker, those that are
// gone included: what they were given counts as delivered too.
func (t *treeNet) copies() uint64 {
	var n atomic.Uint64
	t.askAll(func(i int, m *treeMember) {
		if i > 0 {
			c := m.cohort.Counters()
			n.Add(c[tree.CountDelivered] + c[tree.CountDuplicate])
		}
	})
	return n.Load()
}

// askAll asks all members at the same time, as a busy one answers in its turn only.
func (t *treeNet) askAll(ask func(i int, m *treeMember)) {
	var wg sync.WaitGroup
	for i, m := range t.members {
		wg.Go(func() { ask(i, m) })
	}
	wg.Wait()
}

// asked is how often nodes asked for chunks that did not come (PROTOCOL §8).
func (t *treeNet) asked() (n uint64) {
	for _, m := range t.members {
		n += m.node.Stats().Counters["recover_asked"]
	}
	return n
}

// victims are the k nodes with the most children, the broker left out: what
// hurts most.
func (t *treeNet) victims(k int) (list []int) {
	type relay struct{ sub, children int }
	var relays []relay
	for i, m := range t.members[1:] {
		if !m.gone {
			relays = append(relays, relay{i, len(m.cohort.View().Children)})
		}
	}
	slices.SortStableFunc(relays, func(a, b relay) int { return b.children - a.children })
	for _, r := range relays[:k] {
		list = append(list, r.sub)
	}
	return list
}

func (t *treeNet) kill(sub int) {
	m := t.members[sub+1]
	m.gone = true
	m.host.cut()
	m.node.Close()
}

func (t *treeNet) mute(sub int) {
	m := t.members[sub+1]
	m.gone = true
	m.host.mute()
}

// shape tells what the tree looks like now.
func (t *treeNet) shape() Figures {
	views := make([]tree.View, len(t.members))
	t.askAll(func(i int, m *treeMember) { views[i] = m.cohort.View() })
	return shapeOf(views)
}

// shapeOf computes max_depth, the fewest steps from the broker to the node
// farthest from it; mean_parents, over all nodes but the broker; and
// dual_parented, the share of nodes with two parents among those not under the
// broker.
func shapeOf(views []tree.View) Figures {
	depth := map[wire.Overlay]int{}
	for i := range views {
		if views[i].Broker {
			depth[views[i].Self] = 0
		}
	}
	deepest := 0
	for level := 1; level <= len(views); level++ {
		for i := range views {
			v := &views[i]
			if _, known := depth[v.Self]; known {
				continue
			}
			for _, p := range v.Parents {
				if d, ok := depth[p.Peer]; ok && d == level-1 {
					depth[v.Self], deepest = level, level
					break
				}
			}
		}
	}
	parents, below, dual := 0, 0, 0
	for i := range views {
		v := &views[i]
		if v.Broker {
			continue
		}
		parents += len(v.Parents)
		if d, ok := depth[v.Self]; !ok || d > 1 {
			below++
			if len(v.Parents) >= 2 {
				dual++
			}
		}
	}
	f := Figures{"max_depth": float64(deepest), "mean_parents": float64(parents) / float64(max(1, len(views)-1)), "dual_parented": 1}
	if below > 0 {
		f["dual_parented"] = float64(dual) / float64(below)
	}
	return f
}

func (t *treeNet) close() error {
	if t.pub != nil {
		t.pub.Close()
	}
	var errs []error
	for _, h := range t.takers {
		errs = append(errs, h.Close())
	}
	for _, m := range slices.Backward(t.members) {
		errs = append(errs, m.close())
	}
	return errors.Join(errs...)
}

func (m *treeMember) close() error { return errors.Join(m.node.Close(), m.host.Close()) }

// until waits for a condition that is looked at 50 times a second.
func until(ctx context.Context, what string, ok func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("bench: waiting until %s: %w", what, ctx.Err())
		}
	}
	return nil
}

// seqOf reads the number that stands in a payload at an offset.
func seqOf(payload []byte, at int) int64 {
	if len(payload) < at+8 {
		return -1
	}
	return int64(binary.BigEndian.Uint64(payload[at:]))
}
