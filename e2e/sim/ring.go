package sim

// rings counts groups of rings: what is left when all that is merely below one,
// or leads from one to nowhere, is taken away; rings that touch are one group.
// Those that a foreign node or a liar is part of are counted apart.
func (g *graph) rings(w *world) (rings, exempt int) {
	var left []int32
	for i := range w.nodes {
		if w.nodes[i].m != nil && g.degree[i] > 0 {
			left = append(left, int32(i))
		}
	}
	if len(left) == 0 {
		return 0, 0
	}
	in := make(map[int32]int32, len(left)) // node -> its children that are left
	for _, i := range left {
		in[i] = 0
	}
	up := make(map[int32][]int32)
	for _, i := range left {
		for _, k := range g.children(i) {
			if _, ok := in[k]; ok {
				in[i]++
				up[k] = append(up[k], i)
			}
		}
	}
	for again := true; again; {
		again = false
		for _, i := range left {
			if c, ok := in[i]; ok && c == 0 {
				delete(in, i)
				for _, p := range up[i] {
					if _, ok := in[p]; ok {
						in[p]--
						again = true
					}
				}
			}
		}
	}
	seen := make(map[int32]bool, len(in))
	for _, i := range left {
		if _, ok := in[i]; !ok || seen[i] {
			continue
		}
		tainted := false
		stack := []int32{i}
		seen[i] = true
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			tainted = tainted || g.tainted[at]
			next := append(append([]int32(nil), g.children(at)...), up[at]...)
			for _, k := range next {
				if _, ok := in[k]; ok && !seen[k] {
					seen[k] = true
					stack = append(stack, k)
				}
			}
		}
		if tainted {
			exempt++
		} else {
			rings++
		}
	}
	return rings, exempt
}
