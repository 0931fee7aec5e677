package sim

import (
	"fmt"
	"slices"
)

// graph is the attachments at one moment, and what follows from them. Its slices
// are used again at each look.
type graph struct {
	from    []int32 // from[i]..from[i+1] are i's children in kids
	kids    []int32
	degree  []int32 // parents that feed
	order   []int32 // parents before children; who is in or below a ring is missing
	reached []bool
	tainted []bool // a foreign node or a liar is it, or feeds it over others
	near    []int32
	far     []int32
	idom    []int32 // the closest node that all ways from the broker lead through
	level   []int32 // depth in the tree of idom
	queue   []int32
}

// A survey is what a look at the graph has shown.
type survey struct {
	dominated, islands, cycles int
	wanting, dual              int   // nodes that want two parents, and those that have them
	exempt                     int   // nodes with a foreign one or a liar above
	exemptIslands, exemptRings int   // islands and rings of such
	far, near                  int64 // sums over what the broker reaches
	farMax, nearMax, count     int
}

func fit[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	s = s[:n]
	clear(s)
	return s
}

// carries says whether an attachment feeds its child now.
func (w *world) carries(i int32, l link) bool {
	return w.feeds(l.slot) && !(w.breaks && w.crosses(i, l.peer))
}

// build lists the children of every node.
func (g *graph) build(w *world) {
	n := len(w.nodes)
	g.from, g.degree = fit(g.from, n+1), fit(g.degree, n)
	for i := range w.nodes {
		for _, l := range w.nodes[i].parents {
			if w.carries(int32(i), l) {
				g.from[l.peer+1]++
				g.degree[i]++
			}
		}
	}
	for i := range n {
		g.from[i+1] += g.from[i]
	}
	g.kids = fit(g.kids, int(g.from[n]))
	g.near = fit(g.near, n) // as a cursor
	for i := range w.nodes {
		for _, l := range w.nodes[i].parents {
			if w.carries(int32(i), l) {
				g.kids[g.from[l.peer]+g.near[l.peer]] = int32(i)
				g.near[l.peer]++
			}
		}
	}
}

func (g *graph) children(i int32) []int32 { return g.kids[g.from[i]:g.from[i+1]] }

// spread marks what the broker reaches, past the nodes that skip names.
func (g *graph) spread(w *world, skip func(*node) bool) {
	n := len(w.nodes)
	g.reached, g.near = fit(g.reached, n), fit(g.near, n)
	g.queue = append(g.queue[:0], 0)
	g.reached[0] = true
	for head := 0; head < len(g.queue); head++ {
		i := g.queue[head]
		for _, k := range g.children(i) {
			if !g.reached[k] && !(skip != nil && skip(&w.nodes[k])) {
				g.reached[k], g.near[k] = true, g.near[i]+1
				g.queue = append(g.queue, k)
			}
		}
	}
}

// spared are the nodes that a chunk of now has to reach: there is a way to them
// on which nobody fails, is cut off, or withholds.
func (g *graph) spared(w *world) []uint64 {
	g.build(w)
	g.spread(w, func(n *node) bool { return n.doomed || n.lie != lieNone || w.cutPlanned && n.cut })
	set := make([]uint64, (len(w.nodes)+63)/64)
	for i := 1; i < len(w.nodes); i++ {
		if n := &w.nodes[i]; g.reached[i] && n.state == stateLive && !n.going {
			set[i>>6] |= 1 << (i & 63)
		}
	}
	return set
}

// fed says that all live nodes are.
func (g *graph) fed(w *world) bool {
	g.build(w)
	g.spread(w, nil)
	return !slices.ContainsFunc(w.live, func(i int32) bool { return !g.reached[i] })
}

// look surveys the graph.
func (g *graph) look(w *world) (s survey) {
	g.build(w)
	g.spread(w, nil)
	g.taint(w)
	g.sort(w)
	s.cycles, s.exemptRings = g.rings(w)
	g.walk(w)
	for _, i := range w.live {
		if !g.reached[i] {
			w.trace.note(w.now, i, "is not fed")
			if g.tainted[i] {
				s.exemptIslands++
			} else {
				s.islands++
			}
			continue
		}
		s.count++
		s.far += int64(g.far[i])
		s.near += int64(g.near[i])
		s.farMax = max(s.farMax, int(g.far[i]))
		s.nearMax = max(s.nearMax, int(g.near[i]))
	}
	for _, i := range w.live {
		n := &w.nodes[i]
		if n.lie != lieNone || n.kind.wants() < 2 {
			continue
		}
		fed, feeding := false, 0
		for _, l := range n.parents {
			if w.carries(i, l) {
				feeding++
				fed = fed || l.peer == 0
			}
		}
		if !fed {
			s.wanting++
			if feeding >= 2 {
				s.dual++
			}
		}
		switch {
		case g.tainted[i]:
			s.exempt++
		case feeding >= 2 && g.reached[i] && g.idom[i] != 0:
			s.dominated++
			w.trace.note(w.now, i, fmt.Sprintf("is dominated by %d", g.idom[i]))
		}
	}
	return s
}

// taint marks what a foreign node or a liar is above of. Under the plain rules,
// where all are foreign, nothing is exempt.
func (g *graph) taint(w *world) {
	g.tainted = fit(g.tainted, len(w.nodes))
	if w.cfg.Rules == RulesPlain {
		return
	}
	g.queue = g.queue[:0]
	for _, i := range w.live {
		if !w.nodes[i].honest() {
			g.tainted[i] = true
			g.queue = append(g.queue, i)
		}
	}
	for head := 0; head < len(g.queue); head++ {
		for _, k := range g.children(g.queue[head]) {
			if !g.tainted[k] {
				g.tainted[k] = true
				g.queue = append(g.queue, k)
			}
		}
	}
}
