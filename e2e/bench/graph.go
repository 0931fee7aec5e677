package main

import (
	"math/rand/v2"
	"slices"
)

// randomGraph connects n hosts so that each has at least degree neighbours, and
// all hang together: a ring in random order, and random edges to whoever has the
// fewest. Degree 0, or one that all pairs cannot exceed, is all pairs.
func randomGraph(n, degree int, rng *rand.Rand) (edges [][2]int) {
	if degree <= 0 || degree >= n-1 {
		for i := range n {
			for j := range i {
				edges = append(edges, [2]int{j, i})
			}
		}
		return edges
	}
	count := make([]int, n)
	has := make(map[[2]int]bool)
	add := func(a, b int) bool {
		e := [2]int{min(a, b), max(a, b)}
		if a == b || has[e] {
			return false
		}
		has[e] = true
		edges = append(edges, e)
		count[a]++
		count[b]++
		return true
	}
	order := rng.Perm(n)
	for i, a := range order {
		add(a, order[(i+1)%n])
	}
	for {
		a := slices.Index(count, slices.Min(count))
		if count[a] >= degree {
			return edges
		}
		for range 4 * n { // rather to those that still want neighbours
			b := rng.IntN(n)
			if count[b] < degree && add(a, b) {
				break
			}
		}
		for count[a] < degree && !add(a, rng.IntN(n)) {
		}
	}
}
