package node

import (
	"treecast/tree"
	"treecast/wire"
)

// heldChunk is a chunk that the core holds.
type heldChunk struct {
	buf  *wire.Buf    // one reference; nil = slot is free
	laid wire.Piece   // one reference, once the frame lies in a slab
	soc  wire.Soc     // views into buf
	from wire.Overlay // the peer whose stream brought it; zero: none did
	gen  uint32
}

// chunkTable gives chunks to the core under IDs and keeps their buffers until it
// releases them. It belongs to the loop. An ID is a slot and the slot's
// generation, so that one that is used after its release is noticed.
type chunkTable struct {
	slots []heldChunk
	free  []uint32
}

// add takes over one reference to buf, which came from a peer's stream or, with
// a zero from, otherwise.
func (t *chunkTable) add(buf *wire.Buf, s *wire.Soc, from wire.Overlay) tree.ChunkID {
	var slot uint32
	if n := len(t.free); n > 0 {
		slot, t.free = t.free[n-1], t.free[:n-1]
	} else {
		slot = uint32(len(t.slots))
		t.slots = append(t.slots, heldChunk{})
	}
	c := &t.slots[slot]
	c.gen++
	c.buf, c.soc, c.from = buf, *s, from
	return tree.ChunkID(c.gen)<<32 | tree.ChunkID(slot)
}

// get returns what the core holds under id. The core never names a chunk that it
// released, so that is a fault of this program.
func (t *chunkTable) get(id tree.ChunkID) *heldChunk {
	slot, gen := uint32(id), uint32(id>>32)
	if int(slot) >= len(t.slots) || t.slots[slot].gen != gen || t.slots[slot].buf == nil {
		panic("node: the core names a chunk that it does not hold")
	}
	return &t.slots[slot]
}

// release drops the core's reference.
func (t *chunkTable) release(id tree.ChunkID) {
	t.get(id).drop()
	t.free = append(t.free, uint32(id))
}

// drop gives the references back.
func (c *heldChunk) drop() {
	c.buf.Release()
	if c.laid != (wire.Piece{}) {
		c.laid.Release()
	}
	c.buf, c.laid, c.soc = nil, wire.Piece{}, wire.Soc{}
}

// held is the number of chunks that the core holds.
func (t *chunkTable) held() int { return len(t.slots) - len(t.free) }

// clear drops all references, for when the core is gone.
func (t *chunkTable) clear() {
	for i := range t.slots {
		if c := &t.slots[i]; c.buf != nil {
			c.drop()
		}
	}
	t.slots, t.free = nil, nil
}
