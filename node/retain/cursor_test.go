package retain_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"treecast/node/retain"
	"treecast/wire"
)

// TestCursor compares a cursor with a plain set of indices.
func TestCursor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := retain.Cursor{Next: rapid.Uint64Range(0, 5).Draw(t, "next")}
		done := make(map[uint64]bool)
		for i := range c.Next {
			done[i] = true
		}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			from := rapid.Uint64Range(0, 60).Draw(t, "from")
			r := wire.IndexRange{From: from, To: from + rapid.Uint64Range(0, 6).Draw(t, "more")}
			c.Done(r)
			for i := r.From; i <= r.To; i++ {
				done[i] = true
			}
			var holes []wire.IndexRange
			for i := range c.Next {
				switch n := len(holes); {
				case done[i]:
				case n > 0 && holes[n-1].To+1 == i:
					holes[n-1].To = i
				default:
					holes = append(holes, wire.IndexRange{From: i, To: i})
				}
			}
			if !slices.Equal(c.Holes, holes) {
				t.Fatalf("holes %v, want %v", c.Holes, holes)
			}
			for i := range uint64(80) {
				if c.Has(i) != done[i] {
					t.Fatalf("index %d done: %v, want %v", i, c.Has(i), done[i])
				}
			}
		}
	})
}
