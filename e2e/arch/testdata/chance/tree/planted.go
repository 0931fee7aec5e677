// Package tree draws from the process's chance.
package tree

import "math/rand/v2"

// X does so, and makes a source of its own.
func X(r *rand.Rand) int {
	n := rand.IntN(10)                                // want chance
	rand.Shuffle(n, nil)                              // want chance
	own := rand.NewPCG(1, 2)                          // want chance
	return r.IntN(10) + rand.N(n) + int(own.Uint64()) // want chance
}
