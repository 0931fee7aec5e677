package plane

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// A Set is the objects of one publisher, in the order in which it sends them. An
// object's bytes follow from the set's seed and its number, so that a set of any
// size takes no memory:
//
//	 0  marker 0100BEEF
//	 4  seed, 8
//	12  number, 8
//	20  bytes that follow from both
type Set struct {
	Seed  uint64
	sizes []int
	sums  [][sha256.Size]byte
}

// minObject is the head of an object and nothing behind it.
const minObject = 20

// NewSet makes a set of objects of these sizes, at least 20 bytes each.
func NewSet(seed uint64, sizes []int) *Set {
	s := &Set{Seed: seed, sizes: sizes, sums: make([][sha256.Size]byte, len(sizes))}
	var buf []byte
	for i := range sizes {
		buf = s.Append(buf[:0], i)
		s.sums[i] = sha256.Sum256(buf)
	}
	return s
}

// Len is how many objects there are.
func (s *Set) Len() int { return len(s.sizes) }

// Bytes is how long they are together.
func (s *Set) Bytes() (n int64) {
	for _, size := range s.sizes {
		n += int64(size)
	}
	return n
}

// Append appends object i to dst.
func (s *Set) Append(dst []byte, i int) []byte {
	at := len(dst)
	dst = append(dst, 1, 0, 0xBE, 0xEF)
	dst = binary.BigEndian.AppendUint64(dst, s.Seed)
	dst = binary.BigEndian.AppendUint64(dst, uint64(i))
	var key [32]byte
	copy(key[:], dst[at+4:])
	dst = append(dst, make([]byte, s.sizes[i]-minObject)...)
	rand.NewChaCha8(key).Read(dst[at+minObject:])
	return dst
}

// number tells which of the set's objects this is, byte for byte; false: none.
func (s *Set) number(object []byte) (int, bool) {
	i := binary.BigEndian.Uint64(object[12:])
	if i >= uint64(len(s.sums)) || s.sums[i] != sha256.Sum256(object) {
		return 0, false
	}
	return int(i), true
}

// Mix is a load of objects of all sizes, in random order: of 10,000 objects 9000
// have 100 B to 4 KiB, 900 have 4 to 100 KiB, 95 have 1 MiB and 5 have 8 MiB. One
// in share of them; but one of each size at least.
func Mix(rng *rand.Rand, share int) (sizes []int) {
	for _, kind := range []struct{ n, from, to int }{
		{9000, 100, 4 << 10}, {900, 4 << 10, 100 << 10}, {95, 1 << 20, 1 << 20}, {5, 8 << 20, 8 << 20},
	} {
		for range max(1, kind.n/share) {
			sizes = append(sizes, kind.from+rng.IntN(kind.to-kind.from+1))
		}
	}
	rng.Shuffle(len(sizes), func(i, j int) { sizes[i], sizes[j] = sizes[j], sizes[i] })
	return sizes
}

// Sizes are n objects of one size.
func Sizes(n, size int) []int {
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = size
	}
	return sizes
}
