package soc_test

import (
	"bytes"
	"testing"

	"treecast/wire/soc"
)

// TestHashPairs checks each number of states that are in use, in place as the
// tree uses it, and that nothing is read or written beyond them.
func TestHashPairs(t *testing.T) {
	for width, hash := range soc.PairHashers {
		for n := 1; n <= width; n++ {
			src := pattern(n * 64)
			var want []byte
			for i := range n {
				h := plainKeccak(src[64*i : 64*i+64])
				want = append(want, h[:]...)
			}
			want = append(want, src[32*n:]...)
			hash(src, src, n)
			if !bytes.Equal(src, want) {
				t.Errorf("%d of %d states: %x, want %x", n, width, src, want)
			}
		}
	}
}

// TestPairWidth: what the machine is said to do is one of the ways there are.
func TestPairWidth(t *testing.T) {
	if w := soc.PairWidth(); soc.BMTWidths[w] == nil {
		t.Errorf("width %d", w)
	}
}

// FuzzHashPairs compares the ways of hashing several pairs at once with the plain
// one.
func FuzzHashPairs(f *testing.F) {
	f.Add(pattern(256))
	f.Add(make([]byte, 256))
	f.Add(bytes.Repeat([]byte{0xff}, 256))
	f.Fuzz(func(t *testing.T, data []byte) {
		var src [256]byte
		copy(src[:], data)
		var want []byte
		for i := range 4 {
			h := plainKeccak(src[64*i : 64*i+64])
			want = append(want, h[:]...)
		}
		for width, hash := range soc.PairHashers {
			var got [128]byte
			for i := 0; i < 4; i += width {
				hash(got[32*i:], src[64*i:], width)
			}
			if !bytes.Equal(got[:], want) {
				t.Fatalf("%x by %d: %x, want %x", src, width, got, want)
			}
		}
	})
}
