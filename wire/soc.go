package wire

import "google.golang.org/protobuf/encoding/protowire"

// Soc is a single-owner chunk as it came, a view into its frame: no field's
// size is certain, and nothing about it is verified.
//
//	1   id         bytes, 32 (or 8, PROTOCOL §4 Feed index)
//	2   owner      bytes, 20
//	3   signature  bytes, 65
//	4   span       bytes, 8
//	5   payload    bytes, 1..4096
//	100 index      uint64
//
// (PROTOCOL §3, §6 Soc)
type Soc struct {
	ID        []byte
	Owner     []byte
	Signature []byte
	Span      []byte
	Payload   []byte
	// Index is the feed index that the sender claims.
	Index    uint64
	HasIndex bool
	// Unknown is how many bytes of the frame's message a canonical encoding of
	// this chunk would not have: unknown fields of the Broadcast and of the Soc,
	// members and fields that a later one replaced, padded varints. A relay has
	// to forward them all, so it bounds them (PROTOCOL §2). AppendSoc ignores it.
	Unknown int
}

const (
	socID        = 1<<3 | bytesType
	socOwner     = 2<<3 | bytesType
	socSignature = 3<<3 | bytesType
	socSpan      = 4<<3 | bytesType
	socPayload   = 5<<3 | bytesType
	socIndex     = 100<<3 | varintType
)

// AppendSoc appends a Broadcast message with the chunk s to dst, which is also
// the Publish message with it. Index is written, be it 0, iff HasIndex is set.
func AppendSoc(dst []byte, s *Soc) []byte {
	dst = protowire.AppendVarint(dst, broadcastSoc)
	dst = protowire.AppendVarint(dst, uint64(s.bodySize()))
	dst = appendBytes(dst, socID, s.ID)
	dst = appendBytes(dst, socOwner, s.Owner)
	dst = appendBytes(dst, socSignature, s.Signature)
	dst = appendBytes(dst, socSpan, s.Span)
	dst = appendBytes(dst, socPayload, s.Payload)
	if s.HasIndex {
		dst = appendPresent(dst, socIndex, s.Index)
	}
	return dst
}

// bodySize is the length of the canonical Soc message.
func (s *Soc) bodySize() int {
	n := sizeBytes(socID, len(s.ID)) + sizeBytes(socOwner, len(s.Owner)) +
		sizeBytes(socSignature, len(s.Signature)) + sizeBytes(socSpan, len(s.Span)) +
		sizeBytes(socPayload, len(s.Payload))
	if s.HasIndex {
		n += sizeUint(socIndex, s.Index)
	}
	return n
}

// size is the length of what AppendSoc appends.
func (s *Soc) size() int {
	return protowire.SizeVarint(broadcastSoc) + protowire.SizeBytes(s.bodySize())
}

func (s *Soc) parse(f fields) error {
	*s = Soc{}
	for f.next() {
		switch f.tag {
		case socID:
			s.ID = nonEmpty(f.val)
		case socOwner:
			s.Owner = nonEmpty(f.val)
		case socSignature:
			s.Signature = nonEmpty(f.val)
		case socSpan:
			s.Span = nonEmpty(f.val)
		case socPayload:
			s.Payload = nonEmpty(f.val)
		case socIndex:
			s.Index, s.HasIndex = f.num, true
		}
	}
	return f.err
}
