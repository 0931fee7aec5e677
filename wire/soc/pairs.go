package soc

// pairSize is the input of one inner node: two child hashes, or two segments.
const pairSize = 2 * SegmentSize

// pairWidth is how many pairs this machine hashes at once: 4, 2 or 1. A
// permutation of several states takes little longer than a plain one of a single
// state, so it pays from two pairs on, even where some of its states are idle.
func pairWidth() int {
	switch {
	case hasPairs4():
		return 4
	case hasPairs2():
		return 2
	}
	return 1
}

// hashPairs writes keccak256 of each of the n pairs in src to dst, which may be
// the same memory: what is written never reaches a pair still to be read. Up to
// width pairs go together.
func hashPairs(s *sponge, dst, src []byte, n, width int) {
	for i := 0; i < n; {
		to, from, k := dst[i*SegmentSize:], src[i*pairSize:], min(n-i, width)
		switch {
		case k == 1:
			h := s.sum(from[:pairSize])
			copy(to, h[:])
		case width == 2:
			hashPairs2(to, from, k)
		default:
			hashPairs4(to, from, k)
		}
		i += k
	}
}
