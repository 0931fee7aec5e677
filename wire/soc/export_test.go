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
	PairWidth        = pairWidth
	ZeroRoots        = zeroRoots
	HalfOrder        = halfOrder
)

// PairHashers are the ways of hashing several pairs at once that run on this
// machine, by the most pairs that they take.
var PairHashers = func() map[int]func(dst, src []byte, n int) {
	ways := map[int]func(dst, src []byte, n int){2: hashPairs2}
	if hasPairs4() {
		ways[4] = hashPairs4
	}
	return ways
}()

// BMTWidths is BMT in all the ways that run on this machine, by how many pairs go
// together.
var BMTWidths = func() map[int]func(payload []byte) Hash {
	ways := map[int]func(payload []byte) Hash{1: func(payload []byte) Hash { return bmt(payload, 1) }}
	for width := range PairHashers {
		ways[width] = func(payload []byte) Hash { return bmt(payload, width) }
	}
	return ways
}()
