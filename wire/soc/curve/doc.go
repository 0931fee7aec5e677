// Package curve checks secp256k1 signatures against public keys that are known,
// for a fraction of what it takes to recover the key from a signature
// (PROTOCOL §4).
//
// Recovery has to compute multiples of a point that nobody has seen before. Where
// the key is the same for many signatures, multiples of it can be kept in a
// table, as those of the curve's base point are, and a check is then a sum of some
// sixty entries, without doublings:
//
//	R = (digest/s)·G + (r/s)·Key      valid if R has x = r and y of the parity told
//
// The sums of a batch are made level by level, two points at a time. Where a level
// has many sums they share one inversion (addPairs), for checks and for tables;
// where it has few, as all levels of a lone check, they are made without any, in
// coordinates of a common scale, which one inversion at the end undoes for all
// checks (addPairsScaled). The inner parts of both and the multiplication of the
// field are in assembly that a test of this package makes, for amd64 with BMI2 and
// ADX, and in plain Go for all machines.
//
// All is for public data: time and memory accesses depend on it. The package keeps
// no state besides the base point's table, made when it is first needed, and
// pooled scratch memory; every function is safe for concurrent use.
package curve
