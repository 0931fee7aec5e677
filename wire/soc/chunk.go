package soc

import "encoding/binary"

// Sizes of a chunk's parts in bytes (PROTOCOL §3 Soc, §4).
const (
	MaxPayload  = 4096 // longest payload of a chunk
	SegmentSize = 32   // leaf of the Merkle tree
	SpanSize    = 8    // length prefix, little endian
	SigSize     = 65   // r (32) || s (32) || v (1)
	IDSize      = 32   // chunk identifier
	OwnerSize   = 20   // Ethereum address
)

// Hash is a keccak256 digest, and so also a chunk address, a feed identifier
// or an overlay address.
type Hash = [32]byte

// Owner is the Ethereum address of a chunk's signer: the last 20 bytes of
// keccak256 over the public key's two coordinates (PROTOCOL §1).
type Owner = [OwnerSize]byte

// Chunk is one single-owner chunk as it stands in a frame. The fields are
// views: the package reads them during a call, and neither keeps nor changes
// them. Nothing about them is believed before CheckCanonical.
//
//	ID        32  identifier, the full signed one also where a short form travels
//	Owner     20  claimed address of the signer
//	Signature 65  r || s || v
//	Span       8  length of the content, little endian
//	Payload    1..4096
type Chunk struct {
	ID, Owner, Signature, Span, Payload []byte
}

// Address is the address of the single-owner chunk with this id and owner:
// keccak256(id || owner) (PROTOCOL §4).
func Address(id *Hash, owner *Owner) Hash {
	return Keccak256(id[:], owner[:])
}

// FeedID is the chunk identifier of a feed's update: keccak256(topic || index
// as 8 bytes, big endian) (PROTOCOL §4 FEED_TOPIC). A feed's topic has 32
// bytes; the caller sees to that and to the bound of the index.
func FeedID(topic []byte, index uint64) Hash {
	var be [8]byte
	binary.BigEndian.PutUint64(be[:], index)
	return Keccak256(topic, be[:])
}

// Span is the span of content of n bytes, n ≥ 0: n as 8 bytes, little endian.
func Span(n int) [SpanSize]byte {
	var le [SpanSize]byte
	binary.LittleEndian.PutUint64(le[:], uint64(n))
	return le
}
