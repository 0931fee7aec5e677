// Package probe lets the order of a map out.
package probe

import "maps"

// Set is a map under another name.
type Set map[int]bool

// X does so.
func X(s Set, m map[string]int) (list []int) {
	for n := range s { // want maporder
		list = append(list, n)
	}

	for _, n := range m { // want maporder
		list = append(list, n)
	}
	for n := range maps.Values(m) { // want maporder
		list = append(list, n)
	}
	return append(list, Keys(s)...)
}

// Keys does so for any map.
func Keys[M ~map[K]V, K comparable, V any](m M) (list []K) {
	for k := range m { // want maporder
		list = append(list, k)
	}
	return list
}
