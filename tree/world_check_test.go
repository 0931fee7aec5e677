package tree_test

import (
	"slices"
	"time"

	"treecast/tree"
	"treecast/wire"
)

// alive are the nodes that were not killed.
func (w *world) alive() (alive []*member) {
	for _, m := range w.nodes {
		if !m.dead {
			alive = append(alive, m)
		}
	}
	return alive
}

// of are the live nodes in a set.
func (w *world) of(set map[wire.Overlay]bool) (list []*member) {
	for _, m := range w.alive() {
		if set[m.self] {
			list = append(list, m)
		}
	}
	return list
}

// parents are the peers that feed a node, by its own word.
func (m *member) parents() (list []wire.Overlay) {
	if m.plain != nil {
		return m.plain.parents()
	}
	for _, p := range m.core.View().Parents {
		list = append(list, p.Peer)
	}
	return list
}

// feeders are the live parents of each live node.
func (w *world) feeders() map[wire.Overlay][]wire.Overlay {
	parents := map[wire.Overlay][]wire.Overlay{}
	for _, m := range w.alive() {
		for _, p := range m.parents() {
			if !w.by[p].dead {
				parents[m.self] = append(parents[m.self], p)
			}
		}
	}
	return parents
}

// ring says whether following parents leads back to where it began.
func (w *world) ring() bool {
	parents := w.feeders()
	const open, done = 1, 2
	state := map[wire.Overlay]int{}
	var visit func(o wire.Overlay) bool
	visit = func(o wire.Overlay) bool {
		state[o] = open
		for _, p := range parents[o] {
			if state[p] == open || state[p] == 0 && visit(p) {
				return true
			}
		}
		state[o] = done
		return false
	}
	for _, m := range w.alive() {
		if state[m.self] == 0 && visit(m.self) {
			return true
		}
	}
	return false
}

// reached are the live nodes that the broker feeds when one node is taken away.
func (w *world) reached(without wire.Overlay) map[wire.Overlay]bool {
	parents := w.feeders()
	ok := map[wire.Overlay]bool{w.nodes[0].self: true}
	for again := true; again; {
		again = false
		for _, m := range w.alive() {
			if ok[m.self] || m.self == without {
				continue
			}
			for _, p := range parents[m.self] {
				if ok[p] && p != without {
					ok[m.self], again = true, true
				}
			}
		}
	}
	return ok
}

// single counts the nodes that have neither two parents nor the broker.
func (w *world) single() (n int) {
	for _, m := range w.alive() {
		if m.plain != nil {
			continue
		}
		if v := m.core.View(); !v.Broker && len(v.Parents) < 2 && (len(v.Parents) == 0 || !v.Parents[0].Broker) {
			n++
		}
	}
	return n
}

func (w *world) join(m *member, at *member) {
	m.step(tree.Join{Entries: []wire.Overlay{at.self}})
}

// settle lets time pass until nobody lacks anything, at most so long that whoever
// waits for the broker to make room has had its turn.
func (w *world) settle() {
	for range 10 {
		w.run(time.Minute)
		if !slices.ContainsFunc(w.alive(), func(m *member) bool { return w.neglected(m) != nil }) {
			return
		}
	}
}

// rest checks what holds when nothing is under way.
func (w *world) rest(when string) {
	w.t.Helper()
	if w.ring() {
		w.t.Errorf("%s: a ring", when)
	}
	reached := w.reached(wire.Overlay{})
	for _, m := range w.alive() {
		if !reached[m.self] && len(m.parents()) > 0 {
			w.t.Errorf("%s: %v is on an island", when, m.self)
		}
		if by := w.neglected(m); by != nil {
			w.t.Errorf("%s: %v has %d parents, and %v would have a slot", when, m.self, len(m.parents()), by.self)
		}
	}
	w.uncut(when)
}

// neglected is a node at which m, which lacks a parent, could have one; nil if
// there is none, or m has what it wants.
func (w *world) neglected(m *member) *member {
	if m.plain != nil {
		return w.shutOut(m)
	}
	v := m.core.View()
	if v.Settled {
		return nil
	}
	for _, o := range w.alive() {
		if o == m || o.plain != nil || slices.Contains(m.parents(), o.self) || slices.Contains(o.parents(), m.self) {
			continue
		}
		ov := o.core.View()
		above := rank(ov).Less(rank(v))
		switch {
		case ov.Capacity == 0 || !ov.Attached || len(v.Children) > 0 && !above:
		case len(ov.Children) < ov.Capacity:
			return o
		case slices.ContainsFunc(ov.Children, func(ch tree.ChildView) bool { return w.moves(v, w.by[ch.Peer]) }):
			return o
		}
	}
	return nil
}

// shutOut is a node that has a slot for the plain leaf m, which has no parent.
func (w *world) shutOut(m *member) *member {
	if len(m.parents()) > 0 || m.plain.stays {
		return nil
	}
	for _, o := range w.alive() {
		if o.plain != nil {
			continue
		}
		v, foreign := o.core.View(), 0
		for _, ch := range v.Children {
			if ch.Foreign {
				foreign++
			}
		}
		if v.Attached && len(v.Children) < v.Capacity && foreign < v.Capacity/2 {
			return o
		}
	}
	return nil
}

func rank(v tree.View) tree.Rank { return tree.Rank{Band: v.Band, Overlay: v.Self} }

// moves says whether a child would have to make room for the node that v shows.
func (w *world) moves(v tree.View, child *member) bool {
	if child.plain != nil {
		return false
	}
	ch := child.core.View()
	if len(v.Children) == 0 {
		return v.Capacity > 0 && ch.Capacity == 0
	}
	return ch.Capacity == 0 || len(ch.Children) == 0 || rank(v).Less(rank(ch))
}

// uncut checks that no node but the broker cuts off another that has two parents,
// or the broker, and whose ancestors all have.
func (w *world) uncut(when string) {
	w.t.Helper()
	parents := w.feeders()
	broker := w.nodes[0].self
	safe := map[wire.Overlay]bool{broker: true}
	for again := true; again; {
		again = false
		for _, m := range w.alive() {
			up := parents[m.self]
			fed := slices.Contains(up, broker)
			if safe[m.self] || m.plain != nil || len(up) < 2 && !fed {
				continue
			}
			if fed || !slices.ContainsFunc(up, func(p wire.Overlay) bool { return !safe[p] }) {
				safe[m.self], again = true, true
			}
		}
	}
	for _, x := range w.alive()[1:] {
		reached := w.reached(x.self)
		for _, m := range w.of(safe) {
			if m != x && !reached[m.self] {
				w.t.Errorf("%s: %v cuts off %v", when, x.self, m.self)
			}
		}
	}
}

// complete checks that each of the nodes has the chunks from index from to below to, once each.
func (w *world) complete(when string, nodes []*member, from, to uint64) {
	w.t.Helper()
	for i, m := range nodes {
		for at := from; at < to; at++ {
			if m.got[at] != 1 {
				w.t.Errorf("%s: node %d has chunk %d %d times", when, i, at, m.got[at])
			}
		}
		if len(m.frames) != 0 {
			w.t.Errorf("%s: node %d holds %d chunks", when, i, len(m.frames))
		}
	}
}
