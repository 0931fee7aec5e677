package soc

import (
	"encoding/binary"
	"fmt"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// Overlay is a node's overlay address: keccak256(owner || networkID as 8 bytes,
// little endian || nonce) (PROTOCOL §1). A standalone node's nonce is zero, so
// that everybody derives its overlay from its authenticated public key.
func Overlay(owner Owner, networkID uint64, nonce Hash) Hash {
	var le [8]byte
	binary.LittleEndian.PutUint64(le[:], networkID)
	return Keccak256(owner[:], le[:], nonce[:])
}

// OwnerFromPublicKey is the Ethereum address of a secp256k1 public key, given
// compressed (33 bytes: 02 or 03, x) or uncompressed (65 bytes: 04, x, y). It
// refuses everything else, points off the curve included.
func OwnerFromPublicKey(key []byte) (Owner, error) {
	point, err := pointOfPublicKey(key)
	if err != nil {
		return Owner{}, err
	}
	return ownerOfPoint(&point), nil
}

// pointOfPublicKey is the uncompressed form of a public key that
// OwnerFromPublicKey takes.
func pointOfPublicKey(key []byte) (point [uncompressedSize]byte, err error) {
	// The parser also takes the hybrid form, 06 or 07 and both coordinates,
	// which nothing here has a use for.
	if len(key) == uncompressedSize && key[0] != uncompressedTag {
		return point, fmt.Errorf("soc: public key with first byte %#02x", key[0])
	}
	pub, err := secp256k1.ParsePubKey(key)
	if err != nil {
		return point, fmt.Errorf("soc: public key of %d bytes: %w", len(key), err)
	}
	return [uncompressedSize]byte(pub.SerializeUncompressed()), nil
}

// An uncompressed public key is a tag and the two coordinates.
const (
	uncompressedSize = 65
	uncompressedTag  = 0x04
)

func ownerOfPoint(point *[uncompressedSize]byte) Owner {
	h := Keccak256(point[1:])
	return Owner(h[len(h)-OwnerSize:])
}
