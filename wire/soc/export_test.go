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
// machine, by how many pairs they take.
var PairHashers = func() map[int]func(dst, src []byte, ninth []uint64) {
	ways := map[int]func(dst, src []byte, ninth []uint64){
		2: func(dst, src []byte, ninth []uint64) { hashPairs2(dst, src, (*[2]uint64)(ninth)) },
	}
	if hasPairs4() {
		ways[4] = func(dst, src []byte, ninth []uint64) { hashPairs4(dst, src, (*[4]uint64)(ninth)) }
	}
	return ways
}()

// BMTWidths is BMT in all the ways that run on this machine, by how many pairs go
// together.
var BMTWidths = func() map[int]func(payload []byte) Hash {
	ways := make(map[int]func(payload []byte) Hash)
	for width := range RootsWidths {
		t := newTrees(width)
		ways[width] = func(payload []byte) Hash {
			t.grow(0, payload)
			t.finish(1)
			return *t.root(0)
		}
	}
	return ways
}()

// RootsWidths makes the roots of at most BatchSize payloads together, in all the
// ways that run on this machine, by how many pairs go together.
var RootsWidths = func() map[int]func(payloads ...[]byte) []Hash {
	ways := make(map[int]func(payloads ...[]byte) []Hash)
	widths := []int{1}
	for width := range PairHashers {
		widths = append(widths, width)
	}
	for _, width := range widths {
		ways[width] = func(payloads ...[]byte) (roots []Hash) {
			t := newTrees(width)
			for i, p := range payloads {
				t.grow(i, p)
			}
			t.finish(len(payloads))
			for i := range payloads {
				roots = append(roots, *t.root(i))
			}
			return roots
		}
	}
	return ways
}()

// MixerWidths is keccak256 of short messages together, in all the ways that run on
// this machine, by how many go together.
var MixerWidths = func() map[int]func(messages ...[]byte) []Hash {
	ways := make(map[int]func(messages ...[]byte) []Hash)
	for width := range RootsWidths {
		ways[width] = func(messages ...[]byte) []Hash {
			m, out := &newTrees(width).mixer, make([]Hash, len(messages))
			for i, msg := range messages {
				m.add(&out[i], msg[:len(msg)/3], msg[len(msg)/3:])
			}
			m.flush()
			return out
		}
	}
	return ways
}()
