package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"treecast/node"
	"treecast/tree"
	"treecast/wire/soc"
)

// cohortTime is about how long a further cohort takes to stand.
const cohortTime = 500 * time.Millisecond

// A forest is many cohorts on the same hosts, all of one publisher, the first host.
// Messages go to one cohort after the other.
type forest struct {
	*treeNet
	trees [][]*node.Cohort // by cohort, then member
	pubs  []*node.Publisher
	turn  int
	locks []sync.Mutex // of each subscriber, whose cohorts have a goroutine each
}

// newForest starts n nodes and has all of them join all cohorts.
func newForest(ctx context.Context, n, cohorts int) (_ *forest, err error) {
	f := &forest{treeNet: &treeNet{}, locks: make([]sync.Mutex, n)}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	for range n {
		m, err := newTreeMember(&f.sent)
		if err != nil {
			return nil, err
		}
		f.members = append(f.members, m)
	}
	key, err := soc.NewKey()
	if err != nil {
		return nil, err
	}
	for i := range cohorts {
		if err := f.plant(ctx, fmt.Sprint("tree ", i), key); err != nil {
			return nil, err
		}
	}
	return f, until(ctx, "all nodes have their parents", func() bool {
		for _, t := range f.trees {
			for _, c := range t {
				if v := c.View(); !v.Settled || len(v.Parents) > 2 {
					return false
				}
			}
		}
		return true
	})
}

// plant adds one cohort.
func (f *forest) plant(ctx context.Context, name string, key *soc.Key) error {
	spec := specOf(name, key.Owner())
	var list []*node.Cohort
	for i, m := range f.members {
		var c *node.Cohort
		var err error
		if i == 0 {
			c, err = m.node.Open(spec, node.CohortOptions{Topic: spec.Topic, Capacity: slots})
		} else {
			c, err = m.node.Join(node.CohortOptions{Topic: spec.Topic, Spec: &spec, Entries: f.members[0].node.Addrs(), Capacity: slots, Parents: 2})
		}
		if err != nil {
			return err
		}
		m.cohort = c
		list = append(list, c)
		if i > 0 {
			c.Handle(func(msg node.Message) { f.take(i-1, msg.Payload) }) // ends with the node
			if err := c.WaitAttached(ctx, 2); err != nil {
				return fmt.Errorf("bench: %s: node %d: %w", name, i, err)
			}
		}
	}
	f.trees = append(f.trees, list)
	pub, err := list[0].Publisher(key)
	if err == nil {
		f.pubs = append(f.pubs, pub)
	}
	return err
}

func (f *forest) take(sub int, payload []byte) {
	r := f.books.Load()
	if r == nil {
		return
	}
	f.locks[sub].Lock()
	defer f.locks[sub].Unlock()
	r.take(sub, payload)
}

func (f *forest) publish(payload []byte) error {
	f.pub = f.pubs[f.turn]
	f.turn = (f.turn + 1) % len(f.pubs)
	return f.treeNet.publish(payload)
}

func (f *forest) copies() (n uint64) {
	for _, t := range f.trees {
		for _, c := range t[1:] {
			k := c.Counters()
			n += k[tree.CountDelivered] + k[tree.CountDuplicate]
		}
	}
	return n
}

// shape is the mean of the trees' shapes, of their depths the largest.
func (f *forest) shape() Figures {
	out := Figures{}
	for _, t := range f.trees {
		views := make([]tree.View, len(t))
		for i, c := range t {
			views[i] = c.View()
		}
		for name, v := range shapeOf(views) {
			if name == "max_depth" {
				out[name] = max(out[name], v)
				continue
			}
			out[name] += v / float64(len(f.trees))
		}
	}
	return out
}

func (f *forest) close() error {
	for _, p := range f.pubs {
		p.Close()
	}
	f.pub = nil
	return f.treeNet.close()
}
