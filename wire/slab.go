package wire

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// SlabBytes is how much a Slab holds: with the multiplexer's header of 12 bytes, one
// message of the secure channel's, which has 65,535 with its tag of 16. One byte more
// would be two messages of each, the second nearly empty.
const SlabBytes = 65535 - 16 - 12

// A Slab is memory for frames that lie one behind the other, so that as many of them
// as there are go out in one write, to each of any number of peers, without being
// copied together for it. One owner fills it; the pieces that are filled are shared
// and read-only.
type Slab struct {
	refs atomic.Int32
	mem  [SlabBytes]byte
	used int // the owner's
}

var slabs = sync.Pool{New: func() any { return new(Slab) }}

// NewSlab returns an empty slab. Its one reference is the owner's.
func NewSlab() *Slab {
	s := slabs.Get().(*Slab)
	s.used = 0
	s.refs.Store(1)
	return s
}

// Lay copies a frame behind those that are there; it is the owner's to call. The piece
// has a reference of its own, which is the caller's. False: there is no room for it.
func (s *Slab) Lay(frame []byte) (Piece, bool) {
	if len(frame) > len(s.mem)-s.used {
		return Piece{}, false
	}
	from := s.used
	s.used += copy(s.mem[from:], frame)
	return Piece{s, int32(from), int32(s.used)}.Retain(), true
}

// Release drops the owner's reference, with which it stops filling the slab.
func (s *Slab) Release() { Piece{slab: s}.Release() }

// A Piece is a part of a slab: frames, one behind the other. A piece with a
// reference keeps the slab's memory; it is passed by value, and each copy that
// outlives the first Release needs its own Retain. The zero Piece is none.
type Piece struct {
	slab     *Slab
	from, to int32
}

// Len is the number of bytes.
func (p Piece) Len() int { return int(p.to - p.from) }

// Bytes are the frames, read-only.
func (p Piece) Bytes() []byte { return p.slab.mem[p.from:p.to:p.to] }

// Of tells whether the piece is one of s.
func (p Piece) Of(s *Slab) bool { return p.slab == s }

// Start is where in its slab the piece begins.
func (p Piece) Start() int { return int(p.from) }

// Piece is the part of the slab from a byte up to another one, without a reference
// of its own.
func (s *Slab) Piece(from, to int) Piece { return Piece{s, int32(from), int32(to)} }

// Extend makes p longer by next, if that lies right behind it. The slab's reference
// is p's still, and next's next's.
func (p *Piece) Extend(next Piece) bool {
	if p.slab == nil || p.slab != next.slab || p.to != next.from {
		return false
	}
	p.to = next.to
	return true
}

// Retain adds a reference and returns p. Only a holder may call it.
func (p Piece) Retain() Piece {
	if n := p.slab.refs.Add(1); n <= 1 {
		panic(fmt.Sprintf("wire: slab retained with %d references", n-1))
	}
	return p
}

// Release drops a reference; with the last one the memory is used again. Releasing
// more often than retaining panics, as long as nobody else got the slab meanwhile.
func (p Piece) Release() {
	switch n := p.slab.refs.Add(-1); {
	case n == 0:
		slabs.Put(p.slab)
	case n < 0:
		panic(fmt.Sprintf("wire: slab released with %d references", n+1))
	}
}
