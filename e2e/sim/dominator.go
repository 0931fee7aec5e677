package sim

// sort orders parents before children. Degree is what is left afterwards: above
// zero in and below rings.
func (g *graph) sort(w *world) {
	g.order = g.order[:0]
	for i := range w.nodes {
		if w.nodes[i].m != nil && g.degree[i] == 0 {
			g.order = append(g.order, int32(i))
		}
	}
	for head := 0; head < len(g.order); head++ {
		for _, k := range g.children(g.order[head]) {
			if g.degree[k]--; g.degree[k] == 0 {
				g.order = append(g.order, k)
			}
		}
	}
}

// walk finds depths and dominators along the order: a node is dominated by the
// lowest common ancestor, in the tree of dominators so far, of those that feed it.
func (g *graph) walk(w *world) {
	n := len(w.nodes)
	g.far, g.idom, g.level = fit(g.far, n), fit(g.idom, n), fit(g.level, n)
	for _, i := range g.order {
		if i == 0 || !g.reached[i] {
			continue
		}
		idom := int32(-1)
		for _, l := range w.nodes[i].parents {
			if !w.carries(i, l) || !g.reached[l.peer] {
				continue
			}
			g.far[i] = max(g.far[i], g.far[l.peer]+1)
			if idom < 0 {
				idom = l.peer
			} else {
				idom = g.meet(idom, l.peer)
			}
		}
		g.idom[i], g.level[i] = idom, g.level[idom]+1
	}
}

// meet is where two ways up the tree of dominators come together.
func (g *graph) meet(a, b int32) int32 {
	for a != b {
		if g.level[a] < g.level[b] {
			a, b = b, a
		}
		a = g.idom[a]
	}
	return a
}
