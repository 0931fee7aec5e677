//go:build !cgo

package main

import (
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"treecast/wire/soc"
)

// withLibrary says that keys are recovered by libsecp256k1.
const withLibrary = false

// recoverKey is one recovery by the library alone, which wants v first.
func recoverKey(b *testing.B, digest *soc.Hash, sig *[soc.SigSize]byte) {
	compact := [soc.SigSize]byte{27 + sig[64]}
	copy(compact[1:], sig[:64])
	if _, _, err := ecdsa.RecoverCompact(compact[:], digest[:]); err != nil {
		b.Fatal(err)
	}
}
