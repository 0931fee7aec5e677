package soc_test

import (
	"bytes"
	"testing"

	"treecast/wire/soc"
)

// TestHashPairs checks each number of states that are in use, in place as the
// tree uses it, with messages of all sizes, and that nothing is written beyond.
func TestHashPairs(t *testing.T) {
	for width, hash := range soc.PairHashers {
		for size := range 65 {
			src, ninth := pattern(width*64), make([]uint64, width)
			var want []byte
			for i := range width {
				msg := src[64*i : 64*i+64]
				n := (size + 7*i) % 65
				h := plainKeccak(msg[:n])
				want = append(want, h[:]...)
				if ninth[i] = 1; n < 64 {
					ninth[i], msg[n] = 0, 1
					clear(msg[n+1:])
				}
			}
			want = append(want, src[32*width:]...)
			hash(src, src, ninth)
			if !bytes.Equal(src, want) {
				t.Errorf("%d states from %d bytes: %x, want %x", width, size, src, want)
			}
		}
	}
}

// TestMixer hashes several messages of all sizes together.
func TestMixer(t *testing.T) {
	for width, mix := range soc.MixerWidths {
		for count := range 10 {
			for size := range 65 {
				var messages [][]byte
				for i := range count {
					messages = append(messages, pattern((size+13*i)%65))
				}
				for i, got := range mix(messages...) {
					if want := plainKeccak(messages[i]); got != want {
						t.Fatalf("by %d, %d of %d from %d bytes: %x, want %x", width, i, count, size, got, want)
					}
				}
			}
		}
	}
}

// TestRoots makes trees of several sizes together, each number of them.
func TestRoots(t *testing.T) {
	sizes := []int{4096, 1, 64, 0, 4095, 100, 2048, 65}
	for width, roots := range soc.RootsWidths {
		for first := range sizes {
			for count := range len(sizes) + 1 {
				var payloads [][]byte
				for i := range count {
					payloads = append(payloads, pattern(sizes[(first+i)%len(sizes)]))
				}
				for i, got := range roots(payloads...) {
					if want := referenceBMT(payloads[i]); got != want {
						t.Fatalf("by %d, tree %d of %d, of %d bytes: %x, want %x", width, i, count, len(payloads[i]), got, want)
					}
				}
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
				hash(got[32*i:], src[64*i:], []uint64{1, 1, 1, 1}[:width])
			}
			if !bytes.Equal(got[:], want) {
				t.Fatalf("%x by %d: %x, want %x", src, width, got, want)
			}
		}
	})
}
