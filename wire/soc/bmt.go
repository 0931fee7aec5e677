package soc

import (
	"fmt"
	"sync"
)

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
	t := getTrees()
	defer putTrees(t)
	t.grow(0, payload)
	t.finish(1)
	return *t.root(0)
}

// CACAddress is the address of a content-addressed chunk: keccak256(span ||
// root) (PROTOCOL §4). The span has 8 bytes and need not equal the payload's
// length: that of an inner node of a file is the length of all below it. The
// bound on the payload is that of BMT.
func CACAddress(span, payload []byte) Hash {
	root := BMT(payload)
	return Keccak256(span, root[:])
}

// trees are the Merkle trees of some payloads, which grow together: where one has
// too few pairs left to fill the machine's width, others fill it.
type trees struct {
	mixer mixer
	nodes [BatchSize][MaxPayload / 2]byte // of one level
	n     [BatchSize]int                  // nodes of that level
}

var treesPool = sync.Pool{New: func() any { return newTrees(pairWidth()) }}

// newTrees makes trees for a machine that hashes up to width pairs at once.
func newTrees(width int) *trees {
	t := &trees{mixer: mixer{width: width}}
	if width == 1 {
		t.mixer.sponge = newSponge()
	}
	return t
}

func getTrees() *trees  { return treesPool.Get().(*trees) }
func putTrees(t *trees) { treesPool.Put(t) }

// grow makes the lowest level of tree i. It reads the payload in place and does not
// keep it.
func (t *trees) grow(i int, payload []byte) {
	if len(payload) > MaxPayload {
		panic(fmt.Sprintf("soc: BMT of %d bytes", len(payload)))
	}
	n := len(payload) / pairSize
	t.mixer.pairs(t.nodes[i][:], payload, n)
	if rest := payload[n*pairSize:]; len(rest) > 0 {
		t.mixer.add((*Hash)(t.nodes[i][n*SegmentSize:]), rest, zeros[len(rest):])
		n++
	}
	t.n[i] = n
}

// zeros pads the last pair of a payload.
var zeros [pairSize]byte

// finish makes the other levels of the first k trees, all of which have grown.
func (t *trees) finish(k int) {
	t.mixer.flush()
	for h := 1; h < treeLevels; h++ {
		for i := range k {
			nodes, n := t.nodes[i][:], t.n[i]
			if n%2 == 1 {
				copy(nodes[n*SegmentSize:], zeroRoots[h][:])
				n++
			}
			t.n[i] = n / 2
			t.mixer.pairs(nodes, nodes, n/2)
		}
		t.mixer.flush()
	}
	for i := range k {
		if t.n[i] == 0 { // of no payload at all
			*t.root(i) = zeroRoots[treeLevels]
		}
	}
}

// root is the root of tree i, until the next one grows.
func (t *trees) root(i int) *Hash { return (*Hash)(t.nodes[i][:]) }
