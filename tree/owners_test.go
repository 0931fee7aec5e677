package tree_test

import (
	"testing"

	"pgregory.net/rapid"

	"treecast/tree"
)

// TestFeedRemembers: of two chunks that share a place the newer stays, whatever
// comes first and however the ring grows; nothing is remembered that was not
// entered, and in a row without gaps the newest are all there.
func TestFeedRemembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int{1, 5, 16, 100, 1000}).Draw(t, "most")
		f, entered, newest := tree.NewFeed(most), map[uint64]uint64{}, uint64(0)
		for range rapid.IntRange(1, 300).Draw(t, "count") {
			i := newest + 1
			if rapid.IntRange(0, 4).Draw(t, "other") == 0 {
				i = rapid.Uint64Range(0, newest+20).Draw(t, "index")
			}
			if _, twice := entered[i]; twice {
				continue
			}
			entered[i], newest = rapid.Uint64().Draw(t, "print"), max(newest, i)
			f.Remember(i, entered[i])
			for at, print := range entered {
				if got, ok := f.Recall(at); ok && got != print {
					t.Fatalf("index %d: print %d, want %d", at, got, print)
				}
			}
			if _, ok := f.Recall(newest); !ok {
				t.Fatalf("the newest, %d, is forgotten", newest)
			}
			if _, ok := f.Recall(newest + 1); ok {
				t.Fatalf("remembers %d, which never came", newest+1)
			}
		}
	})
	f := tree.NewFeed(1000)
	for i := range uint64(5000) {
		f.Remember(i, i)
	}
	for i := range uint64(5000) {
		if _, ok := f.Recall(i); ok != (i >= 4000) {
			t.Fatalf("index %d of 5000 remembered: %v", i, ok)
		}
	}
}
