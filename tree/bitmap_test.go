package tree_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"treecast/tree"
)

// The first index sets the base half a width below itself; what is below the
// base counts as delivered, what is above the newest does not.
func TestBitmapBase(t *testing.T) {
	for _, c := range []struct{ width, first, base uint64 }{
		{128, 0, 0}, {128, 63, 0}, {128, 64, 0}, {128, 127, 0}, {128, 128, 64}, {128, 200, 128},
		{1 << 16, 1 << 15, 0}, {1 << 16, 1<<15 + 64, 64}, {64, 1000, 960},
	} {
		b := tree.NewBitmap(int(c.width))
		if b.Has(0) || b.Has(c.first) || b.Has(math.MaxUint64) {
			t.Errorf("width %d: an empty one has an index", c.width)
		}
		b.Set(c.first)
		if b.Base() != c.base || !b.Has(c.first) || b.Has(c.first+1) || c.base > 0 && !b.Has(c.base-1) || b.Has(c.base) && c.base != c.first {
			t.Errorf("width %d, first %d: base %d, want %d", c.width, c.first, b.Base(), c.base)
		}
	}
}

// It takes room as it is used: two words for a feed without gaps, its whole width at most.
func TestBitmapGrows(t *testing.T) {
	b := tree.NewBitmap(1 << 16)
	for i := range uint64(1 << 20) {
		b.Set(i)
	}
	if b.Words() > 2 {
		t.Errorf("%d words for a feed without a gap", b.Words())
	}
	b = tree.NewBitmap(1 << 10)
	for i := range uint64(1 << 12) {
		b.Set(2 * i)
	}
	if b.Words() != 1<<10/64 {
		t.Errorf("%d words", b.Words())
	}
}

// The newest index there is, and a jump over all that was known.
func TestBitmapFar(t *testing.T) {
	b := tree.NewBitmap(128)
	b.Set(5)
	b.Set(math.MaxInt64)
	if !b.Has(math.MaxInt64) || b.Has(math.MaxInt64-1) || !b.Has(6) {
		t.Error("after a jump to the last index")
	}
	b.Set(math.MaxInt64 - 1)
	if !b.Has(math.MaxInt64 - 1) {
		t.Error("the one before it")
	}
}

// TestBitmapAgainstSet compares with a set: what was set is had, what was not
// and is not below the base is not, and the base is never nearer to the newest
// index than a gap demands: half a width at least.
func TestBitmapAgainstSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const width = 256
		b, set := tree.NewBitmap(width), map[uint64]bool{}
		at := rapid.Uint64Range(0, 1000).Draw(t, "start")
		newest, base := uint64(0), uint64(0)
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				i := at + rapid.Uint64Range(0, 100).Draw(t, "step")
				if rapid.IntRange(0, 20).Draw(t, "jump") == 0 {
					i += rapid.Uint64Range(0, 3*width).Draw(t, "far")
				}
				if rapid.Bool().Draw(t, "late") {
					i -= min(i, rapid.Uint64Range(0, 2*width).Draw(t, "by"))
				}
				if b.Has(i) {
					if !set[i] && i >= b.Base() {
						t.Fatalf("has %d, which was not set", i)
					}
					return
				}
				b.Set(i)
				set[i] = true
				newest = max(newest, i)
				at = max(at, i)
			},
			"": func(t *rapid.T) {
				if len(set) == 0 {
					return
				}
				if b.Base() < base || b.Base()%64 != 0 || b.Words() > width/64 {
					t.Fatalf("base %d after %d, %d words", b.Base(), base, b.Words())
				}
				base = b.Base()
				for i := base; i <= newest; i++ {
					if b.Has(i) != set[i] {
						t.Fatalf("has %d: %v", i, b.Has(i))
					}
				}
				for i := range set {
					if !b.Has(i) {
						t.Fatalf("forgot %d", i)
					}
				}
				if b.Has(newest + 1) {
					t.Fatalf("has %d, above all", newest+1)
				}
				for i := base; i > 0 && i+width/2 > newest && base > newest-min(newest, width/2); i-- {
					if !set[i-1] && len(set) > 1 {
						t.Fatalf("base %d passed over %d, newest %d", base, i-1, newest)
					}
				}
			},
		})
	})
}
