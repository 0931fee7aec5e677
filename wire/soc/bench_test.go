package soc_test

import (
	"fmt"
	"testing"

	"treecast/wire/soc"
)

var benchSizes = []int{32, 512, 4096}

func BenchmarkBMT(b *testing.B) {
	for _, path := range []struct {
		name string
		bmt  func([]byte) soc.Hash
	}{{"build", soc.BMT}, {"plain", soc.BMTPlain}} {
		for _, n := range benchSizes {
			b.Run(fmt.Sprintf("%s/%d", path.name, n), func(b *testing.B) {
				payload := pattern(n)
				b.ReportAllocs()
				b.SetBytes(int64(n))
				for b.Loop() {
					path.bmt(payload)
				}
			})
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := validChunk(b, pattern(n))
			b.ReportAllocs()
			b.SetBytes(int64(n))
			for b.Loop() {
				if _, err := soc.Verify(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRecoverPoint(b *testing.B) {
	digest, secret := soc.Hash{1}, [32]byte{2}
	for _, be := range backends {
		b.Run(be.name, func(b *testing.B) {
			sig, err := be.sign(&digest, &secret)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				be.recoverPt(&digest, &sig)
			}
		})
	}
}

func BenchmarkSign(b *testing.B) {
	key, err := soc.NewKey()
	if err != nil {
		b.Fatal(err)
	}
	payload, id := pattern(1024), soc.Hash{3}
	span := soc.Span(len(payload))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := key.Sign(&id, span[:], payload); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkKeccak256(b *testing.B) {
	id, owner := soc.Hash{1}, soc.Owner{2}
	b.ReportAllocs()
	for b.Loop() {
		soc.Address(&id, &owner)
	}
}
