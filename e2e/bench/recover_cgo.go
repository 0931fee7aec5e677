//go:build cgo

package main

import (
	"testing"

	"github.com/ethereum/go-ethereum/crypto/secp256k1"

	"treecast/wire/soc"
)

// withLibrary says that keys are recovered by libsecp256k1.
const withLibrary = true

// recoverKey is one recovery by the library alone.
func recoverKey(b *testing.B, digest *soc.Hash, sig *[soc.SigSize]byte) {
	if _, err := secp256k1.RecoverPubkey(digest[:], sig[:]); err != nil {
		b.Fatal(err)
	}
}
