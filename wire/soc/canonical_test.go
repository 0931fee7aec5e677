package soc_test

import (
	"bytes"
	"errors"
	"math/big"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"treecast/wire/soc"
)

// validChunk is a chunk of its own memory, signed by the key 2.
func validChunk(tb testing.TB, payload []byte) *soc.Chunk {
	tb.Helper()
	key, err := soc.KeyFromBytes(append(make([]byte, 31), 2))
	if err != nil {
		tb.Fatal(err)
	}
	id, span := soc.Keccak256([]byte("id")), soc.Span(len(payload))
	sig, err := key.Sign(&id, span[:], payload)
	if err != nil {
		tb.Fatal(err)
	}
	owner := key.Owner()
	return &soc.Chunk{ID: id[:], Owner: owner[:], Signature: sig[:], Span: span[:], Payload: payload}
}

func span64(n uint64) []byte {
	b := make([]byte, 8)
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
	return b
}

func TestCheckCanonicalFields(t *testing.T) {
	zeros := make([]byte, 5000)
	s := func(value string) func(*soc.Chunk) {
		return func(c *soc.Chunk) {
			n, _ := new(big.Int).SetString(value, 16)
			n.FillBytes(c.Signature[32:64])
		}
	}
	v := func(v byte) func(*soc.Chunk) { return func(c *soc.Chunk) { c.Signature[64] = v } }
	content := func(span uint64, payload []byte) func(*soc.Chunk) {
		return func(c *soc.Chunk) { c.Span, c.Payload = span64(span), payload }
	}
	lastSegment := func(n int, last byte) []byte {
		b := make([]byte, n)
		b[n-1] = last
		return b
	}
	for _, tc := range []struct {
		name   string
		change func(*soc.Chunk)
		ok     bool
	}{
		{"untouched", func(*soc.Chunk) {}, true},
		{"id 31", func(c *soc.Chunk) { c.ID = c.ID[:31] }, false},
		{"id 33", func(c *soc.Chunk) { c.ID = zeros[:33] }, false},
		{"id 8", func(c *soc.Chunk) { c.ID = zeros[:8] }, false},
		{"owner 19", func(c *soc.Chunk) { c.Owner = c.Owner[:19] }, false},
		{"owner 21", func(c *soc.Chunk) { c.Owner = zeros[:21] }, false},
		{"signature 64", func(c *soc.Chunk) { c.Signature = c.Signature[:64] }, false},
		{"signature 66", func(c *soc.Chunk) { c.Signature = append(c.Signature, 27) }, false},
		{"span 7", func(c *soc.Chunk) { c.Span = c.Span[:7] }, false},
		{"span 9", func(c *soc.Chunk) { c.Span = append(c.Span, 0) }, false},
		{"nothing", func(c *soc.Chunk) { *c = soc.Chunk{} }, false},
		{"v 26", v(26), false},
		{"v 27", v(27), true},
		{"v 28", v(28), true},
		{"v 29", v(29), false},
		{"v 0", v(0), false},
		{"v 1", v(1), false},
		{"s half", s("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0"), true},
		{"s half + 1", s("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a1"), false},
		{"s all ones", s("ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"), false},
		{"empty, span 0", content(0, nil), false},
		{"empty, span 5", content(5, nil), false},
		{"empty, span 5000", content(5000, nil), false},
		{"one zero byte", content(1, zeros[:1]), true},
		{"4096 zeros", content(4096, zeros[:4096]), true},
		{"4097, span 4097", content(4097, zeros[:4097]), false},
		{"4128, span 4128", content(4128, lastSegment(4128, 1)), false},
		{"span short by 1", content(99, zeros[:100]), false},
		{"span long by 1", content(101, zeros[:100]), false},
		{"span 4096, payload 4095", content(4096, zeros[:4095]), false},
		{"span 4097, payload 4096", content(4097, lastSegment(4096, 1)), true},
		{"span 4097, one segment", content(4097, lastSegment(32, 1)), true},
		{"span 4097, first byte of the last segment", content(4097, append(lastSegment(33, 1), zeros[:31]...)), true},
		{"span 4097, payload 31", content(4097, lastSegment(31, 1)), false},
		{"span 4097, payload 33", content(4097, lastSegment(33, 1)), false},
		{"span 4097, zero segment", content(4097, append(lastSegment(32, 1), zeros[:32]...)), false},
		{"span 4097, all zero", content(4097, zeros[:4096]), false},
		{"span greatest", content(1<<64-1, lastSegment(64, 1)), true},
		{"span sign bit", content(1<<63, zeros[:64]), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := validChunk(t, pattern(100))
			tc.change(c)
			err := soc.CheckCanonical(c)
			if tc.ok && err != nil {
				t.Errorf("refused: %v", err)
			}
			if !tc.ok && !errors.Is(err, soc.ErrNonCanonical) {
				t.Errorf("error %v, want ErrNonCanonical", err)
			}
			if _, verr := soc.Verify(c); !tc.ok && !errors.Is(verr, soc.ErrNonCanonical) {
				t.Errorf("Verify: error %v, want ErrNonCanonical", verr)
			}
		})
	}
}

func TestHalfOrder(t *testing.T) {
	half := new(big.Int).Rsh(secp256k1.Params().N, 1).Bytes()
	equal(t, "half order", soc.HalfOrder[:], half)
}

// TestOneEncoding flips every bit of a chunk, one at a time, and takes the
// twin of its signature: none passes as the owner's.
func TestOneEncoding(t *testing.T) {
	c := validChunk(t, []byte("one"))
	if _, err := soc.Verify(c); err != nil {
		t.Fatal(err)
	}
	for name, field := range map[string][]byte{
		"id": c.ID, "owner": c.Owner, "signature": c.Signature, "span": c.Span, "payload": c.Payload,
	} {
		for bit := range 8 * len(field) {
			field[bit/8] ^= 1 << (bit % 8)
			if _, err := soc.Verify(c); !errors.Is(err, soc.ErrForged) && !errors.Is(err, soc.ErrNonCanonical) {
				t.Errorf("bit %d of the %s: error %v", bit, name, err)
			}
			field[bit/8] ^= 1 << (bit % 8)
		}
	}

	twin := *c
	twin.Signature = bytes.Clone(c.Signature)
	s := new(big.Int).SetBytes(c.Signature[32:64])
	s.Sub(secp256k1.Params().N, s).FillBytes(twin.Signature[32:64])
	twin.Signature[64] ^= 27 ^ 28
	if _, err := soc.Verify(&twin); !errors.Is(err, soc.ErrNonCanonical) {
		t.Errorf("twin with high s: error %v, want ErrNonCanonical", err)
	}
	// The curve itself takes the twin: it is this rule alone that refuses it.
	id, cac := soc.Hash(c.ID), soc.CACAddress(c.Span, c.Payload)
	hash := soc.SignedHash(&id, &cac)
	digest := soc.PersonalDigest(&hash)
	a, okA := soc.RecoverPoint(&digest, (*[65]byte)(c.Signature))
	b, okB := soc.RecoverPoint(&digest, (*[65]byte)(twin.Signature))
	if !okA || !okB || a != b {
		t.Errorf("the twin recovers %x (%v), the signature %x (%v)", b, okB, a, okA)
	}
}
