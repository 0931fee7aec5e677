package curve_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"treecast/wire/soc/curve"
)

// TestAddPairs makes many sums with one inversion, of random points, the same
// point twice, a point and its negative, in any order, and with coordinates that
// are not below p.
func TestAddPairs(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range 15 {
		var points []curve.Point
		var pairs []curve.Pair
		var kinds []curve.Kind
		for i := range rng.IntN(20) {
			a := new(big.Int).SetUint64(1 + rng.Uint64N(5))
			b := new(big.Int).SetUint64(6 + rng.Uint64N(5))
			kind := curve.Kind(rng.IntN(3))
			switch kind {
			case curve.Tangent:
				b = a
			case curve.Infinite:
				b = new(big.Int).Neg(a)
			}
			points = append(points, pointOf(multiple(a)), pointOf(multiple(b)))
			kinds = append(kinds, kind)
			// The sum goes to a place of the pair, as in checks.
			pairs = curve.AppendPair(pairs, int32(2*i), int32(2*i+1), int32(2*i+rng.IntN(2)))
		}
		before := slices.Clone(points)
		curve.AddPairs(points, pairs)
		for i := range pairs {
			if got := pairs[i].Kind(); got != kinds[i] {
				t.Fatalf("round %d, pair %d: kind %d, want %d", round, i, got, kinds[i])
			}
			want := plus(oracleOf(before[2*i]), oracleOf(before[2*i+1]))
			if kinds[i] == curve.Infinite {
				if want != nil {
					t.Fatalf("the oracle finds pair %d of round %d to be finite", i, round)
				}
				continue
			}
			if !samePoint(points[2*i], want) && !samePoint(points[2*i+1], want) {
				t.Fatalf("round %d, pair %d: sum is not that of the oracle", round, i)
			}
		}
	}
}

// TestAddPairsReused: what an earlier use left in a pair does not matter.
func TestAddPairsReused(t *testing.T) {
	two, three := pointOf(multiple(big.NewInt(2))), pointOf(multiple(big.NewInt(3)))
	minus := pointOf(multiple(big.NewInt(-2)))
	pairs := curve.AppendPair(nil, 0, 1, 0)
	for _, step := range []struct {
		b    curve.Point
		kind curve.Kind
	}{{minus, curve.Infinite}, {three, curve.Chord}, {two, curve.Tangent}, {three, curve.Chord}, {minus, curve.Infinite}} {
		points := []curve.Point{two, step.b}
		want := plus(oracleOf(two), oracleOf(step.b))
		pairs = curve.AppendPair(pairs[:0], 0, 1, 0)
		curve.AddPairs(points, pairs)
		if pairs[0].Kind() != step.kind {
			t.Errorf("kind %d, want %d", pairs[0].Kind(), step.kind)
		}
		if want != nil && !samePoint(points[0], want) {
			t.Errorf("wrong sum of kind %d", step.kind)
		}
	}
}

// TestPathsAgree: both ways of start and finish do the same to any numbers, words
// at their extremes and numbers above p included, and what they do is what the
// formulas say.
func TestPathsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := curve.PointOf(drawWords(t, "ax"), drawWords(t, "ay"))
		b := curve.PointOf(drawWords(t, "bx"), drawWords(t, "by"))
		if rapid.IntRange(0, 7).Draw(t, "same") == 0 {
			// The same x, once as it is and once p more.
			low := curve.Element{rapid.Uint64Max(1<<32).Draw(t, "low")}
			_, ay := a.Coordinates()
			_, by := b.Coordinates()
			a = curve.PointOf(low, ay)
			b = curve.PointOf(wordsOf(new(big.Int).Add(bigOf(low), bigPrime)), by)
		}
		product, den, before := curve.Element(drawWords(t, "product")), curve.Element(drawWords(t, "den")), curve.Element(drawWords(t, "before"))
		mustStart(t, a, b, product)
		mustFinish(t, a, b, den, before, product)
	})
}

// TestPathsEdges: differences at which a borrow comes twice, with a slope and
// denominators that are edges themselves.
func TestPathsEdges(t *testing.T) {
	one, list := curve.Element{1}, edges()[:56]
	// Differences of which all words but one are those of zero or of p.
	for _, zero := range []curve.Element{{}, curve.Prime} {
		for bit := range 256 {
			x := zero
			x[bit/64] ^= 1 << (bit % 64)
			mustStart(t, curve.PointOf(curve.Element{}, one), curve.PointOf(x, one), one)
		}
	}
	for _, f := range lastCarries(t) {
		x, y, none := f[0], f[1], curve.Element{}
		mustStart(t, curve.PointOf(none, one), curve.PointOf(y, one), x)
		mustFinish(t, curve.PointOf(none, none), curve.PointOf(one, one), y, y, x)
		mustFinish(t, curve.PointOf(none, none), curve.PointOf(one, y), one, one, x)
	}
	for i, x := range list {
		for j, other := range list {
			a, b := curve.PointOf(x, curve.Element{}), curve.PointOf(other, one)
			mustStart(t, a, b, one)
			mustFinish(t, a, b, one, one, one)
			if (i+j)%4 > 0 {
				continue // here and there, as all take long
			}
			slope := list[(7*i+j)%len(list)] // as b's y, or as a factor
			mustFinish(t, a, curve.PointOf(other, slope), one, one, one)
			mustFinish(t, curve.PointOf(x, slope), curve.PointOf(other, list[(i+11*j)%len(list)]), other, one, one)
			mustFinish(t, curve.PointOf(slope, x), curve.PointOf(x, slope), slope, other, one)
		}
	}
}

func mustStart(t fataler, a, b curve.Point, product curve.Element) {
	ax, _ := a.Coordinates()
	bx, _ := b.Coordinates()
	for name, path := range curve.Paths {
		var p curve.Pair
		after := product
		same := path.Start(&p, &a, &b, &after)
		den, before := p.Inside()
		var wantDen, want curve.Element
		wantDen.Sub(&bx, &ax)
		if same != wantDen.IsZero() || !den.Equal(&wantDen) {
			t.Fatalf("%s: same %v, denominator %x, want %x", name, same, den, wantDen)
		}
		if same {
			if after != product {
				t.Fatalf("%s: the product changed", name)
			}
			continue
		}
		curve.Paths["plain"].Mul(&want, &product, &wantDen)
		if before != product || !after.Equal(&want) {
			t.Fatalf("%s: before %x, product %x, want %x and %x", name, before, after, product, want)
		}
	}
}

func mustFinish(t fataler, a, b curve.Point, den, before, inverse curve.Element) {
	ax, ay := a.Coordinates()
	bx, by := b.Coordinates()
	k := bigOf(inverse)
	k.Mul(k, bigOf(before)).Mul(k, new(big.Int).Sub(bigOf(by), bigOf(ay))).Mod(k, bigPrime)
	x := new(big.Int).Mul(k, k)
	x.Sub(x, bigOf(ax)).Sub(x, bigOf(bx)).Mod(x, bigPrime)
	y := bigOf(ax)
	y.Sub(y, x).Mul(y, k).Sub(y, bigOf(ay)).Mod(y, bigPrime)
	left := bigOf(inverse)
	left.Mul(left, bigOf(den)).Mod(left, bigPrime)
	for name, path := range curve.Paths {
		for _, to := range []string{"elsewhere", "a"} {
			var p curve.Pair
			p.SetInside(den, before)
			here, after := a, inverse
			target := new(curve.Point)
			if to == "a" {
				target = &here
			}
			path.Finish(target, &here, &b, &p, &after)
			gotX, gotY := target.Coordinates()
			if gotX.Reduce() != wordsOf(x) || gotY.Reduce() != wordsOf(y) || after.Reduce() != wordsOf(left) {
				t.Fatalf("%s to %s: %x, %x and %x, want %x, %x and %x", name, to, gotX, gotY, after, x, y, left)
			}
		}
	}
}

func TestOnCurve(t *testing.T) {
	for k := range int64(20) {
		p := pointOf(multiple(big.NewInt(k + 1)))
		x, y := p.Coordinates()
		if !p.OnCurve() {
			t.Errorf("%d·G is not", k+1)
		}
		y[0] ^= 1
		if p = curve.PointOf(x, y); p.OnCurve() {
			t.Errorf("%d·G with another y is", k+1)
		}
	}
}
