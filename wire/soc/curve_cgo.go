//go:build cgo

package soc

import (
	"sync"

	"github.com/ethereum/go-ethereum/crypto/secp256k1"
)

// recoverInput is what a call into C points to. Such memory moves to the heap,
// so it is pooled.
type recoverInput struct {
	digest Hash
	sig    [SigSize]byte
}

var recoverInputs = sync.Pool{New: func() any { return new(recoverInput) }}

// recoverPoint returns the uncompressed public key that made the signature over
// the digest, and whether there is one. It takes v 27 or 28 and any s.
func recoverPoint(digest *Hash, sig *[SigSize]byte) (point [uncompressedSize]byte, ok bool) {
	in := recoverInputs.Get().(*recoverInput)
	defer recoverInputs.Put(in)
	in.digest, in.sig = *digest, *sig
	in.sig[SigSize-1] -= vEven
	key, err := secp256k1.RecoverPubkey(in.digest[:], in.sig[:])
	if err != nil {
		return point, false
	}
	return [uncompressedSize]byte(key), true
}

// signDigest signs a digest with the nonce of RFC 6979 and a low s.
func signDigest(digest, secret *[32]byte) (sig [SigSize]byte, err error) {
	b, err := secp256k1.Sign(digest[:], secret[:])
	if err != nil {
		return sig, err
	}
	sig = [SigSize]byte(b)
	sig[SigSize-1] += vEven
	return sig, nil
}
