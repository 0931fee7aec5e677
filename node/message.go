package node

import (
	"treecast/wire"
	"treecast/wire/soc"
)

// Message is one chunk of a cohort, verified, as it came. Its slices point into
// a buffer that children and other subscriptions share: they are read-only. They
// stay valid until Release; a receiver that never calls it leaves the buffer to
// the garbage collector, which costs speed and nothing else. A Message is passed
// by value; each copy that outlives the first Release needs its own Retain.
type Message struct {
	ID        [32]byte   // the signed id
	Owner     wire.Owner // recovered from the signature
	Index     uint64     // feed index, if HasIndex (PROTOCOL §4 Feed index)
	HasIndex  bool
	Span      []byte // 8 bytes, little endian
	Payload   []byte // 1..4096 bytes
	Signature []byte // 65 bytes, r || s || v
	// Late says that chunks with higher indices of this feed were shown before it
	// (PROTOCOL §8).
	Late bool
	// Gap, if set, makes this no chunk but word of a gap: nothing else is set but
	// Owner. Only subscriptions that ask for gaps get such messages.
	Gap *Gap

	buf *wire.Buf
}

// Gap is a range of feed indices whose chunks were not shown in their place, as
// they could not be had in time (PROTOCOL §8). Those that come after all are
// shown late.
type Gap struct {
	From, To uint64 // both included
	// Void says that they were never published: an ingress was restarted and left
	// the rest of its block unused (PROTOCOL §7 Indices).
	Void bool
}

// Chunk is the message as wire/soc has it; its slices are the message's own.
func (m *Message) Chunk() soc.Chunk {
	return soc.Chunk{ID: m.ID[:], Owner: m.Owner[:], Signature: m.Signature, Span: m.Span, Payload: m.Payload}
}

// Retain adds a holder of the message's memory and returns m.
func (m Message) Retain() Message {
	if m.buf != nil {
		m.buf.Retain()
	}
	return m
}

// Release drops a holder of the message's memory. Its slices must not be used
// afterwards by this holder. More Releases than holders panic.
func (m Message) Release() {
	if m.buf != nil {
		m.buf.Release()
	}
}
