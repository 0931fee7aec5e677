//go:build !cgo

package soc

// recoverPoint returns the uncompressed public key that made the signature over
// the digest, and whether there is one. It takes v 27 or 28 and any s.
func recoverPoint(digest *Hash, sig *[SigSize]byte) (point [uncompressedSize]byte, ok bool) {
	return recoverPointPure(digest, sig)
}

// signDigest signs a digest with the nonce of RFC 6979 and a low s.
func signDigest(digest, secret *[32]byte) (sig [SigSize]byte, err error) {
	return signDigestPure(digest, secret), nil
}
