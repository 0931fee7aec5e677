package beef

import (
	"encoding/binary"
	"slices"
)

// Sizes of the two headers in bytes (PROTOCOL §7 Layouts).
const (
	HeaderSize         = 92  // of an object frame
	FragmentHeaderSize = 104 // of a fragment
)

// The values of FrameVer that the plane knows (PROTOCOL §7 Layouts).
const (
	FrameVerObject   byte = 0x09 // an object frame
	FrameVerFragment byte = 0x03 // a fragment of one
)

const (
	magicWord uint32 = 0xE3E1F3E8
	protoWord uint16 = 0x02BF
)

var magic = [4]byte{0xE3, 0xE1, 0xF3, 0xE8}

// headerFields are the offsets where the fields of a fragment's header start;
// up to HeaderSize they are an object frame's as well.
var headerFields = [...]int{0, 4, 6, 7, 8, 40, 48, 56, 88, 92, 96, 98, 100, 101, FragmentHeaderSize}

// Header holds what object frame and fragment have in common (PROTOCOL §7
// Layouts; integers big endian).
//
//	offset size field
//	     0    4 magic E3E1F3E8
//	     4    2 protocol version 02BF, not checked on receipt
//	     6    1 FrameVer
//	     7    1 DeliverCount
//	     8   32 ContentID
//	    40    8 HashKey
//	    48    8 SeqNum
//	    56   32 TopicID
//	    88    4 length of what follows the header
type Header struct {
	// DeliverCount is how many of the record's leading names can be matched,
	// as found on the wire; see Deliverable.
	DeliverCount uint8
	// ContentID is ContentID of the payload.
	ContentID [32]byte
	// HashKey names the flow, 0 before the ingress stamped it.
	HashKey uint64
	// SeqNum counts frames and fragments of the flow from 1, 0 before the
	// ingress stamped it.
	SeqNum uint64
	// TopicID is the first topic's.
	TopicID TopicID

	// proto is the difference between the protocol version and 02BF, so that
	// the zero Header writes 02BF and a parsed one the bytes it came from.
	proto uint16
}

// ProtoVer returns the protocol version: 02BF, or what a parsed header had.
func (h *Header) ProtoVer() uint16 { return h.proto ^ protoWord }

// Deliverable returns how many of a record's names, of which there are names,
// can be matched under a DeliverCount: 0 reads as 1, and more than there are as
// that number (PROTOCOL §7 Ingress doors). A bare object has one.
func Deliverable(deliverCount uint8, names int) int {
	return max(1, min(int(deliverCount), names))
}

// FrameVersion returns FrameVerObject or FrameVerFragment for the bytes of one
// of the two, without looking further; a *FaultError otherwise.
func FrameVersion(b []byte) (byte, error) {
	ver, f := frameVersion(b)
	return ver, f.raise()
}

func frameVersion(b []byte) (byte, fault) {
	if f := judgeMagic(b); !f.none() {
		return 0, f
	}
	if len(b) <= 6 {
		return 0, cutHeader(len(b))
	}
	if b[6] != FrameVerObject && b[6] != FrameVerFragment {
		return 0, malformed(6, reasonVersion, uint64(b[6]))
	}
	return b[6], fault{}
}

// judgeMagic judges as many bytes of the magic as there are.
func judgeMagic(b []byte) fault {
	for i, c := range b[:min(len(b), len(magic))] {
		if c != magic[i] {
			return malformed(0, reasonMagic, 0)
		}
	}
	return fault{}
}

// cutHeader is the fault of a header of which only n bytes are there.
func cutHeader(n int) fault {
	field := 0
	for _, start := range headerFields {
		if start > n {
			break
		}
		field = start
	}
	return truncated(field)
}

// parseHeader decodes the first HeaderSize bytes to h and judges the version before
// the rest is there; the length is that of the field at 88.
func parseHeader(h *Header, b []byte, want byte) (length uint32, f fault) {
	ver, f := frameVersion(b)
	if !f.none() {
		return 0, f
	}
	if ver != want {
		return 0, malformed(6, reasonVersion, uint64(ver))
	}
	if len(b) < HeaderSize {
		return 0, cutHeader(len(b))
	}
	h.proto = binary.BigEndian.Uint16(b[4:]) ^ protoWord
	h.DeliverCount = b[7]
	copy(h.ContentID[:], b[8:])
	h.HashKey = binary.BigEndian.Uint64(b[40:])
	h.SeqNum = binary.BigEndian.Uint64(b[48:])
	copy(h.TopicID[:], b[56:])
	return binary.BigEndian.Uint32(b[88:]), f
}

// appendHeader makes room once and writes each field where it belongs.
func appendHeader(dst []byte, h *Header, ver byte, length int) []byte {
	at := len(dst)
	dst = slices.Grow(dst, HeaderSize)[:at+HeaderSize]
	b := (*[HeaderSize]byte)(dst[at:])
	binary.BigEndian.PutUint32(b[0:], magicWord)
	binary.BigEndian.PutUint16(b[4:], h.ProtoVer())
	b[6], b[7] = ver, h.DeliverCount
	copy(b[8:], h.ContentID[:])
	binary.BigEndian.PutUint64(b[40:], h.HashKey)
	binary.BigEndian.PutUint64(b[48:], h.SeqNum)
	copy(b[56:], h.TopicID[:])
	binary.BigEndian.PutUint32(b[88:], uint32(length))
	return dst
}
