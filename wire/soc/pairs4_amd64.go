package soc

import "golang.org/x/sys/cpu"

// hasPairs4 tells whether this machine runs hashPairs4.
func hasPairs4() bool { return cpu.X86.HasAVX2 }

// hashPairs4 writes keccak256 of each of four pairs in src to dst. It reads all of
// src before it writes, so dst may overlap src.
func hashPairs4(dst, src []byte, ninth *[4]uint64) {
	permutePairs4((*[4 * SegmentSize]byte)(dst), (*[4 * pairSize]byte)(src), ninth)
}

// permutePairs4 is hashPairs4. The states lie side by side in vectors of AVX2, and
// one permutation takes as long as a plain one of a single state. The code is made
// by TestPairs4Assembly.
//
//go:noescape
func permutePairs4(dst *[4 * SegmentSize]byte, src *[4 * pairSize]byte, ninth *[4]uint64)
