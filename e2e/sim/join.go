package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"treecast/tree"
	"treecast/wire"
)

// discoverEvery is how long a node goes on with the entry points it has before
// it looks for others (PROTOCOL §9).
const discoverEvery = int64(5 * time.Second)

// recentChunks is how many chunks a core remembers to tell an equivocation: a
// tenth of a second's worth in the daemon, here a few, as a million cores do it.
const recentChunks = 16

// addBroker makes node 0.
func (w *world) addBroker() error {
	w.nodes = append(w.nodes, node{
		state: stateLive, streams: -1, pos: -1, capacity: int32(w.cfg.BrokerCapacity),
		flags: flags{attached: true, settled: true, joined: true},
	})
	n := &w.nodes[0]
	if w.cfg.Rules == RulesPlain {
		n.kind = kindPlain
	}
	var err error
	n.m, err = w.machine(0)
	if n.kind == kindOurs {
		n.band = 1
	}
	return err
}

// addNode makes a node that has yet to start. The same number of draws is made
// for each, whatever the shares are.
func (w *world) addNode(kind nodeKind) int32 {
	i := int32(len(w.nodes))
	n := node{streams: -1, capacity: int32(w.cfg.Capacity)}
	relays, foreign, half, lies, how := w.rng.Float64(), w.rng.Float64(), w.rng.IntN(2), w.rng.Float64(), w.rng.IntN(int(lieKinds))
	switch {
	case kind != kindOurs:
		n.kind = kind
	case w.cfg.Rules == RulesPlain:
		n.kind = kindPlain
	case foreign < w.cfg.Foreign:
		n.kind = kindPlain + nodeKind(half)
	case lies < w.cfg.Liars:
		n.lie = lie(how + 1)
	}
	if relays >= w.cfg.Relays || n.kind == kindLeaf60 {
		n.capacity = 0
	}
	w.nodes = append(w.nodes, n)
	return i
}

// machine makes what node i runs.
func (w *world) machine(i int32) (machine, error) {
	n := &w.nodes[i]
	rng := rand.New(rand.NewPCG(w.cfg.Seed, mix(uint64(i))))
	if n.kind != kindOurs {
		return newPlain(w.overlay(i), w.overlay(0), i == 0, n.kind == kindLeaf60, int(n.capacity), &w.spec, rng), nil
	}
	cfg := tree.Config{
		Self: w.overlay(i), Topic: w.spec.Topic, Capacity: int(n.capacity), ProbeBudget: w.cfg.Budget,
		Recent: recentChunks, PublishRate: -1, Rand: rng,
	}
	if n.capacity == 0 {
		cfg.Capacity = -1
	}
	if i == 0 {
		cfg.Broker, cfg.Spec = true, &w.spec
	}
	c, err := tree.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("sim: node %d: %w", i, err)
	}
	return ours{c}, nil
}

// start lets a node join.
func (w *world) start(i int32) {
	m, err := w.machine(i)
	if err != nil {
		panic(err) // Config was checked
	}
	n := &w.nodes[i]
	n.m, n.state, n.joinAt = m, stateLive, w.now
	w.enlist(i)
	w.joining++
	w.unsettled++
	w.step(i, tree.Join{Entries: w.entries(i)})
}

// entries are the entry points of node i: the broker, or three attached nodes by
// chance and the broker after them, as it provides the topic too (PROTOCOL §9).
func (w *world) entries(i int32) []wire.Overlay {
	if w.cfg.Entry == EntryBroker || len(w.live) < 4 {
		return []wire.Overlay{w.overlay(0)}
	}
	var list []wire.Overlay
	for range 12 {
		at := w.live[w.rng.IntN(len(w.live))]
		if n := &w.nodes[at]; at == i || n.state != stateLive || n.kind == kindLeaf60 || len(n.parents) == 0 {
			continue
		}
		if o := w.overlay(at); !slices.Contains(list, o) {
			list = append(list, o)
		}
		if len(list) == 3 {
			break
		}
	}
	return append(list, w.overlay(0))
}

// planDiscover lets a node without a parent find other entry points, a round
// trip from now and not too often.
func (w *world) planDiscover(i int32) {
	n := &w.nodes[i]
	at := max(w.now+int64(w.cfg.RTTMedian), n.discover)
	if n.discover > w.now {
		return // planned already, or just done
	}
	n.discover = at + discoverEvery
	w.q.push(evDiscover, event{at: at, node: i})
}

// rejoin gives a node new entry points, if it still has no parent.
func (w *world) rejoin(i int32) {
	if n := &w.nodes[i]; n.state == stateLive && len(n.parents) == 0 {
		w.step(i, tree.Join{Entries: w.entries(i)})
	}
}
