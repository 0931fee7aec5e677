package soc

import (
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

// The pure Go side of the curve is compiled into every build, so that tests of
// a build with cgo hold the two against each other. It has the same contract as
// recoverPoint and signDigest, which call it in builds without cgo.

func recoverPointPure(digest *Hash, sig *[SigSize]byte) (point [uncompressedSize]byte, ok bool) {
	var compact [SigSize]byte // v || r || s
	compact[0] = sig[SigSize-1]
	copy(compact[1:], sig[:SigSize-1])
	key, _, err := ecdsa.RecoverCompact(compact[:], digest[:])
	if err != nil {
		return point, false
	}
	return [uncompressedSize]byte(key.SerializeUncompressed()), true
}

func signDigestPure(digest, secret *[32]byte) (sig [SigSize]byte) {
	compact := ecdsa.SignCompact(secp256k1.PrivKeyFromBytes(secret[:]), digest[:], false)
	copy(sig[:], compact[1:])
	sig[SigSize-1] = compact[0]
	return sig
}
