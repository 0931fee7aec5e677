package soc

import (
	"encoding/binary"

	"github.com/cloudflare/circl/simd/keccakf1600"
)

// hasPairs2 tells whether hashPairs2 is a gain: on an arm64 whose SHA-3
// instructions the library uses. Elsewhere its permutation of two states is two
// plain ones.
func hasPairs2() bool { return keccakf1600.IsEnabledX2() }

// hashPairs2 writes keccak256 of each of two pairs in src to dst. It reads all of
// src before it writes, so dst may overlap src.
//
// The states are interleaved: word w of state i is at 2w+i. A pair fills words
// 0–7; the top bit of word 16 ends the padding and the rate.
func hashPairs2(dst, src []byte, ninth *[2]uint64) {
	const width, padFirst, padLast = 2, pairSize / 8, keccakRate/8 - 1
	var state keccakf1600.StateX2
	a := (*[25 * width]uint64)(state.Initialize(false))
	for i := range width {
		in := (*[pairSize]byte)(src[i*pairSize:])
		for w := range pairSize / 8 {
			a[width*w+i] = binary.LittleEndian.Uint64(in[8*w:])
		}
		a[width*padFirst+i] = ninth[i]
		a[width*padLast+i] = 1 << 63
	}
	state.Permute()
	for i := range width {
		out := (*[SegmentSize]byte)(dst[i*SegmentSize:])
		for w := range SegmentSize / 8 {
			binary.LittleEndian.PutUint64(out[8*w:], a[width*w+i])
		}
	}
}
