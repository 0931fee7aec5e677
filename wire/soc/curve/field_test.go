package curve_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"treecast/wire/soc/curve"
)

// fieldOps are the operations on two elements, with what they are to give.
var fieldOps = map[string]struct {
	do   func(z, x, y *curve.Element)
	want func(z, x, y *big.Int) *big.Int
}{
	"add":     {(*curve.Element).Add, (*big.Int).Add},
	"sub":     {(*curve.Element).Sub, (*big.Int).Sub},
	"mul":     {curve.Paths["machine"].Mul, (*big.Int).Mul},
	"plain":   {curve.Paths["plain"].Mul, (*big.Int).Mul},
	"negate":  {func(z, x, _ *curve.Element) { z.Negate(x) }, func(z, x, _ *big.Int) *big.Int { return z.Neg(x) }},
	"inverse": {func(z, x, _ *curve.Element) { z.Invert(x) }, inverseModulo(bigPrime)},
}

// inverseModulo is the inverse modulo m, 0 of 0.
func inverseModulo(m *big.Int) func(z, x, _ *big.Int) *big.Int {
	return func(z, x, _ *big.Int) *big.Int {
		if z.ModInverse(x, m) == nil {
			return z.SetUint64(0)
		}
		return z
	}
}

// fataler is a test of any kind.
type fataler interface{ Fatalf(string, ...any) }

// mustCompute holds every operation on x and y, also in place, against the
// oracle.
func mustCompute(t fataler, x, y curve.Element) {
	for name, op := range fieldOps {
		if name == "inverse" && y != (curve.Element{}) {
			continue // it has one operand, and it is slow
		}
		want := curve.Element(wordsOf(new(big.Int).Mod(op.want(new(big.Int), bigOf(x), bigOf(y)), bigPrime)))
		var z curve.Element
		op.do(&z, &x, &y)
		if z.Reduce() != want {
			t.Fatalf("%s of %x and %x: %x, want %x", name, x, y, z, want)
		}
		inX, inY := x, y
		op.do(&inX, &inX, &y)
		op.do(&inY, &x, &inY)
		if inX != z || inY != z {
			t.Fatalf("%s of %x and %x in place: %x and %x, want %x", name, x, y, inX, inY, z)
		}
		if x == y {
			both := x
			op.do(&both, &both, &both)
			if both != z {
				t.Fatalf("%s of %x and itself in place: %x, want %x", name, x, both, z)
			}
		}
	}
	var same, minus curve.Element
	same.NegateMasked(&x, 0)
	minus.NegateMasked(&x, ^uint64(0))
	if want := wordsOf(new(big.Int).Mod(new(big.Int).Neg(bigOf(x)), bigPrime)); same != x || minus.Reduce() != want {
		t.Fatalf("%x with its sign kept and changed: %x and %x", x, same, minus)
	}
	below := new(big.Int).Mod(bigOf(x), bigPrime)
	if got := x.Reduce(); got != wordsOf(below) {
		t.Fatalf("%x below p: %x", x, got)
	}
	if x.IsZero() != (below.Sign() == 0) || x.Odd() != (below.Bit(0) == 1) {
		t.Fatalf("%x: zero %v, odd %v", x, x.IsZero(), x.Odd())
	}
	if same := below.Cmp(new(big.Int).Mod(bigOf(y), bigPrime)) == 0; x.Equal(&y) != same {
		t.Fatalf("%x equal to %x: %v", x, y, !same)
	}
	var got curve.Element
	b := bytesOf(x)
	if got.SetBytes(&b); got != x {
		t.Fatalf("%x of bytes: %x", x, got)
	}
}

func TestFieldEdges(t *testing.T) {
	list := edges()
	for i, x := range list {
		mustCompute(t, x, x)
		for j, y := range list {
			// Numbers around the edges with all, the others here and there.
			if j < 56 && i < 56 || (i+j)%8 == 0 {
				mustCompute(t, x, y)
			}
		}
	}
}

func TestFieldProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawWords(t, "x")
		mustCompute(t, x, drawWords(t, "y"))
		mustCompute(t, x, x)
		mustCompute(t, x, curve.Element{})
	})
}

// lastCarries are pairs of numbers whose product goes over 2^256 once more when
// what was over it has been folded twice, and then over the lowest word; that is
// too rare to be met by chance.
//
// With y = 2^256 - 1 and f for fold, x·y is (x-1)·2^256 + 2^256 - x, folded
// x·(f-1) - f + 2^256. The x is solved for which that is k over 2^256 and, folded
// again, 2^256 + w; for any k one w in f-1 gives a whole x.
func lastCarries(t *testing.T) (list [][2]curve.Element) {
	t.Helper()
	fold := new(big.Int).Sub(two256, bigPrime)
	less := new(big.Int).Sub(fold, big.NewInt(1))
	for _, k := range []int64{1 << 32, 1<<32 - 1, 1<<32 + 900} {
		w := new(big.Int).Lsh(big.NewInt(1), 64)
		w.Sub(w, big.NewInt(1))
		n := new(big.Int).Mul(big.NewInt(k), bigPrime)
		n.Add(n, fold).Add(n, w)
		x, rest := new(big.Int).DivMod(n, less, new(big.Int))
		if w.Sub(w, rest); w.Cmp(new(big.Int).SetUint64(curve.Prime[0])) < 0 {
			t.Fatalf("k %d: w is %x", k, w)
		}
		list = append(list, [2]curve.Element{wordsOf(x), {^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}})
	}
	return list
}

func TestMulLastCarry(t *testing.T) {
	for _, f := range lastCarries(t) {
		mustCompute(t, f[0], f[1])
		mustCompute(t, f[1], f[0])
	}
}

func FuzzField(f *testing.F) {
	for _, w := range edges()[:56] {
		b := bytesOf(w)
		f.Add(b[:], b[:])
	}
	f.Fuzz(func(t *testing.T, x, y []byte) {
		var a, b [32]byte
		copy(a[:], x)
		copy(b[:], y)
		var left, right curve.Element
		left.SetBytes(&a)
		right.SetBytes(&b)
		mustCompute(t, left, right)
	})
}
