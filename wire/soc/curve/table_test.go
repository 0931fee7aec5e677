package curve_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"treecast/wire/soc/curve"
)

// TestTableEntries: every entry is the multiple that it stands for.
func TestTableEntries(t *testing.T) {
	p := multiple(big.NewInt(12345))
	for _, width := range []int{1, 2, 5, curve.KeyWidth} {
		size := 1 << (width - 1)
		entries := curve.NewTable(pointOf(p), width).Entries()
		if want := (255/width + 1) * size; len(entries) != want {
			t.Fatalf("width %d: %d entries, want %d", width, len(entries), want)
		}
		for at := 0; at < len(entries); at += size {
			first := times(new(big.Int).Lsh(big.NewInt(1), uint(at/size*width)), p)
			var sum *secp256k1.JacobianPoint
			for k := range size {
				if sum = plus(sum, first); !samePoint(entries[at+k], sum) {
					t.Fatalf("width %d: entry %d of window %d is wrong", width, k, at/size)
				}
			}
		}
	}
}

// TestGather: the entries gathered for a scalar have its multiple as their sum, for
// scalars at the edges of windows and of the group, and random ones.
func TestGather(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	p := multiple(big.NewInt(7))
	for _, width := range []int{4, curve.KeyWidth, curve.BaseWidth} {
		table := curve.NewTable(pointOf(p), width)
		scalars := edges()[:56]
		for i := rng.IntN(4); i < 256; i += 4 { // another quarter each time
			bit := new(big.Int).Lsh(big.NewInt(1), uint(i))
			scalars = append(scalars, wordsOf(bit), wordsOf(new(big.Int).Sub(bigOrder, bit)))
		}
		for range 20 {
			scalars = append(scalars, randomWords(rng))
		}
		for _, words := range scalars {
			k := new(big.Int).Mod(bigOf(words), bigOrder)
			list := table.Gather(wordsOf(k))
			if windows := 255/width + 1; len(list) > windows {
				t.Fatalf("width %d: %d entries for %d windows", width, len(list), windows)
			}
			var sum *secp256k1.JacobianPoint
			for i := range list {
				sum = plus(sum, oracleOf(list[i]))
			}
			want := times(k, p)
			if k.Sign() == 0 {
				want = nil
			}
			if (sum == nil) != (want == nil) || sum != nil && coordinates(sum) != coordinates(want) {
				t.Fatalf("width %d: the entries for %x have another sum", width, k)
			}
		}
	}
}

// TestBaseTable: the table of the base point is that of 1·G.
func TestBaseTable(t *testing.T) {
	if !samePoint(curve.Generator, multiple(big.NewInt(1))) {
		t.Fatal("the base point is another")
	}
	entries := curve.BaseTable().Entries()
	for at := 0; at < len(entries); at += 97 {
		window, k := at>>(curve.BaseWidth-1), at&(1<<(curve.BaseWidth-1)-1)+1
		n := new(big.Int).Lsh(big.NewInt(int64(k)), uint(window*curve.BaseWidth))
		if !samePoint(entries[at], multiple(n)) {
			t.Fatalf("entry %d is wrong", at)
		}
	}
}
