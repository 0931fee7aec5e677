package demo

import (
	"bytes"

	"treecast/tree"
	"treecast/wire"
)

// graph is the network as its nodes see it at one time.
type graph struct {
	views   map[wire.Overlay]tree.View
	members map[wire.Overlay]*member
	order   []wire.Overlay // as the nodes were started; the broker is first
}

func (g *graph) parents(o wire.Overlay) (list []wire.Overlay) {
	for _, p := range g.views[o].Parents {
		list = append(list, p.Peer)
	}
	return list
}

// depths are the fewest steps from the broker to each node that it reaches.
func (g *graph) depths() map[wire.Overlay]int {
	children := make(map[wire.Overlay][]wire.Overlay)
	for _, o := range g.order {
		for _, p := range g.parents(o) {
			children[p] = append(children[p], o)
		}
	}
	depth := map[wire.Overlay]int{g.order[0]: 0}
	for queue := []wire.Overlay{g.order[0]}; len(queue) > 0; queue = queue[1:] {
		for _, c := range children[queue[0]] {
			if _, seen := depth[c]; !seen {
				depth[c] = depth[queue[0]] + 1
				queue = append(queue, c)
			}
		}
	}
	return depth
}

// attached counts the nodes that are placed.
func (g *graph) attached() (n int) {
	for _, v := range g.views {
		if v.Attached {
			n++
		}
	}
	return n
}

// relays counts the nodes with children, the broker apart.
func (g *graph) relays() (n int) {
	for _, o := range g.order[1:] {
		if len(g.views[o].Children) > 0 {
			n++
		}
	}
	return n
}

// dualParented is the share of the nodes not under the broker that have two
// parents; 1 if all are under the broker.
func (g *graph) dualParented() float64 {
	var all, dual int
	for _, o := range g.order[1:] {
		parents := g.parents(o)
		if contains(parents, g.order[0]) {
			continue
		}
		all++
		if len(parents) >= 2 {
			dual++
		}
	}
	if all == 0 {
		return 1
	}
	return float64(dual) / float64(all)
}

func contains(list []wire.Overlay, o wire.Overlay) bool {
	for _, x := range list {
		if x == o {
			return true
		}
	}
	return false
}

// victim is the relay with most consumers below it, by whichever parent; of
// equals the one with the lowest overlay. nil if no relay is left or has a
// consumer.
func (g *graph) victim() *member {
	below := make(map[wire.Overlay]int)
	for _, o := range g.order {
		if !g.members[o].consumer {
			continue
		}
		seen := map[wire.Overlay]bool{o: true}
		for queue := []wire.Overlay{o}; len(queue) > 0; queue = queue[1:] {
			for _, p := range g.parents(queue[0]) {
				if !seen[p] {
					seen[p] = true
					below[p]++
					queue = append(queue, p)
				}
			}
		}
	}
	var best wire.Overlay
	most := 0
	for _, o := range g.order[1:] {
		n := below[o]
		if n > most || n == most && n > 0 && bytes.Compare(o[:], best[:]) < 0 {
			best, most = o, n
		}
	}
	if most == 0 {
		return nil
	}
	return g.members[best]
}

// childrenOf are the nodes that have o as a parent.
func (g *graph) childrenOf(o wire.Overlay) (list []*member) {
	for _, c := range g.order {
		if contains(g.parents(c), o) {
			list = append(list, g.members[c])
		}
	}
	return list
}
