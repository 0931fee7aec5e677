package wire

import "bytes"

// Auth is a PublisherAuth: the claim to speak for an owner. It proves nothing
// before its proof is checked, or the sender's own key is the owner's.
//
//	1   owner  bytes, 20
//	2   id     bytes, 32 when the binding fixes it
//	100 proof  bytes, 65
//
// (PROTOCOL §3, §6 PublisherAuth)
type Auth struct {
	// Owner is all zeros, for which nobody can sign, if the field has another
	// size than 20 bytes. An auth that names no owner at all is no auth.
	Owner Owner
	// ID is nil if absent, of any length otherwise.
	ID []byte
	// Proof is the owner's signature over the topic and both ends' overlays; nil
	// if absent, of any length otherwise.
	Proof []byte
}

const (
	authOwner = 1<<3 | bytesType
	authID    = 2<<3 | bytesType
	authProof = 100<<3 | bytesType
)

func (x *Auth) append(dst []byte) []byte {
	dst = appendBytes(dst, authOwner, x.Owner[:])
	dst = appendBytes(dst, authID, x.ID)
	return appendBytes(dst, authProof, x.Proof)
}

// parseAuth reads the message that f stands before; nil if it names no owner.
func parseAuth(f fields) (*Auth, error) {
	var x Auth
	var owner []byte
	for f.next() {
		switch f.tag {
		case authOwner:
			owner = f.val
		case authID:
			x.ID = nonEmpty(f.val)
		case authProof:
			x.Proof = nonEmpty(f.val)
		}
	}
	if f.err != nil || len(owner) == 0 {
		return nil, f.err
	}
	if len(owner) == len(x.Owner) {
		x.Owner = Owner(owner)
	}
	x.ID, x.Proof = bytes.Clone(x.ID), bytes.Clone(x.Proof)
	return &x, nil
}
