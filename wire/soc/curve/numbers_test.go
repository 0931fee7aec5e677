package curve_test

import (
	"math/big"
	"math/rand/v2"

	"pgregory.net/rapid"

	"treecast/wire/soc/curve"
)

// The oracle of this package's numbers is math/big.

var (
	bigPrime = bigOf(curve.Prime)
	bigOrder = bigOf(curve.Order)
	two256   = new(big.Int).Lsh(big.NewInt(1), 256)
)

func bigOf(w [4]uint64) *big.Int {
	z := new(big.Int)
	for i := len(w) - 1; i >= 0; i-- {
		z.Lsh(z, 64).Or(z, new(big.Int).SetUint64(w[i]))
	}
	return z
}

// wordsOf takes a number of any sign, modulo 2^256.
func wordsOf(z *big.Int) (w [4]uint64) {
	z = new(big.Int).Mod(z, two256)
	for i := range w {
		w[i] = new(big.Int).Rsh(z, uint(64*i)).Uint64()
	}
	return w
}

func bytesOf(w [4]uint64) (b [32]byte) {
	bigOf(w).FillBytes(b[:])
	return b
}

// edges are numbers around those at which something changes: 0, p, n, half of n,
// 2^256 less fold, and each word at its extremes.
func edges() (list [][4]uint64) {
	half := new(big.Int).Rsh(bigOrder, 1)
	fold := new(big.Int).Sub(two256, bigPrime)
	for _, middle := range []*big.Int{new(big.Int), bigPrime, bigOrder, half, fold, new(big.Int).Lsh(fold, 1), new(big.Int).Sub(two256, bigOrder), new(big.Int).Lsh(big.NewInt(1), 128)} {
		for off := int64(-3); off <= 3; off++ {
			list = append(list, wordsOf(new(big.Int).Add(middle, big.NewInt(off))))
		}
	}
	words := []uint64{0, 1, 1 << 63, ^uint64(0)}
	for i := range 256 {
		list = append(list, [4]uint64{words[i%4], words[i/4%4], words[i/16%4], words[i/64]})
	}
	return list
}

// drawWords draws a number of which any word may be at an extreme.
func drawWords(t *rapid.T, name string) [4]uint64 {
	word := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, 2, 1 << 32, 1<<32 + 977, 1 << 62, 1 << 63, ^uint64(0) - 1, ^uint64(0), curve.Prime[0], curve.Order[0], curve.Order[1]}))
	return [4]uint64(rapid.SliceOfN(word, 4, 4).Draw(t, name))
}

// randomWords is any 256-bit number.
func randomWords(rng *rand.Rand) (w [4]uint64) {
	for i := range w {
		w[i] = rng.Uint64()
	}
	return w
}
