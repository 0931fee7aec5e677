//go:build race

package tree_test

// raceEnabled: the race detector drops pooled memory at random, so allocations
// cannot be counted.
const raceEnabled = true
