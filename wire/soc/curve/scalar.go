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
	// What is above 2^256 comes back times lack: of 512 bits 386 are left, then
	// 260, then 256 and a carry.
	high := [4]uint64(t[4:])
	for range 3 {
		var sum [8]uint64
		copy(sum[:4], t[:4])
		for i, f := range high {
			var carry uint64
			for j, g := range lack {
				hi, lo := bits.Mul64(f, g)
				lo, c := bits.Add64(lo, carry, 0)
				hi += c
				sum[i+j], c = bits.Add64(sum[i+j], lo, 0)
				carry = hi + c
			}
			for j := i + len(lack); carry != 0; j++ {
				sum[j], carry = bits.Add64(sum[j], carry, 0)
			}
		}
		t, high = sum, [4]uint64(sum[4:])
	}
	*z = scalar(t[:4])
	z.reduce(high[0])
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
