package beef_test

import (
	"encoding/hex"
	"testing"

	"golang.org/x/crypto/sha3"

	"treecast/wire/beef"
)

func TestGroupIndexLimits(t *testing.T) {
	all := beef.TopicID{0xFF, 0xFF, 0xFF, 0xFF}
	for bits, want := range map[int]uint32{0: 0x1000, 1: 0x1001, 15: 0x8FFF} {
		if g, err := beef.GroupIndex(all, bits); err != nil || g != want {
			t.Errorf("%d bits: %#x, %v, want %#x", bits, g, err, want)
		}
	}
	for _, bits := range []int{-1, 16} {
		if _, err := beef.GroupIndex(all, bits); err == nil {
			t.Errorf("%d bits are taken", bits)
		}
	}
}

func TestCohortTopic(t *testing.T) {
	h := sha3.NewLegacyKeccak256()
	addr, err := hex.DecodeString("ff0e00000000000000000000000b1000")
	if err != nil {
		t.Fatal(err)
	}
	h.Write(addr)
	if got := beef.CohortTopic(beef.BaseGroup); hex.EncodeToString(got[:]) != hex.EncodeToString(h.Sum(nil)) {
		t.Errorf("topic %x", got)
	}
	if beef.CohortTopic(0x1000) == beef.CohortTopic(0x1001) {
		t.Error("two groups share a cohort")
	}
}
