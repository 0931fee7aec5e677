package curve

import "math/bits"

// row is f times the number of the words y.
func row(f, y0, y1, y2, y3 uint64) (r0, r1, r2, r3, r4 uint64) {
	h0, r0 := bits.Mul64(f, y0)
	h1, l1 := bits.Mul64(f, y1)
	h2, l2 := bits.Mul64(f, y2)
	h3, l3 := bits.Mul64(f, y3)
	r1, c := bits.Add64(l1, h0, 0)
	r2, c = bits.Add64(l2, h1, c)
	r3, c = bits.Add64(l3, h2, c)
	return r0, r1, r2, r3, h3 + c
}

// wide is the product of two 256-bit numbers.
func wide(x, y *[4]uint64) (t [8]uint64) {
	y0, y1, y2, y3 := y[0], y[1], y[2], y[3]
	t0, t1, t2, t3, t4 := row(x[0], y0, y1, y2, y3)

	r0, r1, r2, r3, r4 := row(x[1], y0, y1, y2, y3)
	t1, c := bits.Add64(t1, r0, 0)
	t2, c = bits.Add64(t2, r1, c)
	t3, c = bits.Add64(t3, r2, c)
	t4, c = bits.Add64(t4, r3, c)
	t5 := r4 + c

	r0, r1, r2, r3, r4 = row(x[2], y0, y1, y2, y3)
	t2, c = bits.Add64(t2, r0, 0)
	t3, c = bits.Add64(t3, r1, c)
	t4, c = bits.Add64(t4, r2, c)
	t5, c = bits.Add64(t5, r3, c)
	t6 := r4 + c

	r0, r1, r2, r3, r4 = row(x[3], y0, y1, y2, y3)
	t3, c = bits.Add64(t3, r0, 0)
	t4, c = bits.Add64(t4, r1, c)
	t5, c = bits.Add64(t5, r2, c)
	t6, c = bits.Add64(t6, r3, c)
	t7 := r4 + c
	return [8]uint64{t0, t1, t2, t3, t4, t5, t6, t7}
}

// mulPlain sets z = x·y in plain Go, on every machine; see mul.
func mulPlain(z, x, y *element) {
	t := wide((*[4]uint64)(x), (*[4]uint64)(y))
	// What is above 2^256 comes back times fold, at most 34 bits of it a second
	// time.
	r0, r1, r2, r3, r4 := row(fold, t[4], t[5], t[6], t[7])
	t0, c := bits.Add64(t[0], r0, 0)
	t1, c := bits.Add64(t[1], r1, c)
	t2, c := bits.Add64(t[2], r2, c)
	t3, c := bits.Add64(t[3], r3, c)
	hi, lo := bits.Mul64(r4+c, fold)
	t0, c = bits.Add64(t0, lo, 0)
	t1, c = bits.Add64(t1, hi, c)
	t2, c = bits.Add64(t2, 0, c)
	t3, c = bits.Add64(t3, 0, c)
	// A third time it is a single bit, and the rest is below 2^68.
	t0, c = bits.Add64(t0, -c&fold, 0)
	z[0], z[1], z[2], z[3] = t0, t1+c, t2, t3
}
