package beef

const (
	// DefaultSpare is the default of ReassemblerConfig.Spare.
	DefaultSpare = 4 << 20

	// spareLeast is the smallest buffer worth keeping: what is shorter costs about
	// as little to allocate as to look for.
	spareLeast = 16 << 10
	// sparesMost bounds the buffers that a search looks at.
	sparesMost = 32
	// pageSize is what the runtime rounds large allocations up to. A buffer has the
	// rounded size from the start, so that it fits objects of about the same length.
	pageSize = 8 << 10
)

// spares are buffers that objects have left behind, for those to come: fresh memory
// of an object's size costs clearing, faults and collections that together take as
// long as hashing it.
//
// Invariants: bytes is the sum of the capacities and at most limit; every capacity
// is at least spareLeast; the list has at most sparesMost buffers, the one kept
// longest first.
type spares struct {
	list  [][]byte
	bytes int64
	limit int64
}

// get returns an empty buffer with room for need bytes, the beginning of a payload
// of whole bytes that has outgrown a buffer of size bytes (0 = of none). It is a
// spare where one fits, for that is memory held already, whatever the payload
// claims to be. A fresh one is of twice the size, slotFirst at least and whole at
// most.
func (s *spares) get(need, size, whole int64) []byte {
	if i := s.find(need, whole); i >= 0 {
		return s.remove(i)
	}
	size = min(max(2*size, slotFirst, need), whole)
	if size > 4*pageSize {
		size = (size + pageSize - 1) &^ (pageSize - 1)
	}
	return make([]byte, 0, size)
}

// find returns the spare that serves best: the smallest that holds the whole
// payload, else the largest, -1 if none does. One that is much larger than the
// payload never does, as the payload keeps it from others.
func (s *spares) find(need, whole int64) int {
	best, most := -1, whole+max(whole/4, pageSize)
	for i, b := range s.list {
		size := int64(cap(b))
		if size < need || size > most {
			continue
		}
		if best < 0 || closer(size, int64(cap(s.list[best])), whole) {
			best = i
		}
	}
	return best
}

// closer tells whether a buffer of a bytes serves whole bytes better than one of b.
func closer(a, b, whole int64) bool {
	if a >= whole && b >= whole {
		return a < b
	}
	return a > b
}

// put keeps a buffer, at the cost of those kept longest.
func (s *spares) put(b []byte) {
	size := int64(cap(b))
	if size < spareLeast || size > s.limit {
		return
	}
	if len(s.list) == sparesMost {
		s.remove(0)
	}
	s.shrink(s.limit - size)
	s.list = append(s.list, b[:0])
	s.bytes += size
}

// shrink gives buffers back to the runtime until at most n bytes are kept.
func (s *spares) shrink(n int64) {
	for len(s.list) > 0 && s.bytes > n {
		s.remove(0)
	}
}

func (s *spares) remove(i int) []byte {
	b := s.list[i]
	s.bytes -= int64(cap(b))
	last := len(s.list) - 1
	copy(s.list[i:], s.list[i+1:])
	s.list[last] = nil
	s.list = s.list[:last]
	return b
}
