package tree_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"treecast/tree"
	"treecast/wire"
)

// grown is a world of n nodes and a broker, of the same capacity, at rest.
func grown(t *testing.T, seed uint64, n, capacity int) *world {
	w := newWorld(t, seed)
	broker := w.add(tree.Config{Broker: true, Capacity: capacity})
	for range n {
		m := w.add(tree.Config{Capacity: capacity})
		w.plan(w.chance(10*time.Second), func() { w.join(m, broker) })
	}
	w.run(60 * time.Second)
	w.rest("built")
	return w
}

// flow plans chunks from the broker, evenly over d.
func (w *world) flow(from, to uint64, d time.Duration) {
	for at := from; at < to; at++ {
		w.plan(d*time.Duration(at-from)/time.Duration(to-from), func() { w.publish(w.nodes[0], at) })
	}
}

// TestLeave has nodes leave one by one while chunks flow: everybody else gets
// every chunk, whether there was another way or not.
func TestLeave(t *testing.T) {
	for seed := range seeds(8) {
		w := grown(t, seed, 15+int(seed)*5, 3+int(seed%4))
		index := uint64(0)
		for range 5 {
			alive := w.alive()
			leaver := alive[1+w.rng.IntN(len(alive)-1)]
			w.flow(index, index+50, 10*time.Second)
			w.plan(time.Second, func() { leaver.step(tree.Leave{}) })
			w.run(60 * time.Second)
			when := fmt.Sprintf("seed %d, chunk %d", seed, index)
			if !leaver.left {
				t.Errorf("%s: it has not left", when)
			}
			w.rest(when)
			w.complete(when, w.alive(), index, index+50)
			index += 50
		}
	}
}

// TestTogether kills many nodes at the same moment: at rest there is no ring and
// no island, and nobody cuts off another.
func TestTogether(t *testing.T) {
	for seed := range seeds(12) {
		w := grown(t, seed, 20+int(seed)*3, 3+int(seed%4))
		for _, share := range []int{10, 4, 3, 2} {
			alive := w.alive()
			w.rng.Shuffle(len(alive)-1, func(i, j int) { alive[1+i], alive[1+j] = alive[1+j], alive[1+i] })
			for _, m := range alive[1 : 1+len(alive)/share] {
				m.kill(w.chance(500 * time.Millisecond))
			}
			w.run(2 * time.Minute)
			w.rest(fmt.Sprintf("seed %d, 1 of %d", seed, share))
		}
	}
}

// faulty has one node with children fail as fault says, and checks that within 5 s
// of traffic its children have what they want without it, and miss nothing.
func faulty(t *testing.T, fault func(w *world) bool) {
	for seed := range seeds(6) {
		w := grown(t, seed, 20, 4)
		at := slices.IndexFunc(w.nodes, func(m *member) bool {
			v := m.core.View()
			return !v.Broker && len(v.Children) > 1
		})
		bad := w.nodes[at]
		children := bad.core.View().Children
		w.flow(0, 600, 20*time.Second)
		w.run(5 * time.Second)
		bad.fault = func() bool { return fault(w) }
		w.run(5 * time.Second)
		for _, ch := range children {
			others, fed := 0, false
			for _, p := range w.by[ch.Peer].core.View().Parents {
				if p.Peer != bad.self {
					others, fed = others+1, fed || p.Broker
				}
			}
			if others < 2 && !fed {
				t.Errorf("seed %d: %v still depends on it", seed, ch.Peer)
			}
		}
		w.run(60 * time.Second)
		lags := uint64(0)
		for _, m := range w.nodes {
			lags += m.core.Counters()[tree.CountLag]
			if slices.Contains(m.parents(), bad.self) && slices.ContainsFunc(children, func(ch tree.ChildView) bool { return ch.Peer == m.self }) {
				t.Errorf("seed %d: %v is fed by it", seed, m.self)
			}
		}
		w.rest(fmt.Sprint("seed ", seed))
		w.complete(fmt.Sprint("seed ", seed), w.nodes, 0, 600)
		if lags > uint64(len(w.nodes)) {
			t.Errorf("seed %d: %d parents were let go", seed, lags)
		}
	}
}

// A muted parent stays connected and passes nothing on.
func TestMuted(t *testing.T) {
	faulty(t, func(*world) bool { return true })
}

// A withholding parent passes on two chunks of three, by chance.
func TestWithholding(t *testing.T) {
	faulty(t, func(w *world) bool { return w.rng.IntN(3) == 0 })
}

// TestNoLag: parents of very different delay, bursts and pauses are no reason to
// let any of them go.
func TestNoLag(t *testing.T) {
	w := newWorld(t, 1)
	w.far = 300 * time.Millisecond
	broker := w.add(tree.Config{Broker: true, Capacity: 4})
	for range 20 {
		m := w.add(tree.Config{Capacity: 4})
		w.plan(w.chance(10*time.Second), func() { w.join(m, broker) })
	}
	w.flow(0, 500, 5*time.Second)
	w.run(60 * time.Second)
	next := uint64(500)
	for range seeds(20) {
		w.flow(next, next+100, 500*time.Millisecond)
		next += 100
		w.run(time.Duration(1+w.rng.IntN(20)) * time.Second)
	}
	// So dense that only a sample is compared, then all are again.
	for range seeds(3) {
		w.flow(next, next+4000, 5*time.Second)
		w.run(5 * time.Second)
		w.flow(next+4000, next+4200, 15*time.Second)
		next += 4200
		w.run(16 * time.Second)
	}
	for _, m := range w.nodes {
		if n := m.core.Counters()[tree.CountLag]; n > 0 {
			t.Errorf("%v let %d parents go", m.self, n)
		}
	}
}

// TestFromDepth has every node publish: everybody gets every chunk once, and
// every publisher its receipt, after one sending.
func TestFromDepth(t *testing.T) {
	for seed := range seeds(4) {
		w := grown(t, seed, 30, 4)
		index := uint64(0)
		for _, m := range w.nodes {
			for range 3 {
				at := index
				w.plan(w.chance(5*time.Second), func() { w.publish(m, at) })
				index++
			}
		}
		w.run(30 * time.Second)
		w.complete(fmt.Sprint("seed ", seed), w.nodes, 0, index)
		up := uint64(0)
		for i, m := range w.nodes {
			up += m.core.Counters()[tree.CountSentUp]
			for j := range 3 {
				if r := m.receipt[tree.RequestID(3*i+j+1)]; r != tree.ReceiptDone {
					t.Errorf("seed %d: receipt %d of node %d", seed, r, i)
				}
			}
		}
		if most := index * uint64(len(w.nodes)); up > most {
			t.Errorf("seed %d: %d sendings upwards, at most one a chunk and node: %d", seed, up, most)
		}
	}
}

// TestPlainLeaves has plain leaves among the nodes while relays leave and die: all
// get back in, and none is left alone by a parent that leaves.
func TestPlainLeaves(t *testing.T) {
	for seed := range seeds(8) {
		w := newWorld(t, seed)
		broker := w.add(tree.Config{Broker: true, Capacity: 6})
		for i := range 30 {
			if i%4 == 3 {
				m := w.addPlain(broker)
				w.plan(w.chance(10*time.Second), func() { m.plain.join(broker.self) })
				continue
			}
			m := w.add(tree.Config{Capacity: 6})
			w.plan(w.chance(10*time.Second), func() { w.join(m, broker) })
		}
		w.run(60 * time.Second)
		w.rest("built")
		for round := range uint64(6) {
			relays := slices.DeleteFunc(w.alive(), func(m *member) bool { return m == broker || m.plain != nil })
			x := relays[w.rng.IntN(len(relays))]
			// Rather one that feeds a plain leaf.
			for _, m := range relays {
				if slices.ContainsFunc(m.core.View().Children, func(c tree.ChildView) bool { return c.Foreign }) {
					x = m
				}
			}
			when := fmt.Sprintf("seed %d, round %d", seed, round)
			lost := map[*member]int{}
			for _, m := range w.alive() {
				if m.plain != nil {
					lost[m] = m.plain.lost
				}
			}
			from := 100 * round
			w.flow(from, from+100, 10*time.Second)
			if round%2 == 0 {
				w.plan(time.Second, func() { x.step(tree.Leave{}) })
			} else {
				w.plan(time.Second, func() { x.kill(200 * time.Millisecond) })
			}
			w.run(60 * time.Second)
			w.rest(when)
			if round%2 != 0 {
				continue
			}
			w.complete(when, slices.DeleteFunc(w.alive(), func(m *member) bool { return m.plain != nil }), from, from+100)
			for _, m := range w.alive() {
				if m.plain != nil && m.plain.lost > lost[m] {
					t.Errorf("%s: %v was left alone", when, m.self)
				}
			}
		}
	}
}

// TestSmallBroker: a broker of 4 slots, three plain leaves that came first, and 40
// joiners: all attach.
func TestSmallBroker(t *testing.T) {
	for seed := range seeds(5) {
		w := newWorld(t, seed)
		broker := w.add(tree.Config{Broker: true, Capacity: 4})
		for range 3 {
			m := w.addPlain(broker)
			w.plan(w.chance(time.Second), func() { m.plain.join(broker.self) })
		}
		for range 40 {
			m := w.add(tree.Config{Capacity: 4})
			w.plan(2*time.Second+w.chance(5*time.Second), func() { w.join(m, broker) })
		}
		w.run(2 * time.Minute)
		w.rest(fmt.Sprint("seed ", seed))
	}
}

// TestFiveNodes is the ring that the plain rules end in (PROTOCOL §5 Why not the
// plain wave): two slots a node, A and B below the root, C and D below both, E
// below C and D; A fails, then B. The third slots are taken by leaves that never
// move.
func TestFiveNodes(t *testing.T) {
	for seed := range seeds(20) {
		w := newWorld(t, seed)
		root := w.add(tree.Config{Broker: true, Capacity: 3})
		blocked := func(m *member) {
			leaf := w.addPlain(m)
			leaf.plain.stays = true
			w.plan(time.Second, func() { leaf.plain.join(m.self) })
			w.run(2 * time.Second)
		}
		blocked(root)
		var five []*member
		for range 5 {
			five = append(five, w.add(tree.Config{Capacity: 3}))
		}
		if bytes.Compare(five[0].self[:], five[1].self[:]) < 0 { // else A would be B's luxury
			five[0], five[1] = five[1], five[0]
		}
		for _, m := range five {
			w.join(m, root)
			w.run(3 * time.Second)
			blocked(m)
		}
		a, b, c, d, e := five[0], five[1], five[2], five[3], five[4]
		for m, want := range map[*member][]*member{a: {root}, b: {root}, c: {a, b}, d: {a, b}, e: {c, d}} {
			for _, p := range want {
				if !slices.Contains(m.parents(), p.self) {
					t.Fatalf("seed %d: parents %v", seed, m.parents())
				}
			}
		}
		for _, m := range []*member{a, b} {
			m.kill(100 * time.Millisecond)
			w.run(60 * time.Second)
			if w.ring() {
				t.Errorf("seed %d: a ring", seed)
			}
			reached := w.reached(wire.Overlay{})
			for _, m := range []*member{b, c, d, e} {
				if !m.dead && !reached[m.self] {
					t.Errorf("seed %d: an island of %v", seed, m.parents())
				}
			}
		}
	}
}
