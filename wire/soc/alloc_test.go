package soc_test

import (
	"testing"

	"treecast/wire/soc"
)

// count measures f's allocations, 0 under the race detector.
func count(f func()) float64 {
	if raceEnabled {
		f()
		return 0
	}
	return testing.AllocsPerRun(200, f)
}

func TestHashingAllocatesNothing(t *testing.T) {
	long, short := pattern(4096), pattern(33)
	span, id, owner, topic := soc.Span(4096), soc.Hash{1}, soc.Owner{2}, pattern(32)
	for name, f := range map[string]func(){
		"Keccak256":  func() { soc.Keccak256(id[:], owner[:], long) },
		"BMT long":   func() { soc.BMT(long) },
		"BMT short":  func() { soc.BMT(short) },
		"CACAddress": func() { soc.CACAddress(span[:], long) },
		"Address":    func() { soc.Address(&id, &owner) },
		"FeedID":     func() { soc.FeedID(topic, 7) },
		"Overlay":    func() { soc.Overlay(owner, 1, id) },
	} {
		if n := count(f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
	for width, bmt := range soc.BMTWidths {
		if n := count(func() { bmt(long) }); n != 0 {
			t.Errorf("BMT by %d allocates %v times", width, n)
		}
	}
}

// TestVerifyAllocations: what Verify allocates is what recovering the key alone
// allocates inside the curve's library.
func TestVerifyAllocations(t *testing.T) {
	c := validChunk(t, pattern(1000))
	id, cac := soc.Hash(c.ID), soc.CACAddress(c.Span, c.Payload)
	hash := soc.SignedHash(&id, &cac)
	digest, sig := soc.PersonalDigest(&hash), [65]byte(c.Signature)
	curve := count(func() { soc.RecoverPoint(&digest, &sig) })
	whole := count(func() {
		if _, err := soc.Verify(c); err != nil {
			t.Fatal(err)
		}
	})
	if whole != curve {
		t.Errorf("Verify allocates %v times, recovery alone %v times", whole, curve)
	}
	if n := count(func() { _ = soc.CheckCanonical(c) }); n != 0 {
		t.Errorf("CheckCanonical allocates %v times", n)
	}
}
