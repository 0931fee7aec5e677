package beef

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// ContentID returns the identity of a payload: SHA-256 applied twice to all of
// it, the record's envelope included (PROTOCOL §7 Layouts).
func ContentID(payload []byte) [32]byte {
	once := sha256.Sum256(payload)
	return sha256.Sum256(once[:])
}

// PairKey returns SHA-256(contentID ‖ topicID): the two that tell submissions
// and reassembly slots apart, in 32 bytes.
func PairKey(contentID [32]byte, topicID TopicID) [32]byte {
	var b [64]byte
	copy(b[:32], contentID[:])
	copy(b[32:], topicID[:])
	return sha256.Sum256(b[:])
}

// HashKey names the flow of one sender (an IPv6 address) in one group: XXH64 of
// the address, the group as four bytes and 32 zero bytes. SeqNum counts within
// it (PROTOCOL §7 Layouts).
func HashKey(sender [16]byte, group uint32) uint64 {
	var b [52]byte
	copy(b[:16], sender[:])
	binary.BigEndian.PutUint32(b[16:], group)
	return xxhash.Sum64(b[:])
}

// SenderOf returns the sender address of an ingress that has none configured:
// FD and the first 15 bytes of its overlay address, which lies in the private
// range fd00::/8 (PROTOCOL §7 Carriage).
func SenderOf(overlay [32]byte) [16]byte {
	var a [16]byte
	a[0] = 0xFD
	copy(a[1:], overlay[:15])
	return a
}
