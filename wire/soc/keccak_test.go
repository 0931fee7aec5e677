package soc_test

import (
	"encoding/hex"
	"testing"

	"golang.org/x/crypto/sha3"

	"treecast/wire/soc"
)

// pattern is n bytes that do not repeat with the period of a segment.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(7*i + 3 + i/251)
	}
	return b
}

func plainKeccak(b []byte) (h soc.Hash) {
	s := sha3.NewLegacyKeccak256()
	s.Write(b)
	s.Sum(h[:0])
	return h
}

func TestKeccak256Known(t *testing.T) {
	for in, want := range map[string]string{
		"":    "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
		"abc": "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
	} {
		h := soc.Keccak256([]byte(in))
		if got := hex.EncodeToString(h[:]); got != want {
			t.Errorf("Keccak256(%q) = %s, want %s", in, got, want)
		}
	}
	if soc.Keccak256() != soc.Keccak256(nil, nil) {
		t.Error("no parts and empty parts differ")
	}
}

// TestKeccak256Parts goes over the rate's boundary with every length and cut.
func TestKeccak256Parts(t *testing.T) {
	for n := range 3*136 + 2 {
		in := pattern(n)
		want := plainKeccak(in)
		for cut := 0; cut <= n; cut += 17 {
			if got := soc.Keccak256(in[:cut], in[cut:]); got != want {
				t.Fatalf("%d bytes cut at %d = %x, want %x", n, cut, got, want)
			}
		}
	}
}
