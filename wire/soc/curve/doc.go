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
// The sums of a batch are made level by level, two points at a time, with one
// inversion for all sums of a level (addPairs); that is the one law of addition
// there is, for checks and for tables. Its two halves and the multiplication of
// the field are in assembly that a test of this package makes, for amd64 with BMI2
// and ADX, and in plain Go for all machines.
//
// All is for public data: time and memory accesses depend on it. The package keeps
// no state besides the base point's table, made when it is first needed, and
// pooled scratch memory; every function is safe for concurrent use.
package curve
