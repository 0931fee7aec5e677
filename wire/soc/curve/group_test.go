package curve_test

import (
	"math/big"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"treecast/wire/soc/curve"
)

// The oracle of this package's points is another implementation of the curve. A
// point at infinity is nil.

// multiple is k·G.
func multiple(k *big.Int) *secp256k1.JacobianPoint {
	s, p := modNOf(k), new(secp256k1.JacobianPoint)
	secp256k1.ScalarBaseMultNonConst(s, p)
	return finite(p)
}

// times is k·P.
func times(k *big.Int, p *secp256k1.JacobianPoint) *secp256k1.JacobianPoint {
	r := new(secp256k1.JacobianPoint)
	secp256k1.ScalarMultNonConst(modNOf(k), p, r)
	return finite(r)
}

// plus is P + Q.
func plus(p, q *secp256k1.JacobianPoint) *secp256k1.JacobianPoint {
	switch {
	case p == nil:
		return q
	case q == nil:
		return p
	}
	r := new(secp256k1.JacobianPoint)
	secp256k1.AddNonConst(p, q, r)
	return finite(r)
}

func finite(p *secp256k1.JacobianPoint) *secp256k1.JacobianPoint {
	if (p.X.IsZero() && p.Y.IsZero()) || p.Z.IsZero() {
		return nil
	}
	p.ToAffine()
	return p
}

func modNOf(k *big.Int) *secp256k1.ModNScalar {
	b := bytesOf(wordsOf(new(big.Int).Mod(k, bigOrder)))
	s := new(secp256k1.ModNScalar)
	s.SetBytes(&b)
	return s
}

// coordinates are x || y.
func coordinates(p *secp256k1.JacobianPoint) (b [64]byte) {
	p.X.PutBytesUnchecked(b[:32])
	p.Y.PutBytesUnchecked(b[32:])
	return b
}

// pointOf is the point in this package's form.
func pointOf(p *secp256k1.JacobianPoint) curve.Point {
	b := coordinates(p)
	var x, y curve.Element
	x.SetBytes((*[32]byte)(b[:32]))
	y.SetBytes((*[32]byte)(b[32:]))
	return curve.PointOf(x, y)
}

// oracleOf is the point in the oracle's form.
func oracleOf(p curve.Point) *secp256k1.JacobianPoint {
	x, y := p.Coordinates()
	bx, by := bytesOf(x.Reduce()), bytesOf(y.Reduce())
	r := new(secp256k1.JacobianPoint)
	r.X.SetBytes(&bx)
	r.Y.SetBytes(&by)
	r.Z.SetInt(1)
	return r
}

// samePoint tells whether both are the same finite point.
func samePoint(p curve.Point, q *secp256k1.JacobianPoint) bool {
	if q == nil {
		return false
	}
	b, want := coordinates(oracleOf(p)), coordinates(q)
	return b == want
}
