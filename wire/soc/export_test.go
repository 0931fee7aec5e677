package soc

// What the tests of this package see besides its API: the paths that this
// build or this machine does not take by itself.
var (
	RecoverPoint     = recoverPoint
	RecoverPointPure = recoverPointPure
	SignDigest       = signDigest
	SignDigestPure   = signDigestPure
	SignedHash       = signedHash
	PersonalDigest   = personalDigest
	HashPairs4       = hashPairs4
	ZeroRoots        = zeroRoots
	HalfOrder        = halfOrder
)

// BMTPlain is BMT on a machine without vector permutations.
func BMTPlain(payload []byte) Hash { return bmt(payload, false) }

// BMTVector is BMT on the vector path, which works everywhere, if slowly.
func BMTVector(payload []byte) Hash { return bmt(payload, true) }
