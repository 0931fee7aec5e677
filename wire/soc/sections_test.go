package soc_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"treecast/wire/soc"
)

func testCAC(t *testing.T, ran tally, set *vectorSet) {
	for _, v := range set.CAC {
		ran.run(t, "cac", v.Name, func(t *testing.T) {
			got := soc.CACAddress(v.Span, v.Payload)
			equal(t, "address", got[:], v.Address)
			for width, bmt := range soc.BMTWidths {
				root := bmt(v.Payload)
				got := soc.Keccak256(v.Span, root[:])
				equal(t, fmt.Sprintf("address by %d", width), got[:], v.Address)
			}
		})
	}
}

func testSOC(t *testing.T, ran tally, set *vectorSet) {
	for _, v := range set.SOC {
		ran.run(t, "soc", v.Name, func(t *testing.T) {
			id, owner := soc.Hash(v.ID), soc.Owner(v.Owner)
			address := soc.Address(&id, &owner)
			equal(t, "address", address[:], v.Address)
			cac := soc.CACAddress(v.Span, v.Payload)
			equal(t, "cac address", cac[:], v.CACAddress)
			toSign := soc.SignedHash(&id, &cac)
			equal(t, "to_sign", toSign[:], v.ToSign)
			digest := soc.PersonalDigest(&toSign)
			equal(t, "digest", digest[:], v.Digest)

			key, err := soc.KeyFromBytes(v.PrivateKey)
			if err != nil {
				t.Fatal(err)
			}
			gotOwner := key.Owner()
			equal(t, "owner of the key", gotOwner[:], v.Owner)
			equal(t, "bytes of the key", key.Bytes(), v.PrivateKey)
			sig, err := key.Sign(&id, v.Span, v.Payload)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "signature", sig[:], v.RFC6979)

			for _, sig := range [][]byte{v.Signature, v.RFC6979} {
				got, err := soc.Verify(v.chunk(sig))
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "verified cac address", got[:], v.CACAddress)
				signer, err := soc.RecoverOwner(&toSign, sig)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "recovered owner", signer[:], v.Owner)
			}
			data := bytes.Join([][]byte{v.ID, v.Signature, v.Span, v.Payload}, nil)
			equal(t, "data", data, v.Data)
		})
	}
}

func testFeed(t *testing.T, ran tally, set *vectorSet) {
	for _, v := range set.Feed {
		ran.run(t, "feed", fmt.Sprintf("%s/%d", v.TopicName, v.Index), func(t *testing.T) {
			id := soc.FeedID(v.Topic, v.Index)
			equal(t, "id", id[:], v.ID)
			byHand := soc.Keccak256(v.Topic, v.IndexBytes)
			equal(t, "id of index bytes", byHand[:], v.ID)
			owner := soc.Owner(v.Owner)
			address := soc.Address(&id, &owner)
			equal(t, "address", address[:], v.Address)
		})
	}
}

func testOverlay(t *testing.T, ran tally, set *vectorSet) {
	for _, v := range set.Overlay {
		ran.run(t, "overlay", fmt.Sprintf("%s/%d/%x", v.Key, v.NetworkID, v.Nonce[:4]), func(t *testing.T) {
			key, err := soc.KeyFromBytes(v.PrivateKey)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "public key", key.PublicKey(), v.PublicKey)
			owner, err := soc.OwnerFromPublicKey(v.PublicKey)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "address of the public key", owner[:], v.EthAddress)
			if owner != key.Owner() {
				t.Errorf("owner of the key = %x, want %x", key.Owner(), owner)
			}
			overlay := soc.Overlay(owner, v.NetworkID, soc.Hash(v.Nonce))
			equal(t, "overlay", overlay[:], v.Overlay)
		})
	}
}

// forged are the invalid vectors whose form is right and whose signature is
// not the claimed owner's.
var forged = names(
	"sig-r-bit-flip-off-curve", "sig-r-bit-flip-on-curve", "sig-s-bit-flip",
	"sig-s-top-bit-flip", "sig-v-flipped",
	"sig-r-zero", "sig-s-zero", "sig-r-is-order",
	"sig-no-eip191-prefix", "sig-prefix-over-64-bytes", "sig-over-swapped-order", "sig-over-plain-payload-hash",
	"wrong-owner-address", "signed-by-other-key", "wrong-id-in-data", "wrong-id-in-data-and-address",
	"payload-first-bit-flip", "payload-last-bit-flip",
)

// misplaced are the invalid vectors where the chunk is right and only the
// address that it is presented under is not its own.
var misplaced = names("address-is-cac-address", "address-owner-first", "address-bit-flip")

// testInvalid claims, for each chunk, the owner that its address was made for.
// What is neither forged nor misplaced has a form that is refused.
func testInvalid(t *testing.T, ran tally, set *vectorSet) {
	owners := knownOwners(set)
	for _, v := range set.Invalid {
		ran.run(t, "invalid", v.Name, func(t *testing.T) {
			owner, ok := addressee(owners, &v)
			if !ok {
				owner = soc.Owner(set.SOC[len(set.SOC)-1].Owner)
			}
			cac, err := soc.Verify(v.chunk(owner[:]))
			switch {
			case misplaced[v.Name]:
				if err != nil {
					t.Fatalf("the chunk in itself is valid: %v", err)
				}
				id := soc.Hash(v.Data[:soc.IDSize])
				if got := soc.Address(&id, &owner); bytes.Equal(got[:], v.Address) {
					t.Errorf("the address %x is the chunk's", got)
				}
				return
			case forged[v.Name]:
				if !errors.Is(err, soc.ErrForged) {
					t.Errorf("error %v, want ErrForged", err)
				}
			default:
				if !errors.Is(err, soc.ErrNonCanonical) {
					t.Errorf("error %v, want ErrNonCanonical", err)
				}
			}
			if cac != (soc.Hash{}) {
				t.Errorf("cac address %x beside an error", cac)
			}
			// The forms that need no hash are refused without one.
			wantForm := !forged[v.Name] && v.Stage != "replica-rule"
			if err := soc.CheckCanonical(v.chunk(owner[:])); (err != nil) != wantForm {
				t.Errorf("CheckCanonical = %v", err)
			}
		})
	}
}

// accepted are the edge vectors that are the one encoding of their chunk.
var accepted = names("replica-owner-good-id")

func testEdge(t *testing.T, ran tally, set *vectorSet) {
	for _, v := range set.Edge {
		ran.run(t, "edge", v.Name, func(t *testing.T) {
			id, owner := soc.Hash(v.Data[:soc.IDSize]), soc.Owner(v.RecoveredOwner)
			address := soc.Address(&id, &owner)
			equal(t, "address", address[:], v.Address)
			_, err := soc.Verify(v.chunk(owner[:]))
			if accepted[v.Name] {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if !errors.Is(err, soc.ErrNonCanonical) {
				t.Errorf("error %v, want ErrNonCanonical", err)
			}
		})
	}
}

func names(list ...string) map[string]bool {
	m := make(map[string]bool)
	for _, n := range list {
		m[n] = true
	}
	return m
}

// knownOwners are all owners that the vectors tell.
func knownOwners(set *vectorSet) map[soc.Owner]bool {
	m := make(map[soc.Owner]bool)
	for _, v := range set.SOC {
		m[soc.Owner(v.Owner)] = true
	}
	for _, v := range set.Invalid {
		if len(v.RecoveredOwner) > 0 {
			m[soc.Owner(v.RecoveredOwner)] = true
		}
	}
	return m
}

// addressee is the known owner for whom the vector's address was made, if any:
// an address fits one owner only.
func addressee(owners map[soc.Owner]bool, v *caseVector) (soc.Owner, bool) {
	if len(v.Data) < soc.IDSize {
		return soc.Owner{}, false
	}
	id := soc.Hash(v.Data[:soc.IDSize])
	for owner := range owners {
		if address := soc.Address(&id, &owner); bytes.Equal(address[:], v.Address) {
			return owner, true
		}
	}
	return soc.Owner{}, false
}

func TestNamesOfCases(t *testing.T) {
	set := loadVectors(t)
	all := make(map[string]bool)
	for _, v := range append(set.Invalid, set.Edge...) {
		all[v.Name] = true
	}
	for _, list := range []map[string]bool{forged, misplaced, accepted} {
		for name := range list {
			if !all[name] {
				t.Errorf("no vector %s", name)
			}
		}
	}
}
