package soc

import (
	"errors"
	"fmt"
)

// ErrForged says that a chunk's signature does not recover the owner that the
// chunk claims, or recovers nobody. Whoever sent it made it or failed to check
// it, and is blamed (PROTOCOL §4).
var ErrForged = errors.New("soc: forged chunk")

// replicaOwner is the address of the private key 01 followed by 31 zero bytes,
// under which Swarm stores dispersed replicas of content. Everybody can sign
// with it, so its signature proves nothing; what ties such a chunk to its
// content is the id (see checkReplica).
var replicaOwner = Owner{
	0xdc, 0x5b, 0x20, 0x84, 0x7f, 0x43, 0xd6, 0x79, 0x28, 0xf4,
	0x9c, 0xd4, 0xf8, 0x5d, 0x69, 0x6b, 0x5a, 0x76, 0x17, 0xb5,
}

// Verify checks a chunk in full: its form (CheckCanonical), the rule of replica
// chunks, and that the signature recovers the claimed owner (PROTOCOL §4). It
// returns the address of the wrapped content, which tells two chunks under one
// address apart, or a zero hash and an error wrapping ErrNonCanonical or
// ErrForged. VerifyBatch gives the same answers for many chunks of few owners in
// much less time.
//
// For a valid chunk it allocates nothing itself. Recovering the key does, inside
// the curve's library: 80 bytes in one piece around libsecp256k1, some hundred
// bytes in the pure Go build.
func Verify(c *Chunk) (cac Hash, err error) {
	b := batches.Get().(*batch)
	defer batches.Put(b)
	one := b.one[:]
	one[0] = Check{Chunk: *c}
	b.examine(one)
	if one[0].Err == nil {
		one[0].recover()
	}
	cac, err = one[0].CAC, one[0].Err
	one[0] = Check{}
	return cac, err
}

// recoverAs recovers the key of a signature over a digest, and demands that it is
// the owner's. The signature's encoding has been checked.
func recoverAs(owner *Owner, digest *Hash, sig *[SigSize]byte) (point [uncompressedSize]byte, err error) {
	point, ok := recoverPoint(digest, sig)
	if !ok {
		return point, fmt.Errorf("%w: the signature recovers no key", ErrForged)
	}
	if got := ownerOfPoint(&point); got != *owner {
		return point, fmt.Errorf("%w: claimed owner %x, signed by %x", ErrForged, *owner, got)
	}
	return point, nil
}

// RecoverOwner returns who signed the 32-byte hash with Key.SignHash, under the
// same demands on the signature's encoding as a chunk's. The errors wrap
// ErrNonCanonical, or ErrForged when the signature recovers no key at all; the
// caller compares the owner.
func RecoverOwner(hash *Hash, sig []byte) (Owner, error) {
	if err := checkSignature(sig); err != nil {
		return Owner{}, err
	}
	owner, ok := recoverOwner(hash, (*[SigSize]byte)(sig))
	if !ok {
		return Owner{}, fmt.Errorf("%w: the signature recovers no key", ErrForged)
	}
	return owner, nil
}

// checkReplica refuses a chunk of the replica owner whose id is not the wrapped
// address with a free choice of its first byte. It is a matter of form and not
// of forgery: the key is public.
func checkReplica(id *Hash, owner *Owner, cac *Hash) error {
	if *owner == replicaOwner && [31]byte(id[1:]) != [31]byte(cac[1:]) {
		return fmt.Errorf("%w: replica chunk whose id %x is not made of the wrapped address %x", ErrNonCanonical, *id, *cac)
	}
	return nil
}

// signedHash is the 32-byte message that the owner of a chunk signs.
func signedHash(id, cac *Hash) Hash {
	return Keccak256(id[:], cac[:])
}

// personalPrefix opens an EIP-191 personal message of 32 bytes.
const personalPrefix = "\x19Ethereum Signed Message:\n32"

// personalDigest is the EIP-191 digest of a 32-byte message: what the curve
// signs. The prefix keeps a signature over a chunk from being one over a
// transaction.
func personalDigest(message *Hash) Hash {
	var b [len(personalPrefix) + 32]byte
	copy(b[copy(b[:], personalPrefix):], message[:])
	return Keccak256(b[:])
}

// recoverOwner returns the signer of an EIP-191 message. The signature's
// encoding has been checked.
func recoverOwner(message *Hash, sig *[SigSize]byte) (Owner, bool) {
	digest := personalDigest(message)
	point, ok := recoverPoint(&digest, sig)
	if !ok {
		return Owner{}, false
	}
	return ownerOfPoint(&point), true
}
