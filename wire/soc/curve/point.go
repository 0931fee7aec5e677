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

// fieldModulus is p as a modulus of inverses.
var fieldModulus = modulusOf(prime)

// invert sets z = 1/x, and 0 for 0.
func (z *element) invert(x *element) {
	r := x.reduce()
	*z = fieldModulus.inverseOf((*[4]uint64)(&r))
}

// A pair is a sum of two points in a list that is to be made: at a and b in the
// list, the sum goes to to.
type pair struct {
	a, b, to int32
	none     bool    // set by addPairs: the sum is the point at infinity
	den      element // denominator of the slope
	before   element // product of the denominators before it
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
		a, b := &points[p.a], &points[p.b]
		p.none = false
		p.den.sub(&b.x, &a.x)
		if p.den.isZero() {
			// The same point twice or a point and its negative: no y is 0, as the
			// group's order is odd.
			p.den.add(&a.y, &b.y)
			if p.den.isZero() {
				p.none = true
				continue
			}
		}
		p.before = product
		mul(&product, &product, &p.den)
	}
	var inverse element // of the product of the denominators up to here
	inverse.invert(&product)
	for i := len(pairs) - 1; i >= 0; i-- {
		p := &pairs[i]
		if p.none {
			continue
		}
		a, b := &points[p.a], &points[p.b]
		var k, d element
		mul(&k, &inverse, &p.before)
		mul(&inverse, &inverse, &p.den)
		d.sub(&b.x, &a.x)
		if d.isZero() { // the tangent: 3x² / 2y
			mul(&d, &a.x, &a.x)
			var twice element
			twice.add(&d, &d)
			d.add(&d, &twice)
		} else {
			d.sub(&b.y, &a.y)
		}
		mul(&k, &k, &d)
		var x, y element
		mul(&x, &k, &k)
		x.sub(&x, &a.x)
		x.sub(&x, &b.x)
		y.sub(&a.x, &x)
		mul(&y, &y, &k)
		y.sub(&y, &a.y)
		points[p.to] = point{x, y}
	}
}
