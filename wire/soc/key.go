package soc

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// Key is a secp256k1 private key that signs chunks (PROTOCOL §1, §4). It is
// immutable and safe for concurrent use. The zero Key signs nothing: it comes
// from NewKey or KeyFromBytes. Printed in whatever way it shows its owner alone.
type Key struct {
	secret [32]byte
	public [33]byte // compressed
	owner  Owner
}

// NewKey draws a fresh key from the system's secure random source.
func NewKey() (*Key, error) {
	priv, err := secp256k1.GeneratePrivateKey()
	if err != nil {
		return nil, fmt.Errorf("soc: new key: %w", err)
	}
	return keyOf(priv), nil
}

// KeyFromBytes is the key with the given secret: 32 bytes, big endian, above 0
// and below the group order. It copies the bytes; its errors never show them.
func KeyFromBytes(secret []byte) (*Key, error) {
	if len(secret) != 32 {
		return nil, fmt.Errorf("soc: private key of %d bytes", len(secret))
	}
	var scalar secp256k1.ModNScalar
	if overflow := scalar.SetByteSlice(secret); overflow || scalar.IsZero() {
		return nil, errors.New("soc: private key zero or not below the group order")
	}
	return keyOf(secp256k1.NewPrivateKey(&scalar)), nil
}

func keyOf(priv *secp256k1.PrivateKey) *Key {
	pub := priv.PubKey()
	point := [uncompressedSize]byte(pub.SerializeUncompressed())
	return &Key{
		secret: [32]byte(priv.Serialize()),
		public: [33]byte(pub.SerializeCompressed()),
		owner:  ownerOfPoint(&point),
	}
}

// Bytes is a copy of the secret: 32 bytes, big endian, as KeyFromBytes takes it.
func (k *Key) Bytes() []byte { return bytes.Clone(k.secret[:]) }

// Owner is the key's Ethereum address.
func (k *Key) Owner() Owner { return k.owner }

// PublicKey is a copy of the public key, compressed: 33 bytes.
func (k *Key) PublicKey() []byte { return bytes.Clone(k.public[:]) }

// Format implements fmt.Formatter for all verbs, so that no way of printing or
// logging a key shows the secret.
func (k Key) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "soc.Key(owner %x)", k.owner)
}

// Sign signs the chunk made of id, span and payload. The same chunk always gets
// the same signature (RFC 6979), its s is low, its v 27 or 28. A chunk that
// Verify would refuse is not signed: the error wraps ErrNonCanonical.
func (k *Key) Sign(id *Hash, span, payload []byte) (sig [SigSize]byte, err error) {
	if err := checkContent(span, payload); err != nil {
		return sig, err
	}
	cac := CACAddress(span, payload)
	if err := checkReplica(id, &k.owner, &cac); err != nil {
		return sig, err
	}
	hash := signedHash(id, &cac)
	return k.SignHash(&hash)
}

// SignHash signs a 32-byte hash as an EIP-191 personal message, the manner in
// which chunks and proofs of an owner are signed (PROTOCOL §4, §6
// PublisherAuth). RecoverOwner is its counterpart.
func (k *Key) SignHash(hash *Hash) (sig [SigSize]byte, err error) {
	if k.secret == [32]byte{} {
		return sig, errors.New("soc: sign with a zero key")
	}
	digest := personalDigest(hash)
	sig, err = signDigest(&digest, &k.secret)
	if err != nil {
		return sig, fmt.Errorf("soc: sign: %w", err)
	}
	// A nonce point whose x exceeds the group order gives v 29 or 30, with a
	// chance of 1 in 2^127; such a signature would be refused everywhere.
	if err := checkSignature(sig[:]); err != nil {
		return [SigSize]byte{}, fmt.Errorf("soc: sign: %w", err)
	}
	return sig, nil
}
