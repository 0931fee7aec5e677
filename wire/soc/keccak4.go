package soc

import (
	"encoding/binary"

	"github.com/cloudflare/circl/simd/keccakf1600"
)

// lanes is how many Keccak states one vector permutation advances. A vector
// permutation costs little more than a plain one, so it pays from two lanes on.
const lanes = 4

// pairSize is the input of one inner node: two child hashes, or two segments.
const pairSize = 2 * SegmentSize

// hasVector reports whether this machine permutes four states at once in
// hardware. Without it the library's version is four plain permutations, which
// is no gain.
func hasVector() bool { return keccakf1600.IsEnabledX4() }

// hashPairs4 writes keccak256 of each of the n ≤ lanes pairs in src to dst.
// It reads all of src before it writes, so dst may overlap src.
//
// The states are interleaved: word w of lane i is at 4w+i. A pair fills words
// 0–7; the padding is bit 0 of word 8 and, at the end of the rate, the top bit
// of word 16.
func hashPairs4(dst, src []byte, n int) {
	const padStart, padEnd = pairSize / 8, keccakRate/8 - 1
	var state keccakf1600.StateX4
	a := state.Initialize(false)
	for i := range n {
		pair := src[i*pairSize : (i+1)*pairSize]
		for w := range pairSize / 8 {
			a[lanes*w+i] = binary.LittleEndian.Uint64(pair[8*w:])
		}
		a[lanes*padStart+i] = 1
		a[lanes*padEnd+i] = 1 << 63
	}
	state.Permute()
	for i := range n {
		out := dst[i*SegmentSize : (i+1)*SegmentSize]
		for w := range SegmentSize / 8 {
			binary.LittleEndian.PutUint64(out[8*w:], a[lanes*w+i])
		}
	}
}
