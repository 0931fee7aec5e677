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
// y = k·(x1 - x) - y1. That is six multiplications a sum; see addPairsScaled for
// few pairs.
func addPairs(points []point, pairs []pair) {
	products := startAll(points, pairs)
	var inverse element
	mul(&inverse, &products[0], &products[1])
	inverse.invert(&inverse)
	var rest chains // inverses of the products of the denominators up to here
	mul(&rest[0], &inverse, &products[1])
	mul(&rest[1], &inverse, &products[0])
	for i := len(pairs) - 1; i >= 0; i-- {
		p, rest := &pairs[i], &rest[i%len(rest)]
		a, b, to := &points[p.a], &points[p.b], &points[p.to]
		switch p.kind {
		case chord:
			finish(to, a, b, p, rest)
		case tangent:
			k := p.slope(a, rest)
			third(to, a, a, &k)
		}
	}
}

// chains are the products of the denominators of the even pairs and of the odd
// ones: while the one waits for its last factor, the other gets one.
type chains [2]element

// startAll finds out what the pairs are, and the products of their denominators.
func startAll(points []point, pairs []pair) chains {
	products := chains{{1}, {1}}
	for i := range pairs {
		p, product := &pairs[i], &products[i%len(products)]
		p.kind = chord
		if a, b := &points[p.a], &points[p.b]; start(p, a, b, product) {
			p.tangent(a, b, product)
		}
	}
	return products
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
// denominators up to p's in its chain, which it leaves as that of those before.
func finishPlain(to, a, b *point, p *pair, rest *element) {
	k := p.slopePlain(a, b, rest)
	third(to, a, b, &k)
}

// slopePlain is the slope of a chord, times what rest has beside the inverse of
// the denominators up to p's. It takes p's out of rest.
func (p *pair) slopePlain(a, b *point, rest *element) (k element) {
	var d element
	mulPlain(&k, rest, &p.before)
	mulPlain(rest, rest, &p.den)
	d.sub(&b.y, &a.y)
	mulPlain(&k, &k, &d)
	return k
}

// slope is slopePlain for the tangent at a, whose slope is 3x² / 2y.
func (p *pair) slope(a *point, rest *element) (k element) {
	var d, twice element
	mul(&k, rest, &p.before)
	mul(rest, rest, &p.den)
	mul(&d, &a.x, &a.x)
	twice.add(&d, &d)
	d.add(&d, &twice)
	mul(&k, &k, &d)
	return k
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
