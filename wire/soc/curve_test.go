package soc_test

import (
	"math/rand/v2"
	"testing"

	"treecast/wire/soc"
)

// backend is one of the implementations of the curve. In a build without cgo
// the two are the same.
type backend struct {
	name      string
	recoverPt func(digest *soc.Hash, sig *[65]byte) ([65]byte, bool)
	sign      func(digest, secret *[32]byte) ([65]byte, error)
}

var backends = []backend{
	{"build", soc.RecoverPoint, soc.SignDigest},
	{"pure", soc.RecoverPointPure, func(d, s *[32]byte) ([65]byte, error) { return soc.SignDigestPure(d, s), nil }},
}

func TestBackendsOnVectors(t *testing.T) {
	set := loadVectors(t)
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			for _, v := range set.SOC {
				digest, secret := soc.Hash(v.Digest), [32]byte(v.PrivateKey)
				sig, err := b.sign(&digest, &secret)
				if err != nil {
					t.Fatalf("%s: %v", v.Name, err)
				}
				equal(t, v.Name+": signature", sig[:], v.RFC6979)
				for _, sig := range []hexBytes{v.Signature, v.RFC6979} {
					point, ok := b.recoverPt(&digest, (*[65]byte)(sig))
					if !ok {
						t.Fatalf("%s: no key recovered", v.Name)
					}
					h := soc.Keccak256(point[1:])
					equal(t, v.Name+": owner", h[12:], v.Owner)
				}
			}
		})
	}
}

// TestBackendsAgree compares both on random digests, keys and signatures, the
// latter mostly of nobody.
func TestBackendsAgree(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	fill := func(b []byte) {
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
	}
	for i := range 100 {
		var digest, secret [32]byte
		fill(digest[:])
		fill(secret[:])
		secret[0] &= 0x7f // below the group order
		sig, err := backends[0].sign(&digest, &secret)
		if err != nil {
			t.Fatal(err)
		}
		if other, _ := backends[1].sign(&digest, &secret); other != sig {
			t.Fatalf("digest %x, secret %x: signatures %x and %x", digest, secret, sig, other)
		}
		if i%2 == 0 { // else the signature is good
			fill(sig[:64])
			sig[64] = 27 + byte(i/2%2)
		}
		a, okA := backends[0].recoverPt(&digest, &sig)
		b, okB := backends[1].recoverPt(&digest, &sig)
		if okA != okB || a != b {
			t.Fatalf("digest %x, signature %x: points %x (%v) and %x (%v)", digest, sig, a, okA, b, okB)
		}
	}
}
