package soc_test

import (
	"bytes"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"treecast/wire/soc"
)

func TestOwnerFromPublicKeyForms(t *testing.T) {
	key, err := soc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	pub, err := secp256k1.ParsePubKey(key.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	full := pub.SerializeUncompressed()
	for _, form := range [][]byte{key.PublicKey(), full} {
		if got, err := soc.OwnerFromPublicKey(form); err != nil || got != key.Owner() {
			t.Errorf("owner of %x = %x, %v; want %x", form, got, err, key.Owner())
		}
	}

	hybrid := bytes.Clone(full)
	hybrid[0] = 6 + full[64]&1
	if _, err := secp256k1.ParsePubKey(hybrid); err != nil {
		t.Fatalf("not a hybrid key: %v", err)
	}
	off := bytes.Clone(full)
	off[64] ^= 1
	for name, bad := range map[string][]byte{
		"nil": nil, "empty": {}, "32 bytes": full[1:33], "64 bytes": full[1:], "66 bytes": append(bytes.Clone(full), 0),
		"hybrid": hybrid, "off the curve": off, "tag 04, 33 bytes": append([]byte{4}, full[1:33]...),
		"x above the prime": append([]byte{2}, bytes.Repeat([]byte{0xff}, 32)...),
	} {
		if owner, err := soc.OwnerFromPublicKey(bad); err == nil {
			t.Errorf("%s: owner %x", name, owner)
		}
	}
}

func TestSpan(t *testing.T) {
	for _, n := range []int{0, 1, 255, 256, 4096, 1 << 30} {
		span := soc.Span(n)
		equal(t, "span", span[:], span64(uint64(n)))
	}
}
