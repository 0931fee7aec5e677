package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"treecast/cmd/treecast/internal/beefnode"
	"treecast/cmd/treecast/internal/view"
	"treecast/node"
	"treecast/node/lane"
	"treecast/tree"
	"treecast/wire"
)

// topic is what the objects are submitted under and what consumers elect.
const topic = "tm_demo"

// pollEvery is how often the network is looked at while something is waited for.
const pollEvery = 5 * time.Millisecond

// A member is one node of the network.
type member struct {
	name     string
	run      *beefnode.Running
	consumer bool
	cut      bool   // cut off, or left
	bytesOut uint64 // on streams, of a node that is gone
}

// network is all nodes; the first is the broker.
type network struct {
	cfg     *Config
	members []*member
	wg      sync.WaitGroup // ends members that were cut off or leave
}

func (n *network) broker() *member { return n.members[0] }

// listen is the multiaddr that each node listens on.
func (n *network) listen() []string {
	if n.cfg.Transport == "quic" {
		return []string{"/ip4/127.0.0.1/udp/0/quic-v1"}
	}
	return []string{"/ip4/127.0.0.1/tcp/0"}
}

// startBroker starts the broker, with a door that has no rate limit.
func (n *network) startBroker() error {
	return n.start(&member{name: "broker"}, beefnode.Config{
		Broker:        true,
		Doors:         []lane.Door{{Addr: "127.0.0.1:0"}},
		IngressLimits: lane.IngressLimits{Objects: -1, Bytes: -1, NodeObjects: -1},
		API:           n.cfg.API,
	})
}

func (n *network) startRelay(i int) error {
	return n.start(&member{name: fmt.Sprintf("R%d", i+1)}, beefnode.Config{})
}

// startLeaf starts a node that never relays and dials the consumer.
func (n *network) startLeaf(i int, s *sink) error {
	dial, err := lane.ParseDial(s.name + "@" + s.addr() + "=" + topic)
	if err != nil {
		return err
	}
	return n.start(&member{name: fmt.Sprintf("C%d", i+1), consumer: true}, beefnode.Config{
		Node:       node.Config{Capacity: -1},
		EgressDial: []lane.DialConfig{dial},
	})
}

func (n *network) start(m *member, cfg beefnode.Config) error {
	cfg.Log = n.cfg.Log.With("name", m.name)
	cfg.Node.Listen = n.listen()
	if cfg.Node.Capacity == 0 {
		cfg.Node.Capacity = n.cfg.Capacity
	}
	if len(n.members) > 0 {
		cfg.Join = []beefnode.Join{{Topic: beefnode.Topic(), Entries: n.broker().run.Node().Addrs()}}
	}
	run, err := beefnode.Start(cfg)
	if err != nil {
		return fmt.Errorf("demo: start %s: %w", m.name, err)
	}
	m.run = run
	n.members = append(n.members, m)
	return nil
}

// door is the address of the broker's ingress.
func (n *network) door() net.Addr { return n.broker().run.Doors()[0] }

// awaitSettled waits until every node has the parents it wants.
func (n *network) awaitSettled(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		settled, total := n.settled()
		if settled == total {
			return nil
		}
		n.cfg.Progress("joining", settled, total)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("demo: %d of %d nodes have the parents they want: %w", settled, total, context.Cause(ctx))
		}
	}
}

func (n *network) settled() (settled, total int) {
	for _, m := range n.members {
		if m.cut {
			continue
		}
		total++
		if m.run.Cohort().View().Settled {
			settled++
		}
	}
	return settled, total
}

// views looks at every node that is not cut off.
func (n *network) views() graph {
	g := graph{views: make(map[wire.Overlay]tree.View), members: make(map[wire.Overlay]*member)}
	for _, m := range n.members {
		if m.cut {
			continue
		}
		v := m.run.Cohort().View()
		g.views[v.Self] = v
		g.members[v.Self] = m
		g.order = append(g.order, v.Self)
	}
	return g
}

// cutOff ends a node as a crash would: its connections and listeners close at
// once, nothing is said to anybody. What is left of it is cleaned up behind.
func (n *network) cutOff(m *member) error {
	m.gone()
	err := m.run.Node().Host().Network().Close()
	n.wg.Go(func() { m.run.Close() }) // ends by itself
	if err != nil {
		return fmt.Errorf("demo: cut off %s: %w", m.name, err)
	}
	return nil
}

// recovered is how many chunks the consumers' nodes had to ask for.
func (n *network) recovered() (sum int) {
	for _, m := range n.members {
		if m.consumer && !m.cut {
			sum += int(m.run.Cohort().Counters()[tree.CountRecovered])
		}
	}
	return sum
}

// gone takes a node that has ended, or is about to, out of all that is looked at.
func (m *member) gone() {
	m.bytesOut = m.run.Node().Stats().BytesOut
	m.cut = true
}

// bytesOut are the bytes that all nodes have sent on the tree's streams.
func (n *network) bytesOut() (sum uint64) {
	for _, m := range n.members {
		if m.cut {
			sum += m.bytesOut
		} else {
			sum += m.run.Node().Stats().BytesOut
		}
	}
	return sum
}

// drawn is the network for drawing.
func (n *network) drawn() []view.Node {
	g := n.views()
	var nodes []view.Node
	for _, o := range g.order {
		v := g.views[o]
		d := view.Node{
			Name: g.members[o].name, Overlay: o, Band: v.Band,
			Capacity: max(0, v.Capacity), Children: len(v.Children), Parents: g.parents(o),
		}
		if g.members[o].consumer {
			d.Note = "consumer " + strconv.Itoa(n.consumerNumber(g.members[o]))
		}
		nodes = append(nodes, d)
	}
	return nodes
}

func (n *network) consumerNumber(m *member) (number int) {
	for _, x := range n.members {
		if x.consumer {
			number++
		}
		if x == m {
			break
		}
	}
	return number
}

// close ends all nodes, consumers' first.
func (n *network) close() error {
	var errs []error
	for i := len(n.members) - 1; i >= 0; i-- {
		if m := n.members[i]; !m.cut {
			errs = append(errs, m.run.Close())
		}
	}
	n.wg.Wait()
	return errors.Join(errs...)
}
