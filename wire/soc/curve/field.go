package curve

import (
	"encoding/binary"
	"math/bits"
)

// element is a number modulo the field's prime p = 2^256 - fold, as four words,
// the lowest first. It may be any 256-bit number: p to 2^256-1 stand for what is
// left of them modulo p, so that a sum or product need not be compared with p.
// Only what looks at the number itself (isZero, odd, bytes) has to reduce it.
type element [4]uint64

// fold is 2^256 modulo p.
const fold = 1<<32 + 977

// prime is p.
var prime = element{1<<64 - 1 - fold + 1, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1}

// setBytes takes 32 bytes, big endian. Whoever wants a number below p compares
// with it first.
func (z *element) setBytes(b *[32]byte) {
	for i := range z {
		z[i] = binary.BigEndian.Uint64(b[24-8*i:])
	}
}

// reduce is the same number below p.
func (z *element) reduce() element {
	// z + fold reaches 2^256 exactly when z reaches p, and what is left then is
	// z - p.
	var r element
	var c uint64
	r[0], c = bits.Add64(z[0], fold, 0)
	r[1], c = bits.Add64(z[1], 0, c)
	r[2], c = bits.Add64(z[2], 0, c)
	r[3], c = bits.Add64(z[3], 0, c)
	if c == 0 {
		return *z
	}
	return r
}

func (z *element) isZero() bool {
	return z[0]|z[1]|z[2]|z[3] == 0 || *z == prime
}

// odd tells whether the number below p is odd.
func (z *element) odd() bool {
	r := z.reduce()
	return r[0]&1 == 1
}

// equal tells whether two elements stand for the same number modulo p.
func (z *element) equal(x *element) bool {
	return z.reduce() == x.reduce()
}

// add sets z = x + y.
func (z *element) add(x, y *element) {
	t0, c := bits.Add64(x[0], y[0], 0)
	t1, c := bits.Add64(x[1], y[1], c)
	t2, c := bits.Add64(x[2], y[2], c)
	t3, c := bits.Add64(x[3], y[3], c)
	// What went over 2^256 comes back as fold. A second time it can go over only
	// from within fold below 2^256, and then ends far below it.
	t0, c = bits.Add64(t0, -c&fold, 0)
	t1, c = bits.Add64(t1, 0, c)
	t2, c = bits.Add64(t2, 0, c)
	t3, c = bits.Add64(t3, 0, c)
	z[0], z[1], z[2], z[3] = t0+-c&fold, t1, t2, t3
}

// sub sets z = x - y.
func (z *element) sub(x, y *element) {
	t0, b := bits.Sub64(x[0], y[0], 0)
	t1, b := bits.Sub64(x[1], y[1], b)
	t2, b := bits.Sub64(x[2], y[2], b)
	t3, b := bits.Sub64(x[3], y[3], b)
	// As in add, with what went below 0.
	t0, b = bits.Sub64(t0, -b&fold, 0)
	t1, b = bits.Sub64(t1, 0, b)
	t2, b = bits.Sub64(t2, 0, b)
	t3, b = bits.Sub64(t3, 0, b)
	z[0], z[1], z[2], z[3] = t0- -b&fold, t1, t2, t3
}

// negate sets z = -x.
func (z *element) negate(x *element) {
	z.sub(&element{}, x)
}

// negateMasked sets z = -x where mask is all bits, and z = x where it is 0.
func (z *element) negateMasked(x *element, mask uint64) {
	// 0 - x is, without its borrow, the bits of x turned around and 1 more, and p
	// one less than 2^256 - fold + 1: together ^x - (fold - 1).
	t0, b := bits.Sub64(x[0]^mask, mask&(fold-1), 0)
	t1, b := bits.Sub64(x[1]^mask, 0, b)
	t2, b := bits.Sub64(x[2]^mask, 0, b)
	t3, b := bits.Sub64(x[3]^mask, 0, b)
	z[0], z[1], z[2], z[3] = t0- -b&fold, t1, t2, t3
}
