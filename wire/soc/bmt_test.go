package soc_test

import (
	"testing"

	"golang.org/x/crypto/sha3"

	"treecast/wire/soc"
)

// referenceBMT hashes the padded tree from top to bottom. A pair seen before is
// looked up, which shares nothing with what the code under test leaves out.
func referenceBMT(payload []byte) soc.Hash {
	var padded [soc.MaxPayload]byte
	copy(padded[:], payload)
	keccak := sha3.NewLegacyKeccak256()
	seen := make(map[[64]byte]soc.Hash)
	var root func(b []byte) soc.Hash
	root = func(b []byte) soc.Hash {
		var pair [64]byte
		if len(b) == len(pair) {
			pair = [64]byte(b)
		} else {
			left, right := root(b[:len(b)/2]), root(b[len(b)/2:])
			copy(pair[:32], left[:])
			copy(pair[32:], right[:])
		}
		h, ok := seen[pair]
		if !ok {
			keccak.Reset()
			keccak.Write(pair[:])
			keccak.Sum(h[:0])
			seen[pair] = h
		}
		return h
	}
	return root(padded[:])
}

func checkBMT(t *testing.T, payload []byte) {
	t.Helper()
	want := referenceBMT(payload)
	if got := soc.BMT(payload); got != want {
		t.Fatalf("BMT of %d bytes = %x, want %x", len(payload), got, want)
	}
	for width, bmt := range soc.BMTWidths {
		if got := bmt(payload); got != want {
			t.Fatalf("BMT by %d of %d bytes = %x, want %x", width, len(payload), got, want)
		}
	}
}

func TestBMTLengths(t *testing.T) {
	for _, whole := range []int{0, 32, 64, 96, 128, 192, 256, 512, 1024, 1600, 2048, 3072, 4032, 4096} {
		for n := max(whole-1, 0); n <= min(whole+1, soc.MaxPayload); n++ {
			checkBMT(t, pattern(n))
		}
	}
}

// TestBMTNumberOfPairs takes every number of pairs, so every shape of an odd
// level.
func TestBMTNumberOfPairs(t *testing.T) {
	for n := 64; n <= soc.MaxPayload; n += 64 {
		checkBMT(t, pattern(n))
	}
}

func TestBMTReadsOnly(t *testing.T) {
	payload := pattern(4095)
	soc.BMT(payload)
	equal(t, "payload after BMT", payload, pattern(4095))
}

func TestBMTTooLong(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("BMT of 4097 bytes gave a root")
		}
	}()
	soc.BMT(make([]byte, soc.MaxPayload+1))
}

func TestZeroRoots(t *testing.T) {
	if got, want := soc.ZeroRoots[len(soc.ZeroRoots)-1], referenceBMT(nil); got != want {
		t.Errorf("root of zeros = %x, want %x", got, want)
	}
}
