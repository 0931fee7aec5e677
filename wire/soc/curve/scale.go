package curve

// A scale takes a point from coordinates x, y to x·z², y·z³. What they satisfy then
// is y² = x³ + 7·z⁶, and the law of addition does not have the 7 in it: points may
// be added in any coordinates, if all have the same.
type scale struct{ square, cube element } // z² and z³

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
// product of all denominators, this takes the sums to the scale of that product z,
// which it returns. What else is to be added to the sums has to be scaled too.
//
// A slope has a denominator of its own, so that times z it is a product of the
// others, which the two ways through the pairs make in any case. The points of the
// pair are taken to the scale as well: that is three multiplications more a sum
// than with the inversion.
func addPairsScaled(points []point, pairs []pair) (z element) {
	products := startAll(points, pairs)
	mul(&z, &products[0], &products[1])
	var s scale
	s.set(&z)
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
	return z
}

// finishScaledPlain makes the sum of a chord's points, scaled, with the product of
// all denominators but those up to p's in its chain, which it leaves as that
// without those before.
func finishScaledPlain(to, a, b *point, p *pair, rest *element, s *scale) {
	k := p.slopePlain(a, b, rest)
	thirdScaled(to, a, b, &k, s)
}

// thirdScaled is third in the coordinates of the scale, where the slope is k.
func thirdScaled(to, a, b *point, k *element, s *scale) {
	var sa, sb point
	mulPlain(&sa.x, &a.x, &s.square)
	mulPlain(&sa.y, &a.y, &s.cube)
	mulPlain(&sb.x, &b.x, &s.square)
	third(to, &sa, &sb, k)
}
