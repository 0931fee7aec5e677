package sim

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// chunks keeps account of what was published and who got it.
type chunks struct {
	list []chunk
	open int    // the first that is not closed
	part string // of the run, and the chunks before it
	from int
}

// chunk is one publication: a bit for each node that has to get it, and for each
// that did.
type chunk struct {
	at   int64
	want []uint64
	got  []uint64
}

func (c *chunk) size(n int) { c.got = make([]uint64, (n+63)/64) }

// publish sends the next chunk from the broker. Whoever is reached from it past
// all nodes that fail in the episode under way has to get it.
func (w *world) publish() {
	index := uint64(len(w.chunks.list))
	id := soc.FeedID(w.spec.Topic[:], index)
	s := wire.Soc{
		ID: id[:], Owner: w.spec.Admin, Signature: make([]byte, 65), Span: make([]byte, 8),
		Payload: make([]byte, 32), Index: index, HasIndex: true,
	}
	binary.LittleEndian.PutUint64(s.Span, uint64(len(s.Payload)))
	binary.BigEndian.PutUint64(s.Payload, index)
	at := w.newFrame(wire.AppendSoc(nil, &s))
	f := &w.frames[at]
	f.soc = new(wire.Broadcast)
	if err := f.soc.Parse(f.body); err != nil {
		panic(err) // made here
	}
	c := chunk{at: w.now, want: w.graph.spared(w)}
	c.size(len(w.nodes))
	w.chunks.list = append(w.chunks.list, c)
	w.copies++
	w.held++
	id64 := tree.ChunkID(w.copies)<<32 | tree.ChunkID(uint32(at))
	w.step(0, &tree.Publish{Request: tree.RequestID(index + 1), Chunk: id64, Soc: &f.soc.Soc})
}

// forge makes the altered copy of a chunk that a liar sends instead.
func (w *world) forge(at int32) int32 {
	s := w.frames[at].soc.Soc
	s.Payload = append([]byte(nil), s.Payload...)
	s.Payload[len(s.Payload)-1] ^= 1
	to := w.newFrame(wire.AppendSoc(nil, &s))
	f := &w.frames[to]
	f.forged, f.soc = true, new(wire.Broadcast)
	if err := f.soc.Parse(f.body); err != nil {
		panic(err) // made here
	}
	return to
}

// delivered notes that a node's application got a chunk.
func (w *world) delivered(i int32, a *tree.Action) {
	if !a.HasIndex || a.Index >= uint64(len(w.chunks.list)) {
		w.violated(i, "node %d was delivered a chunk that nobody published", i)
		return
	}
	if w.frames[int32(uint32(a.Chunk))].forged {
		w.violated(i, "node %d was delivered a forged chunk", i)
	}
	c := &w.chunks.list[a.Index]
	for int(i>>6) >= len(c.got) { // joined since
		c.got = append(c.got, 0)
	}
	bit := uint64(1) << (i & 63)
	if c.got[i>>6]&bit != 0 {
		w.stats.surfaced++
		return
	}
	c.got[i>>6] |= bit
	w.stats.delivered++
	if w.now-c.at > int64(LateAfter) {
		w.stats.late++
	}
}

// close counts what is missing of the chunks published since the last rest.
func (w *world) closeChunks() {
	for ; w.chunks.open < len(w.chunks.list); w.chunks.open++ {
		c := &w.chunks.list[w.chunks.open]
		for k, want := range c.want {
			lack := want
			if k < len(c.got) {
				lack &^= c.got[k]
			}
			for ; lack != 0; lack &= lack - 1 {
				i := int32(k<<6 + bits.TrailingZeros64(lack))
				if n := &w.nodes[i]; n.state == stateLive {
					n.missing++
					w.stats.missing++
					w.trace.note(w.now, i, fmt.Sprintf("lacks chunk %d", w.chunks.open))
					w.stats.missingMax = max(w.stats.missingMax, int(n.missing))
				}
			}
		}
		c.want = nil
	}
}
