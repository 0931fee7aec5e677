//go:build race

package soc_test

// raceEnabled: the race detector drops pooled memory at random, so allocations
// cannot be counted.
const raceEnabled = true
