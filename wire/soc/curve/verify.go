package curve

import (
	"errors"
	"sync"
)

// Widths of the windows: of the base point's table, which there is once, and of a
// key's.
const (
	baseWidth = 8
	keyWidth  = 7
)

// baseTable is the table of the base point, made when it is first needed.
var baseTable = sync.OnceValue(func() *table { return newTable(generator, baseWidth) })

// A Key is a public key with the table by which signatures are checked against
// it. It is immutable and safe for concurrent use.
type Key struct{ table *table }

// KeySize is the size of a Key's table in bytes.
const KeySize = (scalarBits/keyWidth + 1) << (keyWidth - 1) * 64

// ErrNotOnCurve says that coordinates are no point of the curve.
var ErrNotOnCurve = errors.New("curve: point not on the curve")

// NewKey makes the table of the public key with the coordinates x || y, each 32
// bytes, big endian. The error is ErrNotOnCurve, also for a coordinate that is not
// below the field's prime.
func NewKey(point *[64]byte) (*Key, error) {
	p, ok := pointOf(point)
	if !ok {
		return nil, ErrNotOnCurve
	}
	return &Key{newTable(p, keyWidth)}, nil
}

func pointOf(b *[64]byte) (p point, ok bool) {
	p.x.setBytes((*[32]byte)(b[:32]))
	p.y.setBytes((*[32]byte)(b[32:]))
	return p, p.x == p.x.reduce() && p.y == p.y.reduce() && p.onCurve()
}

// A Check is one signature to be checked against a known key.
type Check struct {
	Key    *Key
	Digest [32]byte // big endian, as R and S
	R, S   [32]byte
	Odd    bool // y of the nonce point is odd
	Valid  bool // the answer
}

// Batch is how many signatures share the inversions, at most.
const Batch = 8

// scratch is what checking a batch needs.
type scratch struct {
	points  []point
	pairs   []pair
	sums    [Batch]sum
	scalars [Batch]struct{ r, s, before scalar }
}

// A sum is a list of points that becomes their sum: indices into the points.
type sum struct{ at []int32 }

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// Verify sets Valid of each check: whether recovering a key from the signature
// (r, s) and the parity would give the check's key. That is so exactly if r and s
// are in 1 to n-1 and the point
//
//	R = (digest/s)·G + (r/s)·Key
//
// is finite with x equal to r and y of the parity. For recovery lifts r to the
// point R of that parity and solves this equation for the key. (The key that
// recovery finds is never infinite if it equals a Key, and x between n and p, which
// takes another recovery code, is not r.)
//
// It is for public data: its time depends on all of it. It allocates nothing once
// warm, and checks Batch signatures together, which costs about half of what they
// cost one by one.
func Verify(checks []*Check) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	for len(checks) > 0 {
		n := min(len(checks), Batch)
		s.verify(checks[:n])
		checks = checks[n:]
	}
}

func (s *scratch) verify(checks []*Check) {
	s.invertS(checks)
	base := baseTable()
	s.points = s.points[:0]
	for i, c := range checks {
		list := &s.sums[i]
		list.at = list.at[:0]
		if !c.Valid {
			continue
		}
		var digest, u1, u2 scalar
		digest.setBytes(&c.Digest)
		k := &s.scalars[i]
		u1.mul(&digest, &k.s)
		u2.mul(&k.r, &k.s)
		first := len(s.points)
		s.points = base.gather(s.points, u1)
		s.points = c.Key.table.gather(s.points, u2)
		for at := first; at < len(s.points); at++ {
			list.at = append(list.at, int32(at))
		}
	}
	s.addUp(len(checks))
	for i, c := range checks {
		at := s.sums[i].at
		if len(at) == 0 { // not valid already, or R is infinite
			c.Valid = false
			continue
		}
		var r element
		r.setBytes(&c.R)
		p := &s.points[at[0]]
		c.Valid = p.x.equal(&r) && p.y.odd() == c.Odd
	}
}

// scalarModulus is n as a modulus of inverses.
var scalarModulus = modulusOf(order)

// invertS reads r and s of each check and sets Valid where both are in their
// range, s to 1/s there.
func (s *scratch) invertS(checks []*Check) {
	product := scalar{1}
	for i, c := range checks {
		k := &s.scalars[i]
		over := k.r.setBytes(&c.R)
		over = k.s.setBytes(&c.S) || over
		c.Valid = !over && !k.r.isZero() && !k.s.isZero()
		if c.Valid {
			k.before = product
			product.mul(&product, &k.s)
		}
	}
	product = scalarModulus.inverseOf((*[4]uint64)(&product))
	for i := len(checks) - 1; i >= 0; i-- {
		if !checks[i].Valid {
			continue
		}
		k := &s.scalars[i]
		var inverse scalar
		inverse.mul(&product, &k.before)
		product.mul(&product, &k.s)
		k.s = inverse
	}
}

// addUp adds the points of each of the first n sums until one is left or none.
func (s *scratch) addUp(n int) {
	for {
		s.pairs = s.pairs[:0]
		for i := range n {
			at := s.sums[i].at
			for j := 0; j+1 < len(at); j += 2 {
				s.pairs = append(s.pairs, pair{a: at[j], b: at[j+1], to: at[j]})
			}
		}
		if len(s.pairs) == 0 {
			return
		}
		addPairs(s.points, s.pairs)
		next := 0
		for i := range n {
			list := &s.sums[i]
			at, left := list.at, 0
			for j := 0; j < len(at); j += 2 {
				if j+1 < len(at) {
					next++
					if s.pairs[next-1].kind == infinite {
						continue
					}
				}
				at[left] = at[j]
				left++
			}
			list.at = at[:left]
		}
	}
}
