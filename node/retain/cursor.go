package retain

import (
	"slices"

	"treecast/wire"
)

// MaxHoles is how many holes of a Cursor a reader keeps for what is missing.
const MaxHoles = 1024

// A Cursor is how far a reader has come in one owner's feed: every index below
// Next is done with, but for the holes.
//
//	      holes        Next
//	───┐ ┌──┐ ┌─────────│
//	───┴─┘  └─┘─────────┴──▶ index
//
// Invariant: Holes are sorted, disjoint, do not touch, and lie below Next.
type Cursor struct {
	Next  uint64
	Holes []wire.IndexRange
	// From is where the reader began: what is below it was never given to it.
	From uint64
}

// Done notes that the indices of r are done with. Those below r and at Next or
// above become a hole.
func (c *Cursor) Done(r wire.IndexRange) {
	switch {
	case r.From > c.Next:
		c.Holes = append(c.Holes, wire.IndexRange{From: c.Next, To: r.From - 1})
		c.Next = r.To + 1
		return
	case r.From < c.Next && len(c.Holes) > 0:
		c.fill(r)
	}
	c.Next = max(c.Next, r.To+1)
}

// fill takes r out of the holes.
func (c *Cursor) fill(r wire.IndexRange) {
	i, _ := slices.BinarySearchFunc(c.Holes, r.From, func(h wire.IndexRange, from uint64) int {
		if h.To < from {
			return -1
		}
		return 1
	})
	for i < len(c.Holes) && c.Holes[i].From <= r.To {
		h := c.Holes[i]
		var rest [2]wire.IndexRange
		n := 0
		if h.From < r.From {
			rest[n] = wire.IndexRange{From: h.From, To: r.From - 1}
			n++
		}
		if h.To > r.To {
			rest[n] = wire.IndexRange{From: r.To + 1, To: h.To}
			n++
		}
		c.Holes = slices.Replace(c.Holes, i, i+1, rest[:n]...)
		i += n
	}
}

// Has says whether an index is done with.
func (c *Cursor) Has(index uint64) bool {
	if index >= c.Next {
		return false
	}
	_, hole := slices.BinarySearchFunc(c.Holes, index, func(h wire.IndexRange, index uint64) int {
		switch {
		case h.To < index:
			return -1
		case h.From > index:
			return 1
		}
		return 0
	})
	return !hole
}

// clone is a copy that shares nothing.
func (c *Cursor) clone() Cursor {
	x := *c
	x.Holes = slices.Clone(c.Holes)
	return x
}
