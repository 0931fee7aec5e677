package curve

// A point is a finite point of the curve y² = x³ + 7.
type point struct{ x, y element }

// generator is the curve's base point.
var generator = point{
	element{0x59f2815b16f81798, 0x029bfcdb2dce28d9, 0x55a06295ce870b07, 0x79be667ef9dcbbac},
	element{0x9c47d08ffb10d4b8, 0xfd17b448a6855419, 0x5da4fbfc0e1108a8, 0x483ada7726a3c465},
}

// onCurve tells whether the coordinates satisfy the curve's equation.
func (p *point) onCurve() bool {
	var left, right element
	mul(&left, &p.y, &p.y)
	mul(&right, &p.x, &p.x)
	mul(&right, &right, &p.x)
	right.add(&right, &element{7})
	return left.equal(&right)
}

// kind is what the line through a pair's points is.
type kind uint8

const (
	chord    kind = iota
	tangent       // the points are the same
	infinite      // they are each other's negative, the sum is the point at infinity
)

// A pair is a sum of two points in a list that is to be made: at a and b in the
// list, the sum goes to to.
type pair struct {
	a, b, to int32
	kind     kind    // set by addPairs
	den      element // denominator of the slope
	before   element // product of the denominators before it
}

// appendPair appends a pair and leaves what addPairs sets as it is, which is most
// of the pair.
func appendPair(pairs []pair, a, b, to int32) []pair {
	n := len(pairs)
	if n == cap(pairs) {
		return append(pairs, pair{a: a, b: b, to: to})
	}
	pairs = pairs[:n+1]
	p := &pairs[n]
	p.a, p.b, p.to = a, b, to
	return pairs
}

// addPairs makes the sums of all pairs with one inversion. None of the pairs may
// read what another one writes.
//
// The sum of points with slope k between them is x = k² - x1 - x2 and
// y = k·(x1 - x) - y1. Six multiplications a sum are about half of what sums
// without inversions cost, so this is a gain for some forty pairs or more.
func addPairs(points []point, pairs []pair) {
	product := element{1}
	for i := range pairs {
		p := &pairs[i]
		p.kind = chord
		if a, b := &points[p.a], &points[p.b]; start(p, a, b, &product) {
			p.tangent(a, b, &product)
		}
	}
	var inverse element // of the product of the denominators up to here
	inverse.invert(&product)
	for i := len(pairs) - 1; i >= 0; i-- {
		p := &pairs[i]
		a, b, to := &points[p.a], &points[p.b], &points[p.to]
		switch p.kind {
		case chord:
			finish(to, a, b, p, &inverse)
		case tangent:
			finishTangent(to, a, p, &inverse)
		}
	}
}

// startPlain sets p's denominator to that of the chord, and takes it into the
// product, unless it is zero.
func startPlain(p *pair, a, b *point, product *element) (same bool) {
	p.den.sub(&b.x, &a.x)
	if p.den.isZero() {
		return true
	}
	p.before = *product
	mulPlain(product, product, &p.den)
	return false
}

// tangent is what start does where both points have one x: they are the same, or
// one is the other's negative. No y is 0, as the group's order is odd.
func (p *pair) tangent(a, b *point, product *element) {
	p.den.add(&a.y, &b.y)
	if p.den.isZero() {
		p.kind = infinite
		return
	}
	p.kind = tangent
	p.before = *product
	mul(product, product, &p.den)
}

// finishPlain makes the sum of a chord's points, with the inverse of all
// denominators up to p's, which it leaves as that of those before.
func finishPlain(to, a, b *point, p *pair, inverse *element) {
	var k, d element
	mulPlain(&k, inverse, &p.before)
	mulPlain(inverse, inverse, &p.den)
	d.sub(&b.y, &a.y)
	mulPlain(&k, &k, &d)
	third(to, a, b, &k)
}

// finishTangent is finish for a tangent at a, whose slope is 3x² / 2y.
func finishTangent(to, a *point, p *pair, inverse *element) {
	var k, d, twice element
	mul(&k, inverse, &p.before)
	mul(inverse, inverse, &p.den)
	mul(&d, &a.x, &a.x)
	twice.add(&d, &d)
	d.add(&d, &twice)
	mul(&k, &k, &d)
	third(to, a, a, &k)
}

// third sets to to the sum of a and b with the slope k.
func third(to, a, b *point, k *element) {
	var x, y element
	mulPlain(&x, k, k)
	x.sub(&x, &a.x)
	x.sub(&x, &b.x)
	y.sub(&a.x, &x)
	mulPlain(&y, &y, k)
	y.sub(&y, &a.y)
	*to = point{x, y}
}
