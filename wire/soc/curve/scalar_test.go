package curve_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"treecast/wire/soc/curve"
)

// mustScale holds the operations on scalars against the oracle, with two numbers
// of any size.
func mustScale(t fataler, x, y [4]uint64) {
	var a, b, z curve.Scalar
	for _, in := range []struct {
		from [4]uint64
		to   *curve.Scalar
	}{{x, &a}, {y, &b}} {
		raw, n := bytesOf(in.from), bigOf(in.from)
		if over := in.to.SetBytes(&raw); over != (n.Cmp(bigOrder) >= 0) {
			t.Fatalf("%x is n or more: %v", in.from, over)
		}
		if want := wordsOf(n.Mod(n, bigOrder)); *in.to != want {
			t.Fatalf("%x modulo n: %x, want %x", in.from, *in.to, want)
		}
	}
	want := new(big.Int).Mul(bigOf(a), bigOf(b))
	if z.Mul(&a, &b); z != wordsOf(want.Mod(want, bigOrder)) {
		t.Fatalf("%x · %x: %x, want %x", a, b, z, wordsOf(want))
	}
	z.Invert(&a)
	if a == (curve.Scalar{}) {
		if z != a {
			t.Fatalf("1 / 0: %x", z)
		}
		return
	}
	if want.Mul(bigOf(z), bigOf(a)).Mod(want, bigOrder); !want.IsUint64() || want.Uint64() != 1 || bigOf(z).Cmp(bigOrder) >= 0 {
		t.Fatalf("1 / %x: %x", a, z)
	}
	negative := new(big.Int).Sub(bigOrder, bigOf(a))
	low, high := bigOf(a), negative.Cmp(bigOf(a)) < 0
	if high {
		low = negative
	}
	z = a
	if got := z.NegateHigh(); got != high || z != wordsOf(low) {
		t.Fatalf("%x made low: %x, %v", a, z, got)
	}
}

func TestScalarEdges(t *testing.T) {
	list := edges()
	for i, x := range list {
		for j, y := range list[:56] {
			if i < j || (i+j)%4 == 0 {
				mustScale(t, x, y)
			}
		}
	}
}

// TestScalarReduce: with a carry, as a product leaves it too rarely to be met by
// chance, and without.
func TestScalarReduce(t *testing.T) {
	for _, w := range edges() {
		for carry := range uint64(2) {
			n := bigOf(w)
			if carry == 1 {
				n.Add(n, two256)
			}
			over := n.Cmp(bigOrder) >= 0
			if over {
				n.Sub(n, bigOrder)
			}
			if n.Cmp(two256) >= 0 {
				continue // more than n twice
			}
			z := curve.Scalar(w)
			if got := z.Reduce(carry); got != over || z != wordsOf(n) {
				t.Errorf("%x with carry %d: %x, %v, want %x", w, carry, z, got, wordsOf(n))
			}
		}
	}
}

func TestScalarProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { mustScale(t, drawWords(t, "x"), drawWords(t, "y")) })
}

func FuzzScalar(f *testing.F) {
	for _, w := range edges()[:56] {
		b := bytesOf(w)
		f.Add(b[:], b[:])
	}
	f.Fuzz(func(t *testing.T, x, y []byte) {
		var a, b [4]uint64
		for i := range 32 {
			if i < len(x) {
				a[i/8] |= uint64(x[i]) << (i % 8 * 8)
			}
			if i < len(y) {
				b[i/8] |= uint64(y[i]) << (i % 8 * 8)
			}
		}
		mustScale(t, a, b)
	})
}
