package soc

import (
	"hash"
	"io"
	"sync"

	"golang.org/x/crypto/sha3"
)

// keccakRate is how many bytes keccak256 absorbs per permutation.
const keccakRate = 136

// Keccak256 is the original Keccak-256, as in Ethereum, over the concatenated
// parts. It is not SHA3-256, which pads differently. It does not keep the
// parts and allocates only when the pool of states is empty.
func Keccak256(parts ...[]byte) Hash {
	s := getSponge()
	defer putSponge(s)
	return s.sum(parts...)
}

// sponge is a reusable hash state. Input goes through block and output through
// out, because what is handed to an interface method moves to the heap: with
// the copies only the sponge does, once, and callers hash arrays on their stack.
type sponge struct {
	state hash.Hash
	read  io.Reader // the same state; reading ends it without the copy that Sum makes
	block [keccakRate]byte
	out   Hash
}

var sponges = sync.Pool{New: func() any { return newSponge() }}

func newSponge() *sponge {
	h := sha3.NewLegacyKeccak256()
	return &sponge{state: h, read: h.(io.Reader)}
}

func getSponge() *sponge  { return sponges.Get().(*sponge) }
func putSponge(s *sponge) { sponges.Put(s) }

// sum hashes the concatenated parts. The state's methods are documented never
// to return an error.
func (s *sponge) sum(parts ...[]byte) Hash {
	s.state.Reset()
	n := 0
	for _, p := range parts {
		for len(p) > 0 {
			if n == len(s.block) {
				s.state.Write(s.block[:])
				n = 0
			}
			k := copy(s.block[n:], p)
			n += k
			p = p[k:]
		}
	}
	s.state.Write(s.block[:n])
	s.read.Read(s.out[:])
	return s.out
}
