package soc_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"treecast/wire/soc"
)

// benchSizes are payloads of one segment, of one pair, of a short message, and of
// a full chunk.
var benchSizes = []int{32, 64, 512, 4096}

func BenchmarkBMT(b *testing.B) {
	for _, path := range []struct {
		name string
		bmt  func([]byte) soc.Hash
	}{{"machine", soc.BMT}, {"plain", soc.BMTWidths[1]}} {
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

// BenchmarkVerify has beside the time of a check what it costs in recoveries of a
// key, which are measured in turn with the checks, so that a busy machine slows
// down both. The medians are compared.
func BenchmarkVerify(b *testing.B) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := validChunk(b, pattern(n))
			id, cac := soc.Hash(c.ID), soc.CACAddress(c.Span, c.Payload)
			hash := soc.SignedHash(&id, &cac)
			digest, sig := soc.PersonalDigest(&hash), [soc.SigSize]byte(c.Signature)
			b.ReportAllocs()
			b.SetBytes(int64(n))
			for b.Loop() {
				if _, err := soc.Verify(c); err != nil {
					b.Fatal(err)
				}
			}
			checks, recoveries := make([]time.Duration, ratioRounds), make([]time.Duration, ratioRounds)
			for i := range ratioRounds {
				start := time.Now()
				soc.Verify(c)
				between := time.Now()
				soc.RecoverPoint(&digest, &sig)
				checks[i], recoveries[i] = between.Sub(start), time.Since(between)
			}
			slices.Sort(checks)
			slices.Sort(recoveries)
			b.ReportMetric(float64(checks[ratioRounds/2])/float64(recoveries[ratioRounds/2]), "recovers/op")
		})
	}
}

// ratioRounds is how many pairs of a check and a recovery are compared.
const ratioRounds = 2001

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

// BenchmarkVerifyBatch is a chunk's part of a batch, with its owner's key known,
// of one owner and of many, whose tables do not fit into a core's cache. What a
// check costs in recoveries is measured as by BenchmarkVerify.
func BenchmarkVerifyBatch(b *testing.B) {
	for _, bc := range []struct{ size, batch, owners int }{
		{64, 1, 1}, {64, 8, 1}, {512, 1, 1}, {512, 8, 1}, {4096, 1, 1}, {4096, 8, 1}, {64, 1, 32}, {512, 8, 32},
	} {
		b.Run(fmt.Sprintf("%d/batch=%d/owners=%d", bc.size, bc.batch, bc.owners), func(b *testing.B) {
			checks := signedBatch(b, 8*bc.owners, bc.size, newKeys(b, bc.owners)...)
			c := &checks[0].Chunk
			id, cac := soc.Hash(c.ID), soc.CACAddress(c.Span, c.Payload)
			hash := soc.SignedHash(&id, &cac)
			digest, sig := soc.PersonalDigest(&hash), [soc.SigSize]byte(c.Signature)
			at := 0
			next := func() {
				soc.VerifyBatch(checks[at : at+bc.batch])
				at = (at + bc.batch) % len(checks)
			}
			b.ReportAllocs()
			b.SetBytes(int64(bc.size))
			b.ResetTimer()
			for i := 0; i < b.N; i += bc.batch {
				next()
			}
			b.StopTimer()
			for i := range checks {
				if checks[i].Err != nil || b.N > len(checks) && checks[i].Recovered() {
					b.Fatalf("check %d: %v", i, checks[i].Err)
				}
			}
			times, recoveries := make([]time.Duration, ratioRounds), make([]time.Duration, ratioRounds)
			for i := range ratioRounds {
				start := time.Now()
				next()
				between := time.Now()
				soc.RecoverPoint(&digest, &sig)
				times[i], recoveries[i] = between.Sub(start), time.Since(between)
			}
			slices.Sort(times)
			slices.Sort(recoveries)
			b.ReportMetric(float64(times[ratioRounds/2])/float64(bc.batch)/float64(recoveries[ratioRounds/2]), "recovers/op")
		})
	}
}

// BenchmarkVerifyCold is a lone check of a known owner's chunk that finds the core's
// own caches filled with something else, as in a node that has other work between
// two chunks: the median time of it alone. What ns/op says has the filling in it.
func BenchmarkVerifyCold(b *testing.B) {
	for _, n := range []int{64, 4096} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			checks := signedBatch(b, 64, n, newKeys(b, 1)...)
			other := make([]uint64, 2<<20/8)
			times := make([]time.Duration, 0, b.N)
			b.ResetTimer()
			for i := range b.N {
				for j := 0; j < len(other); j += 8 { // a line of the cache
					other[j]++
				}
				at := i % len(checks)
				start := time.Now()
				soc.VerifyBatch(checks[at : at+1])
				times = append(times, time.Since(start))
			}
			b.StopTimer()
			for i := range checks {
				if checks[i].Err != nil || b.N > len(checks) && checks[i].Recovered() {
					b.Fatalf("check %d: %v", i, checks[i].Err)
				}
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2]), "cold-ns")
		})
	}
}

func BenchmarkNewOwnerKey(b *testing.B) {
	public := newKeys(b, 1)[0].PublicKey()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := soc.NewOwnerKey(public); err != nil {
			b.Fatal(err)
		}
	}
}
