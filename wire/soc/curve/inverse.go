package curve

import "math/bits"

// Inverses come from the Euclidean algorithm by divisions with steps of
// Bernstein and Yang ("Fast constant-time gcd computation and modular
// inversion", 2019), in variable time. Steps look at the lowest bits alone, so 62
// of them are taken at once on single words, and what they did is then applied to
// the long numbers as one matrix.

// stepBits is how many steps are taken at once. It leaves two bits of a word to
// the sign and to sums of two.
const (
	stepBits = 62
	stepMask = 1<<stepBits - 1
)

// A long is the number Σ l[i]·2^(62i): all words but the last are in 0 to
// stepMask, the last has the sign.
type long [5]int64

// longOf is the 256-bit number x.
func longOf(x *[4]uint64) long {
	return long{
		int64(x[0] & stepMask),
		int64((x[0]>>62 | x[1]<<2) & stepMask),
		int64((x[1]>>60 | x[2]<<4) & stepMask),
		int64((x[2]>>58 | x[3]<<6) & stepMask),
		int64(x[3] >> 56),
	}
}

// words is the number, which is in 0 to 2^256-1.
func (l *long) words() [4]uint64 {
	return [4]uint64{
		uint64(l[0]) | uint64(l[1])<<62,
		uint64(l[1])>>2 | uint64(l[2])<<60,
		uint64(l[2])>>4 | uint64(l[3])<<58,
		uint64(l[3])>>6 | uint64(l[4])<<56,
	}
}

// negate changes the sign of the number where mask is -1, not where it is 0.
func (l *long) negate(mask int64) {
	var carry int64
	for i := range l {
		v := l[i] ^ mask - mask + carry
		if i < len(l)-1 {
			carry = v >> stepBits
			v &= stepMask
		}
		l[i] = v
	}
}

// addMasked adds the number m where mask is -1, not where it is 0.
func (l *long) addMasked(m *long, mask int64) {
	var carry int64
	for i := range l {
		v := l[i] + m[i]&mask + carry
		if i < len(l)-1 {
			carry = v >> stepBits
			v &= stepMask
		}
		l[i] = v
	}
}

// A modulus is an odd number of 256 bits that inverses are taken by.
type modulus struct {
	long
	inverse uint64 // of the lowest stepBits bits, modulo 2^stepBits
}

func modulusOf(m [4]uint64) modulus {
	// Newton's iteration: each doubles the number of right bits, of which an odd
	// number has three.
	inverse := m[0]
	for range 5 {
		inverse *= 2 - m[0]*inverse
	}
	return modulus{longOf(&m), inverse & stepMask}
}

// A matrix is what steps do, times 2^stepBits: f becomes u·f + v·g, and g becomes
// q·f + r·g. |u| + |v| and |q| + |r| are at most 2^stepBits.
type matrix struct{ u, v, q, r int64 }

// steps takes stepBits steps on the lowest words of f and g, f odd. eta is the
// count that decides when f and g change places, negated; it starts at -1.
func steps(eta int, f, g uint64) (int, matrix) {
	var u, v, q, r uint64 = 1, 0, 0, 1
	for left := stepBits; ; {
		// An even g is halved, as often as it is even.
		zeros := bits.TrailingZeros64(g | ^uint64(0)<<left)
		g >>= zeros & 63
		u <<= zeros & 63
		v <<= zeros & 63
		eta -= zeros
		left -= zeros
		if left == 0 {
			return eta, matrix{int64(u), int64(v), int64(q), int64(r)}
		}
		if eta < 0 {
			eta = -eta
			f, g = g, -f
			u, q = q, -u
			v, r = r, -v
		}
		// The next eta+1 steps add f to g wherever g is odd: a multiple of f, of
		// which the inverse of f modulo 64 gives six bits at once.
		w := f * g * (f*f - 2) & (1<<min(eta+1, left, 6) - 1)
		g += w * f
		q += w * u
		r += w * v
	}
}

// An acc is a signed number of 128 bits. Its methods are on values, so that it stays
// in registers.
type acc struct{ hi, lo uint64 }

// plusProduct is a + x·y, y ≥ 0.
func (a acc) plusProduct(x, y int64) acc {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	hi -= uint64(x >> 63 & y)
	lo, c := bits.Add64(a.lo, lo, 0)
	hi, _ = bits.Add64(a.hi, hi, c)
	return acc{hi, lo}
}

// plusSigned is a + x·y, of any signs.
func (a acc) plusSigned(x, y int64) acc {
	a = a.plusProduct(x, y)
	a.hi -= uint64(y >> 63 & x)
	return a
}

// low is the lowest stepBits bits, and high the others: a divided by 2^stepBits,
// rounded down.
func (a acc) low() int64 { return int64(a.lo & stepMask) }

func (a acc) high() acc {
	return acc{uint64(int64(a.hi) >> stepBits), a.lo>>stepBits | a.hi<<(64-stepBits)}
}

// apply sets (f, g) to t·(f, g) / 2^stepBits, which has no remainder.
func (t *matrix) apply(f, g *long) {
	var a, b acc
	for i := range f {
		fi, gi := f[i], g[i]
		if i < len(f)-1 {
			a = a.plusProduct(t.u, fi)
			a = a.plusProduct(t.v, gi)
			b = b.plusProduct(t.q, fi)
			b = b.plusProduct(t.r, gi)
		} else {
			a = a.plusSigned(t.u, fi)
			a = a.plusSigned(t.v, gi)
			b = b.plusSigned(t.q, fi)
			b = b.plusSigned(t.r, gi)
		}
		if i > 0 {
			f[i-1], g[i-1] = a.low(), b.low()
		}
		a, b = a.high(), b.high()
	}
	f[4], g[4] = int64(a.lo), int64(b.lo)
}

// applyModulo sets (d, e) to t·(d, e) / 2^stepBits modulo m. Both are above -2m
// and below m, before and after: a negative one counts m more, which makes the
// products less than 2^stepBits·m in magnitude, and then the multiple of m is
// taken away, of 0 to 2^stepBits-1, that leaves no remainder.
func (t *matrix) applyModulo(d, e *long, m *modulus) {
	signD, signE := d[4]>>63, e[4]>>63
	kd := t.u&signD + t.v&signE
	ke := t.q&signD + t.r&signE
	var a, b acc
	for i := range d {
		di, ei, mi := d[i], e[i], m.long[i]
		if i < len(d)-1 {
			a = a.plusProduct(t.u, di)
			a = a.plusProduct(t.v, ei)
			b = b.plusProduct(t.q, di)
			b = b.plusProduct(t.r, ei)
		} else {
			a = a.plusSigned(t.u, di)
			a = a.plusSigned(t.v, ei)
			b = b.plusSigned(t.q, di)
			b = b.plusSigned(t.r, ei)
		}
		if i == 0 {
			kd -= int64((m.inverse*a.lo + uint64(kd)) & stepMask)
			ke -= int64((m.inverse*b.lo + uint64(ke)) & stepMask)
		}
		a = a.plusProduct(kd, mi)
		b = b.plusProduct(ke, mi)
		if i > 0 {
			d[i-1], e[i-1] = a.low(), b.low()
		}
		a, b = a.high(), b.high()
	}
	d[4], e[4] = int64(a.lo), int64(b.lo)
}

// inverseOf is the inverse of x modulo m, and 0 for 0. m is prime, x below it.
func (m *modulus) inverseOf(x *[4]uint64) [4]uint64 {
	// f and g are d and e times x modulo m.
	f, g := m.long, longOf(x)
	d, e := long{}, long{1}
	for eta := -1; g != (long{}); {
		var t matrix
		eta, t = steps(eta, uint64(f[0])|uint64(f[1])<<stepBits, uint64(g[0])|uint64(g[1])<<stepBits)
		t.apply(&f, &g)
		t.applyModulo(&d, &e, m)
	}
	// f is the greatest common divisor, 1, with either sign; or m where x is 0,
	// with d 0 still.
	d.addMasked(&m.long, d[4]>>63)
	d.negate(f[4] >> 63)
	d.addMasked(&m.long, d[4]>>63)
	return d.words()
}

// The moduli of the field and of its group's order.
var (
	fieldModulus  = modulusOf(prime)
	scalarModulus = modulusOf(order)
)

// invert sets z = 1/x, and 0 for 0.
func (z *element) invert(x *element) {
	r := x.reduce()
	*z = fieldModulus.inverseOf((*[4]uint64)(&r))
}

// invert sets z = 1/x, and 0 for 0.
func (z *scalar) invert(x *scalar) {
	*z = scalarModulus.inverseOf((*[4]uint64)(x))
}
