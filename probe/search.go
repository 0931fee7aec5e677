package probe

import (
	"cmp"
	"slices"
	"time"

	"treecast/wire"
)

// An ask is one probe that was sent and not answered yet.
type ask struct {
	stream StreamID
	id     uint64 // 0 for a plain probe
}

// A search is one walk through the tree as far as this node sees it.
//
// Invariants, checked by valid:
//  1. At most two candidates are kept, of distinct addresses, in order.
//  2. A search without outstanding asks does not outlive the Step that left it so.
//  3. No probe is waited for by two searches, and of those served none are more
//     than PerStream for one stream.
type search struct {
	token Token    // of an origin's search, when from is 0
	from  StreamID // whose probe it serves
	reply uint64   // that probe's id; 0 = plain
	asker Asker
	depth uint32 // of the receivers of plain probes
	until time.Time
	early bool // until is before the deadline
	asks  []ask
	best  [2]wire.Candidate
	n     int
	plain bool // foreign children have been asked
}

// worse orders candidates: free slots before displacements, then by depth.
func worse(a, b *wire.Candidate) int {
	if a.Displaces != b.Displaces {
		if a.Displaces {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.Depth, b.Depth)
}

// offer adds a candidate if it is one of the best two so far. The asker itself
// and, for a bounded asker, what has no rank or too high a one never counts.
func (s *search) offer(c *wire.Candidate) {
	if s.asker.Peer == c.Addr && s.asker.Peer != (wire.Overlay{}) {
		return
	}
	if !s.asker.Unbounded() && (!c.HasBand || !s.asker.Admits(Rank{c.Band, c.Addr})) {
		return
	}
	for i := range s.n {
		if s.best[i].Addr == c.Addr {
			if worse(c, &s.best[i]) < 0 {
				s.best[i] = *c
				s.sort()
			}
			return
		}
	}
	if s.n < 2 {
		s.best[s.n] = *c
		s.n++
	} else if worse(c, &s.best[1]) < 0 {
		s.best[1] = *c
	}
	s.sort()
}

func (s *search) sort() {
	if s.n == 2 && worse(&s.best[1], &s.best[0]) < 0 {
		s.best[0], s.best[1] = s.best[1], s.best[0]
	}
}

// answered removes the ask of id on stream and says whether there was one.
func (s *search) answered(stream StreamID, id uint64) bool {
	i := slices.Index(s.asks, ask{stream, id})
	if i < 0 {
		return false
	}
	s.asks = slices.Delete(s.asks, i, i+1)
	return true
}

// sure counts the candidates that have a free slot.
func (s *search) sure() (n int) {
	for i := range s.n {
		if !s.best[i].Displaces {
			n++
		}
	}
	return n
}
