package curve

// A scale takes a point from coordinates x, y to x·z², y·z³. What they satisfy then
// is y² = x³ + 7·z⁶, and the law of addition does not have the 7 in it: points may
// be added in any coordinates, if all have the same.
type scale struct {
	square, cube element // z² and z³
	half         element // z³/2, for thirdScaled alone
}

// set makes it the scale of z.
func (s *scale) set(z *element) {
	mul(&s.square, z, z)
	mul(&s.cube, &s.square, z)
}

// apply takes the point to the coordinates of the scale.
func (s *scale) apply(p *point) {
	mul(&p.x, &p.x, &s.square)
	mul(&p.y, &p.y, &s.cube)
}

// addPairsScaled is addPairs without the inversion: where that divides by the
// product of all denominators, this takes the sums to the scale of twice that
// product, which it returns. What else is to be added to the sums has to be taken
// there too.
//
// A slope has a denominator of its own, so that times all of them it is a product
// of the others, which the two ways through the pairs make in any case. The
// coordinates of the pair are to be scaled as well: that is two multiplications
// more a sum than with the inversion.
func addPairsScaled(points []point, pairs []pair) (s scale, z element) {
	products := startAll(points, pairs)
	mul(&s.half, &products[0], &products[1])
	z.add(&s.half, &s.half)
	mul(&s.square, &z, &z)
	mul(&s.half, &s.half, &s.square)
	s.cube.add(&s.half, &s.half)
	// Of each chain the other chain's product, and that of its own denominators
	// from here on.
	rest := chains{products[1], products[0]}
	for i := len(pairs) - 1; i >= 0; i-- {
		p, rest := &pairs[i], &rest[i%len(rest)]
		a, b, to := &points[p.a], &points[p.b], &points[p.to]
		switch p.kind {
		case chord:
			finishScaled(to, a, b, p, rest, &s)
		case tangent:
			k := p.slope(a, rest)
			thirdScaled(to, a, a, &k, &s)
		}
	}
	return s, z
}

// finishScaledPlain makes the sum of a chord's points, scaled, with the product of
// all denominators but those up to p's in its chain, which it leaves as that
// without those before.
func finishScaledPlain(to, a, b *point, p *pair, rest *element, s *scale) {
	k := p.slopePlain(a, b, rest)
	thirdScaled(to, a, b, &k, s)
}

// thirdScaled is third in the coordinates of the scale, where the slope is 2k. The
// y it makes is the mean of k·(x1 - x) - y1 and the same with the other point: the
// two sums of the points' coordinates are then all that has to be scaled. That the
// scale is twice the product makes the half of the mean come out without a division.
func thirdScaled(to, a, b *point, k *element, s *scale) {
	var sum, x, y element
	sum.add(&a.x, &b.x)
	mulPlain(&sum, &sum, &s.square)
	x.add(k, k)
	mulPlain(&x, &x, &x)
	x.sub(&x, &sum)
	y.sub(&sum, &x)
	y.sub(&y, &x)
	mulPlain(&y, &y, k)
	sum.add(&a.y, &b.y)
	mulPlain(&sum, &sum, &s.half)
	y.sub(&y, &sum)
	*to = point{x, y}
}
