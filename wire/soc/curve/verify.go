package curve

import "sync"

// A Check is one signature to be checked against a known key. All numbers are big
// endian.
type Check struct {
	Key    *Key
	Digest [32]byte // what was signed
	R, S   [32]byte // the signature
	Odd    bool     // whether y of the nonce's point is odd
	Valid  bool     // the answer
}

// BatchSize is how many signatures share the inversions, at most.
const BatchSize = 8

// Verify sets Valid of each check: whether recovering a key from the signature
// and the parity would give the check's key. It allocates nothing once warm, and
// checks up to BatchSize signatures together, which takes about two thirds of what they
// take one by one.
//
// The answer is that of recovery, exactly: recovery lifts r to the point R with
// that x and a y of that parity, and solves
//
//	R = (digest/s)·G + (r/s)·Key
//
// for the key. With r and s in 1 to n-1 there is one solution for each R, so that
// it is Key if and only if the right side is R. That r has to be the whole x,
// although it is known modulo n alone, is what the parity's two codes say; an x
// above n has codes of its own, which no chunk may use.
func Verify(checks []Check) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	for len(checks) > 0 {
		n := min(len(checks), BatchSize)
		s.verify(checks[:n])
		checks = checks[n:]
	}
}

// scratch is what the check of a batch needs.
type scratch struct {
	points  []point             // the summands of all, which become sums
	chosen  []choice            // of one check
	touched uint64              // what makes gather's first look at them no idle one
	pairs   []pair              // of one level
	z       element             // of the scale that the points are in
	shared  int                 // sharedInversion; tests take other numbers too
	sums    [BatchSize][]int32  // indices of each check's points, at the end of R alone
	scalars [BatchSize]rsBefore // of each check
}

// rsBefore is r and s, later 1/s, and the product of the s before it.
type rsBefore struct{ r, s, before scalar }

var scratches = sync.Pool{New: func() any { return &scratch{shared: sharedInversion} }}

func (s *scratch) verify(checks []Check) {
	s.invert(checks)
	base := baseTable()
	s.points = s.points[:0]
	for i := range checks {
		c, at := &checks[i], s.sums[i][:0]
		if c.Valid {
			var digest, u scalar
			k, first := &s.scalars[i], len(s.points)
			digest.setBytes(&c.Digest)
			u.mul(&digest, &k.s)
			s.chosen = base.choose(s.chosen[:0], u)
			u.mul(&k.r, &k.s)
			s.chosen = c.Key.table.choose(s.chosen, u)
			s.points = s.gather(s.points, s.chosen)
			for j := first; j < len(s.points); j++ {
				at = append(at, int32(j))
			}
		}
		s.sums[i] = at
	}
	s.addUp(len(checks))
	s.z.invert(&s.z)
	var back scale
	back.set(&s.z)
	for i := range checks {
		c, at := &checks[i], s.sums[i]
		if !c.Valid {
			continue
		}
		if len(at) == 0 { // R is at infinity
			c.Valid = false
			continue
		}
		var r element
		r.setBytes(&c.R)
		p := &s.points[at[0]]
		back.apply(p)
		c.Valid = p.x.equal(&r) && p.y.odd() == c.Odd
	}
}

// invert reads r and s of each check, sets Valid where both are in their range,
// and inverts s there, with one inversion for all.
func (s *scratch) invert(checks []Check) {
	product, first := scalar{1}, len(checks)
	for i := range checks {
		c, k := &checks[i], &s.scalars[i]
		overR, overS := k.r.setBytes(&c.R), k.s.setBytes(&c.S)
		c.Valid = !overR && !overS && !k.r.isZero() && !k.s.isZero()
		switch {
		case !c.Valid:
		case first == len(checks): // there is nothing to multiply by
			product, first = k.s, i
		default:
			k.before = product
			product.mul(&product, &k.s)
		}
	}
	product.invert(&product)
	for i := len(checks) - 1; i > first; i-- {
		if k := &s.scalars[i]; checks[i].Valid {
			own := k.s
			k.s.mul(&product, &k.before)
			product.mul(&product, &own)
		}
	}
	if first < len(checks) {
		s.scalars[first].s = product
	}
}

// sharedInversion is how many pairs have to share an inversion for addPairs to take
// less than addPairsScaled. On a Zen 3 core the former takes 1.8 µs for the
// inversion and 99 ns a pair, the latter 117 ns a pair, so that they meet at 100.
// A batch of 8 has levels of some 240, 120, 60 and fewer pairs, a lone check of 30
// and fewer.
const sharedInversion = 100

// addUp adds the points of each of the first n sums, level by level, until each
// has one left or none.
func (s *scratch) addUp(n int) {
	s.z = element{1}
	for {
		s.pairs = s.pairs[:0]
		for _, at := range s.sums[:n] {
			for ; len(at) >= 2; at = at[2:] {
				s.pairs = appendPair(s.pairs, at[0], at[1], at[0])
			}
		}
		if len(s.pairs) == 0 {
			return
		}
		if len(s.pairs) >= s.shared {
			addPairs(s.points, s.pairs)
		} else {
			s.addScaled(n)
		}
		done := s.pairs
		for i, at := range s.sums[:n] {
			left := at[:0]
			for ; len(at) >= 2; at = at[2:] {
				if done[0].kind != infinite {
					left = append(left, at[0])
				}
				done = done[1:]
			}
			s.sums[i] = append(left, at...)
		}
	}
}

// addScaled makes the sums of a level with addPairsScaled, and takes to their
// coordinates the points that are in no pair, one of each sum with an odd number.
func (s *scratch) addScaled(n int) {
	by, z := addPairsScaled(s.points, s.pairs)
	mul(&s.z, &s.z, &z)
	for _, at := range s.sums[:n] {
		if len(at)%2 == 1 {
			by.apply(&s.points[at[len(at)-1]])
		}
	}
}
