package beef

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"golang.org/x/crypto/sha3"
)

// Limits of the topic list of a submission record (PROTOCOL §7 Layouts).
const (
	MaxTopics    = 15 // names in a record
	MaxTopicName = 64 // bytes in a name
)

// TopicID identifies an overlay topic: SHA-256 over the bytes of its name, as
// they are, without any normalisation (PROTOCOL §7).
type TopicID [32]byte

// TopicIDOf returns the identifier of the topic called name.
func TopicIDOf(name string) TopicID {
	// The conversion does not allocate: a name has at most MaxTopicName bytes,
	// and Sum256 does not keep its argument.
	return sha256.Sum256([]byte(name))
}

// String is the identifier in lower-case hexadecimal.
func (t TopicID) String() string { return hex.EncodeToString(t[:]) }

// Group indices of the BEEF plane (PROTOCOL §7).
const (
	// BaseGroup is the plane's first group, and its only one at 0 shard bits.
	BaseGroup uint32 = 0x1000
	// MaxShardBits is how many leading bits of a TopicID may choose the group.
	MaxShardBits = 15
)

// GroupIndex returns the group that carries topic t when shardBits leading bits
// of the TopicID choose it: 0x1000 to 0x8FFF. The error names a shardBits that
// is not 0..MaxShardBits.
func GroupIndex(t TopicID, shardBits int) (uint32, error) {
	if shardBits < 0 || shardBits > MaxShardBits {
		return 0, fmt.Errorf("beef: shard bits %d", shardBits)
	}
	return BaseGroup + binary.BigEndian.Uint32(t[:])>>(32-shardBits), nil
}

// GroupAddress returns the IPv6 multicast address FF0E::B:xxxx of a group
// (0x1000 to 0x8FFF). Nothing is ever sent there: the address only names the
// group.
func GroupAddress(group uint32) [16]byte {
	a := [16]byte{0: 0xFF, 1: 0x0E, 13: 0x0B}
	binary.BigEndian.PutUint16(a[14:], uint16(group))
	return a
}

// CohortTopic returns the topic of the cohort that carries a group: keccak256
// of the group's address (PROTOCOL §7).
func CohortTopic(group uint32) [32]byte {
	a := GroupAddress(group)
	h := sha3.NewLegacyKeccak256()
	h.Write(a[:])
	var topic [32]byte
	h.Sum(topic[:0])
	return topic
}
