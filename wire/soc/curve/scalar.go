package curve

import (
	"encoding/binary"
	"math/bits"
)

// A scalar is a number below the order n of the curve's group, as four words, the
// lowest first.
type scalar [4]uint64

// order is n, and lack is 2^256 - n, of 129 bits.
var (
	order = [4]uint64{0xbfd25e8cd0364141, 0xbaaedce6af48a03b, 0xfffffffffffffffe, 0xffffffffffffffff}
	lack  = [3]uint64{0x402da1732fc9bebf, 0x4551231950b75fc4, 1}
)

// setBytes takes 32 bytes, big endian, modulo n, and tells whether they were n or
// more.
func (z *scalar) setBytes(b *[32]byte) (over bool) {
	for i := range z {
		z[i] = binary.BigEndian.Uint64(b[24-8*i:])
	}
	return z.reduce(0)
}

// reduce subtracts n once from z + carry·2^256 if that is n or more.
func (z *scalar) reduce(carry uint64) bool {
	var r scalar
	var b uint64
	for i := range z {
		r[i], b = bits.Sub64(z[i], order[i], b)
	}
	if carry == 0 && b == 1 {
		return false
	}
	*z = r
	return true
}

func (z *scalar) isZero() bool { return z[0]|z[1]|z[2]|z[3] == 0 }

// mul sets z = x·y.
func (z *scalar) mul(x, y *scalar) {
	t := wide((*[4]uint64)(x), (*[4]uint64)(y))
	// Of 512 bits 386 are left, then 260, then 256 and a carry.
	foldOrder(&t)
	foldOrder(&t)
	h0, l0 := bits.Mul64(t[4], lack[0])
	h1, l1 := bits.Mul64(t[4], lack[1])
	l1, c := bits.Add64(l1, h0, 0)
	h1 += t[4] + c
	z[0], c = bits.Add64(t[0], l0, 0)
	z[1], c = bits.Add64(t[1], l1, c)
	z[2], c = bits.Add64(t[2], h1, c)
	z[3], c = bits.Add64(t[3], 0, c)
	z.reduce(c)
}

// foldOrder brings what is above 2^256 back times lack.
func foldOrder(t *[8]uint64) {
	h0, h1, h2, h3 := t[4], t[5], t[6], t[7]
	r0, r1, r2, r3, r4 := row(lack[0], h0, h1, h2, h3)
	t0, c := bits.Add64(t[0], r0, 0)
	t1, c := bits.Add64(t[1], r1, c)
	t2, c := bits.Add64(t[2], r2, c)
	t3, c := bits.Add64(t[3], r3, c)
	t4 := r4 + c

	r0, r1, r2, r3, r4 = row(lack[1], h0, h1, h2, h3)
	t1, c = bits.Add64(t1, r0, 0)
	t2, c = bits.Add64(t2, r1, c)
	t3, c = bits.Add64(t3, r2, c)
	t4, c = bits.Add64(t4, r3, c)
	t5 := r4 + c

	// The third word of lack is 1.
	t2, c = bits.Add64(t2, h0, 0)
	t3, c = bits.Add64(t3, h1, c)
	t4, c = bits.Add64(t4, h2, c)
	t5, t6 := bits.Add64(t5, h3, c)
	*t = [8]uint64{t0, t1, t2, t3, t4, t5, t6}
}

// negateHigh sets z = n - z if that is less, and tells whether.
func (z *scalar) negateHigh() bool {
	var r scalar
	var b uint64
	for i := range z {
		r[i], b = bits.Sub64(order[i], z[i], b)
	}
	for i := len(z) - 1; i >= 0; i-- {
		if z[i] != r[i] {
			if z[i] < r[i] {
				return false
			}
			break
		}
	}
	*z = r
	return true
}
