//go:build !amd64

package soc

// hasPairs4 tells whether this machine runs hashPairs4.
func hasPairs4() bool { return false }

// hashPairs4 is not called without hasPairs4.
func hashPairs4(_, _ []byte, _ *[4]uint64) { panic("soc: four states at once on this machine") }
