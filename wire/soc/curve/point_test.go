package curve_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"treecast/wire/soc/curve"
)

// ways are those of making the sums of pairs; each returns the scale's z that the
// sums have then.
var ways = map[string]func(points []curve.Point, pairs []curve.Pair) curve.Element{
	"inverted": func(points []curve.Point, pairs []curve.Pair) curve.Element {
		curve.AddPairs(points, pairs)
		return curve.Element{1}
	},
	"scaled": func(points []curve.Point, pairs []curve.Pair) curve.Element {
		_, z := curve.AddPairsScaled(points, pairs)
		return z
	},
}

// descale takes points out of the scale of z.
func descale(points []curve.Point, z curve.Element) {
	var s curve.Scale
	z.Invert(&z)
	s.Set(&z)
	for i := range points {
		s.Apply(&points[i])
	}
}

// TestAddPairs makes many sums at once, of random points, the same point twice, a
// point and its negative, in any order, and in the coordinates of a scale. The sums
// go to either place of the pair.
func TestAddPairs(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for name, add := range ways {
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
				pairs = curve.AppendPair(pairs, int32(2*i), int32(2*i+1), int32(2*i+rng.IntN(2)))
			}
			before := slices.Clone(points)
			z := curve.Element{1}
			if round%3 > 0 {
				z = randomWords(rng)
			}
			var s curve.Scale
			s.Set(&z)
			for i := range points {
				s.Apply(&points[i])
			}
			by := add(points, pairs)
			curve.Paths["plain"].Mul(&z, &z, &by)
			descale(points, z)
			for i := range pairs {
				if got := pairs[i].Kind(); got != kinds[i] {
					t.Fatalf("%s, round %d, pair %d: kind %d, want %d", name, round, i, got, kinds[i])
				}
				want := plus(oracleOf(before[2*i]), oracleOf(before[2*i+1]))
				if kinds[i] == curve.Infinite {
					if want != nil {
						t.Fatalf("the oracle finds pair %d of round %d to be finite", i, round)
					}
					continue
				}
				if !samePoint(points[2*i], want) && !samePoint(points[2*i+1], want) {
					t.Fatalf("%s, round %d, pair %d: sum is not that of the oracle", name, round, i)
				}
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
		for name, add := range ways {
			points := []curve.Point{two, step.b}
			want := plus(oracleOf(two), oracleOf(step.b))
			pairs = curve.AppendPair(pairs[:0], 0, 1, 0)
			descale(points, add(points, pairs))
			if pairs[0].Kind() != step.kind {
				t.Errorf("%s: kind %d, want %d", name, pairs[0].Kind(), step.kind)
			}
			if want != nil && !samePoint(points[0], want) {
				t.Errorf("%s: wrong sum of kind %d", name, step.kind)
			}
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

// mustFinish holds the way back against the formulas: finish, and finishScaled with
// den and before as the factors of a scale, which may be any numbers.
func mustFinish(t fataler, a, b curve.Point, den, before, rest curve.Element) {
	ax, ay := a.Coordinates()
	bx, by := b.Coordinates()
	k := bigOf(rest)
	k.Mul(k, bigOf(before)).Mul(k, new(big.Int).Sub(bigOf(by), bigOf(ay))).Mod(k, bigPrime)
	left := bigOf(rest)
	left.Mul(left, bigOf(den))

	x := new(big.Int).Mul(k, k)
	x.Sub(x, bigOf(ax)).Sub(x, bigOf(bx))
	y := bigOf(ax)
	y.Sub(y, x).Mul(y, k).Sub(y, bigOf(ay))
	mustFinishAs(t, a, den, before, rest, [3]*big.Int{x, y, left}, func(path curve.Path, to, a *curve.Point, p *curve.Pair, rest *curve.Element) {
		path.Finish(to, a, &b, p, rest)
	})

	for _, f := range [][2]curve.Element{{{1}, {1}}, {den, before}, {before, den}} {
		scale := curve.ScaleBy(f[0], f[1])
		xs := new(big.Int).Add(bigOf(ax), bigOf(bx))
		xs.Mul(xs, bigOf(f[0]))
		ys := new(big.Int).Add(bigOf(ay), bigOf(by))
		ys.Mul(ys, bigOf(f[1]))
		x := new(big.Int).Lsh(k, 1)
		x.Mul(x, x).Sub(x, xs)
		y := xs.Sub(xs, x)
		y.Sub(y, x).Mul(y, k).Sub(y, ys)
		mustFinishAs(t, a, den, before, rest, [3]*big.Int{x, y, left}, func(path curve.Path, to, a *curve.Point, p *curve.Pair, rest *curve.Element) {
			path.FinishScaled(to, a, &b, p, rest, &scale)
		})
	}
}

// mustFinishAs demands that the way back gives x and y of a sum, and what is left
// of rest.
func mustFinishAs(t fataler, a curve.Point, den, before, rest curve.Element, want [3]*big.Int,
	finish func(path curve.Path, to, a *curve.Point, p *curve.Pair, rest *curve.Element),
) {
	var words [3]curve.Element
	for i, n := range want {
		words[i] = wordsOf(new(big.Int).Mod(n, bigPrime))
	}
	for name, path := range curve.Paths {
		for _, to := range []string{"elsewhere", "a"} {
			var p curve.Pair
			p.SetInside(den, before)
			here, after := a, rest
			target := new(curve.Point)
			if to == "a" {
				target = &here
			}
			finish(path, target, &here, &p, &after)
			x, y := target.Coordinates()
			if got := [3]curve.Element{x.Reduce(), y.Reduce(), after.Reduce()}; got != words {
				t.Fatalf("%s to %s: %x, want %x", name, to, got, words)
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
