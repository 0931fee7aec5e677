package soc

import "fmt"

// treeLevels is the height of the Merkle tree over MaxPayload / SegmentSize
// segments.
const treeLevels = 7

// zeroRoots[h] is the root of a tree of height h over zeros alone; at height 0
// it is the zero segment. A payload's unused part is made of such trees.
var zeroRoots = func() (z [treeLevels + 1]Hash) {
	for h := range treeLevels {
		z[h+1] = Keccak256(z[h][:], z[h][:])
	}
	return z
}()

// BMT is the root of the binary Merkle tree of keccak256 over the payload, zero
// padded to MaxPayload bytes (PROTOCOL §4). Subtrees beyond the payload are
// known and not hashed, so that a short payload costs treeLevels hashes. It
// allocates nothing.
//
// The payload has at most MaxPayload bytes, none being allowed; BMT panics on a
// longer one, as no root of a part may pass for the root of the whole. Bytes
// from outside go through CheckCanonical first.
func BMT(payload []byte) Hash {
	return bmt(payload, pairWidth())
}

// CACAddress is the address of a content-addressed chunk: keccak256(span ||
// root) (PROTOCOL §4). The span has 8 bytes and need not equal the payload's
// length: that of an inner node of a file is the length of all below it. The
// bound on the payload is that of BMT.
func CACAddress(span, payload []byte) Hash {
	root := BMT(payload)
	return Keccak256(span, root[:])
}

// bmt is BMT by up to width pairs at once: 1, 2, or 4 where hasPairs4.
func bmt(payload []byte, width int) Hash {
	if len(payload) > MaxPayload {
		panic(fmt.Sprintf("soc: BMT of %d bytes", len(payload)))
	}
	if len(payload) == 0 {
		return zeroRoots[treeLevels]
	}
	s := getSponge()
	defer putSponge(s)

	// The lowest level reads the payload in place; only a last incomplete pair
	// is copied to be padded.
	var nodes [MaxPayload / 2]byte
	full := len(payload) / pairSize
	hashPairs(s, nodes[:], payload, full, width)
	n := full
	if rest := payload[full*pairSize:]; len(rest) > 0 {
		var last [pairSize]byte
		copy(last[:], rest)
		hashPairs(s, nodes[n*SegmentSize:], last[:], 1, width)
		n++
	}
	for h := 1; h < treeLevels; h++ {
		if n%2 == 1 {
			copy(nodes[n*SegmentSize:], zeroRoots[h][:])
			n++
		}
		n /= 2
		hashPairs(s, nodes[:], nodes[:], n, width)
	}
	return Hash(nodes[:SegmentSize])
}
