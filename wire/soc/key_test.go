package soc_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"treecast/wire/soc"
)

func TestKeyFromBytesRefuses(t *testing.T) {
	order := secp256k1.Params().N.Bytes()
	for name, secret := range map[string][]byte{
		"nil":       nil,
		"31 bytes":  pattern(31),
		"33 bytes":  pattern(33),
		"zero":      make([]byte, 32),
		"order":     order,
		"all ones":  bytes.Repeat([]byte{0xff}, 32),
		"64 digits": []byte(strings.Repeat("1", 64)),
	} {
		key, err := soc.KeyFromBytes(secret)
		if err == nil || key != nil {
			t.Errorf("%s: key %v, error %v", name, key, err)
		}
	}
	order[31]--
	if _, err := soc.KeyFromBytes(order); err != nil {
		t.Errorf("order - 1: %v", err)
	}
}

func TestNewKey(t *testing.T) {
	a, err := soc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	b, err := soc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	if a.Owner() == b.Owner() {
		t.Error("two new keys are the same")
	}
	again, err := soc.KeyFromBytes(a.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if again.Owner() != a.Owner() || !bytes.Equal(again.PublicKey(), a.PublicKey()) {
		t.Errorf("key of the bytes of %v is %v", a, again)
	}
}

// TestKeyHandsOutCopies: nothing a caller does to what it was given changes the key.
func TestKeyHandsOutCopies(t *testing.T) {
	secret := pattern(32)
	key, err := soc.KeyFromBytes(secret)
	if err != nil {
		t.Fatal(err)
	}
	clear(secret)
	clear(key.Bytes())
	clear(key.PublicKey())
	equal(t, "secret", key.Bytes(), pattern(32))
	if got, err := soc.OwnerFromPublicKey(key.PublicKey()); err != nil || got != key.Owner() {
		t.Errorf("owner of the public key = %x, %v", got, err)
	}
}

func TestKeyPrintsNoSecret(t *testing.T) {
	key, err := soc.KeyFromBytes(pattern(32))
	if err != nil {
		t.Fatal(err)
	}
	secret := pattern(32)
	var texts []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		texts = append(texts, fmt.Sprintf(verb, key), fmt.Sprintf(verb, *key), fmt.Sprintf(verb, struct{ K *soc.Key }{key}))
	}
	asJSON, err := json.Marshal(struct{ K any }{key})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(texts, string(asJSON)) {
		low := strings.ToLower(text)
		if strings.Contains(low, hex.EncodeToString(secret[:4])) || strings.Contains(low, fmt.Sprint(secret[0], " ", secret[1])) {
			t.Errorf("the secret shows in %s", text)
		}
	}
}

func TestSignRefuses(t *testing.T) {
	key, err := soc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	var id soc.Hash
	for name, c := range map[string]soc.Chunk{
		"empty":        {Span: span64(0)},
		"too long":     {Span: span64(4097), Payload: pattern(4097)},
		"span 7":       {Span: span64(3)[:7], Payload: pattern(3)},
		"other length": {Span: span64(4), Payload: pattern(3)},
		"no segments":  {Span: span64(5000), Payload: pattern(33)},
		"zero segment": {Span: span64(5000), Payload: make([]byte, 64)},
	} {
		sig, err := key.Sign(&id, c.Span, c.Payload)
		if !errors.Is(err, soc.ErrNonCanonical) || sig != [65]byte{} {
			t.Errorf("%s: signature %x, error %v, want ErrNonCanonical", name, sig, err)
		}
	}
	var zero soc.Key
	if sig, err := zero.SignHash(&id); err == nil {
		t.Errorf("a zero key signs: %x", sig)
	}
}

// TestReplicaOwner signs with the public replica key: the id is bound to the
// content but for its first byte.
func TestReplicaOwner(t *testing.T) {
	key, err := soc.KeyFromBytes(append([]byte{1}, make([]byte, 31)...))
	if err != nil {
		t.Fatal(err)
	}
	payload, span := []byte("replica"), soc.Span(7)
	id := soc.CACAddress(span[:], payload)
	id[0] ^= 0xa5
	sig, err := key.Sign(&id, span[:], payload)
	if err != nil {
		t.Fatal(err)
	}
	owner := key.Owner()
	c := &soc.Chunk{ID: id[:], Owner: owner[:], Signature: sig[:], Span: span[:], Payload: payload}
	if _, err := soc.Verify(c); err != nil {
		t.Error(err)
	}
	for i := 1; i < len(id); i++ {
		other := id
		other[i] ^= 1
		if _, err := key.Sign(&other, span[:], payload); !errors.Is(err, soc.ErrNonCanonical) {
			t.Errorf("byte %d of the id: error %v, want ErrNonCanonical", i, err)
		}
	}
}

func TestSignHash(t *testing.T) {
	key, err := soc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	hash := soc.Keccak256([]byte("proof"))
	sig, err := key.SignHash(&hash)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := soc.RecoverOwner(&hash, sig[:]); err != nil || got != key.Owner() {
		t.Errorf("recovered %x, %v; want %x", got, err, key.Owner())
	}
	other := soc.Keccak256([]byte("another"))
	if got, err := soc.RecoverOwner(&other, sig[:]); err == nil && got == key.Owner() {
		t.Error("the signature holds for another hash")
	}
	for _, bad := range [][]byte{nil, sig[:64], append(sig[:], 0)} {
		if _, err := soc.RecoverOwner(&hash, bad); !errors.Is(err, soc.ErrNonCanonical) {
			t.Errorf("%d bytes: error %v, want ErrNonCanonical", len(bad), err)
		}
	}
	var nobody [65]byte
	nobody[64] = 27
	if _, err := soc.RecoverOwner(&hash, nobody[:]); !errors.Is(err, soc.ErrForged) {
		t.Errorf("r = s = 0: error %v, want ErrForged", err)
	}
}
