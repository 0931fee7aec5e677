package soc_test

import (
	"bytes"
	"errors"
	"testing"

	"treecast/wire/soc"
)

// fuzzSeedMax bounds the payload of a seed, in bytes. The fuzzer spends a run on
// shrinking a long input; the long vectors have their own test.
const fuzzSeedMax = 128

// cutChunk reads owner || id || signature || span || payload, as far as it goes.
func cutChunk(data []byte) *soc.Chunk {
	n := min(len(data), soc.OwnerSize)
	v := caseVector{Data: data[n:]}
	return v.chunk(data[:n])
}

// FuzzVerify takes data as a chunk. Whatever it is, the answer is a cac address
// or one of the two sentinels; a valid chunk stays valid when asked again, and
// with any one bit flipped it is not its owner's any more. As mutated data
// hardly ever is a valid chunk, every fourth input flips a bit of a known good
// one as well; most inputs are refused without recovering a key.
func FuzzVerify(f *testing.F) {
	set := loadVectors(f)
	owner := set.SOC[len(set.SOC)-1].Owner // the one of most invalid and edge vectors
	var good [][]byte
	for i, v := range set.SOC {
		if len(v.Payload) > fuzzSeedMax {
			continue
		}
		data := bytes.Join([][]byte{v.Owner, v.ID, v.RFC6979, v.Span, v.Payload}, nil)
		f.Add(data, uint32(i*1009))
		good = append(good, data)
	}
	for i, v := range append(set.Invalid, set.Edge...) {
		if len(v.Data) <= 2*fuzzSeedMax {
			f.Add(append(bytes.Clone(owner), v.Data...), uint32(i))
		}
	}
	f.Add([]byte(nil), uint32(0))

	f.Fuzz(func(t *testing.T, data []byte, bit uint32) {
		c := cutChunk(data)
		before := bytes.Clone(data)
		cac, err := soc.Verify(c)
		if !bytes.Equal(before, data) {
			t.Fatal("Verify changed the chunk")
		}
		form := soc.CheckCanonical(c)
		switch {
		case err == nil:
			if form != nil {
				t.Fatalf("valid, but: %v", form)
			}
			if again, err := soc.Verify(c); err != nil || again != cac {
				t.Fatalf("second look: %x, %v; first %x", again, err, cac)
			}
			mustFlipAway(t, data, bit)
		case cac != (soc.Hash{}):
			t.Fatalf("cac address %x beside %v", cac, err)
		case errors.Is(err, soc.ErrForged):
			if form != nil {
				t.Fatalf("blamed for its form: %v", form)
			}
		case !errors.Is(err, soc.ErrNonCanonical):
			t.Fatalf("error %v is no sentinel", err)
		}
		if at, every := bit/4, bit%4; every == 0 {
			mustFlipAway(t, good[int(at%uint32(len(good)))], at/uint32(len(good)))
		}
	})
}

// mustFlipAway flips one bit of a valid chunk outside of the claimed owner and
// demands that it is refused.
func mustFlipAway(t *testing.T, valid []byte, bit uint32) {
	t.Helper()
	data := bytes.Clone(valid)
	bits := uint32(8 * (len(data) - soc.OwnerSize))
	at := 8*soc.OwnerSize + bit%bits
	data[at/8] ^= 1 << (at % 8)
	if _, err := soc.Verify(cutChunk(data)); !errors.Is(err, soc.ErrForged) && !errors.Is(err, soc.ErrNonCanonical) {
		t.Fatalf("bit %d flipped: error %v in %x", at, err, data)
	}
}

// FuzzBMT compares all widths with the reference, over payloads that repeat the
// seed up to a length, so that long ones come up although inputs stay short.
func FuzzBMT(f *testing.F) {
	for _, v := range loadVectors(f).CAC {
		f.Add([]byte(v.Payload[:min(len(v.Payload), fuzzSeedMax)]), uint16(len(v.Payload)))
	}
	f.Add([]byte{1}, uint16(4096))
	f.Add([]byte{0, 0, 0, 1}, uint16(4095))
	f.Add(pattern(65), uint16(2049))
	f.Fuzz(func(t *testing.T, seed []byte, length uint16) {
		n := int(length) % (soc.MaxPayload + 1)
		if length&1 == 1 && n > 256 {
			n %= 256 // half of the inputs short, which costs least
		}
		seed = seed[:min(len(seed), fuzzSeedMax)]
		payload := make([]byte, n)
		for i := 0; i < len(payload) && len(seed) > 0; {
			i += copy(payload[i:], seed)
		}
		want := referenceBMT(payload)
		for width, bmt := range soc.BMTWidths {
			if got := bmt(payload); got != want {
				t.Fatalf("by %d: %x, want %x", width, got, want)
			}
		}
	})
}
