package soc_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"treecast/wire/soc"
)

// mustAnswerAsVerify checks chunks in a batch, with the keys that they come with,
// and holds each answer against Verify's, to the text of the errors. It returns
// how many are valid.
func mustAnswerAsVerify(t testing.TB, checks []soc.Check) (valid int) {
	t.Helper()
	for i := range checks {
		// What an earlier batch left does not matter.
		checks[i].CAC, checks[i].Err = soc.Hash{1}, errors.New("left over")
	}
	soc.VerifyBatch(checks)
	for i := range checks {
		c := &checks[i]
		cac, err := soc.Verify(&c.Chunk)
		if c.CAC != cac || !sameError(c.Err, err) {
			t.Fatalf("check %d of %d: %x, %v, want %x, %v: %x", i, len(checks), c.CAC, c.Err, cac, err, c.Chunk)
		}
		known := c.Key != nil && bytes.Equal(c.Chunk.Owner, ownerOf(c.Key))
		if want := err == nil && !known; c.Recovered() != want || (c.NewKey() != nil) != want {
			t.Fatalf("check %d: recovered %v, want %v", i, c.Recovered(), want)
		}
		if err == nil {
			valid++
		}
	}
	return valid
}

func sameError(a, b error) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Error() == b.Error() && errors.Is(a, soc.ErrForged) == errors.Is(b, soc.ErrForged) &&
		errors.Is(a, soc.ErrNonCanonical) == errors.Is(b, soc.ErrNonCanonical)
}

func ownerOf(k *soc.OwnerKey) []byte {
	owner := k.Owner()
	return owner[:]
}

func ownerKey(tb testing.TB, key *soc.Key) *soc.OwnerKey {
	tb.Helper()
	k, err := soc.NewOwnerKey(key.PublicKey())
	if err != nil {
		tb.Fatal(err)
	}
	if k.Owner() != key.Owner() {
		tb.Fatalf("owner %x, want %x", k.Owner(), key.Owner())
	}
	return k
}

// TestBatchVectors takes every vector with a chunk in it, valid or not, with its
// owner's key, with none and with another's; each by itself and all together.
func TestBatchVectors(t *testing.T) {
	set := loadVectors(t)
	keys := make(map[soc.Owner]*soc.OwnerKey)
	for _, secret := range append([][]byte{append([]byte{1}, make([]byte, 31)...)}, secretsOf(set)...) {
		key, err := soc.KeyFromBytes(secret)
		if err != nil {
			t.Fatal(err)
		}
		if keys[key.Owner()] == nil {
			keys[key.Owner()] = ownerKey(t, key)
		}
	}
	var checks []soc.Check
	for _, v := range set.SOC {
		checks = append(checks, soc.Check{Chunk: *v.chunk(v.Signature)}, soc.Check{Chunk: *v.chunk(v.RFC6979)})
	}
	for _, v := range append(set.Invalid, set.Edge...) {
		for owner := range keys {
			checks = append(checks, soc.Check{Chunk: *v.chunk(owner[:])})
		}
	}
	other, err := soc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	wrong := ownerKey(t, other)
	valid := 0
	for _, pick := range []func(owner []byte) *soc.OwnerKey{
		func(owner []byte) *soc.OwnerKey { return keys[soc.Owner(owner)] },
		func([]byte) *soc.OwnerKey { return nil },
		func([]byte) *soc.OwnerKey { return wrong },
	} {
		for i := range checks {
			checks[i].Key = pick(checks[i].Chunk.Owner)
			mustAnswerAsVerify(t, checks[i:i+1])
		}
		valid += mustAnswerAsVerify(t, checks)
	}
	if want := 3 * 2 * len(set.SOC); valid < want {
		t.Errorf("%d valid, want %d at least", valid, want)
	}
}

func secretsOf(set *vectorSet) (list [][]byte) {
	for _, v := range set.SOC {
		list = append(list, v.PrivateKey)
	}
	return list
}

// signedBatch is n valid chunks of the owners' in turn, with their keys.
func signedBatch(tb testing.TB, n, size int, keys ...*soc.Key) (checks []soc.Check) {
	tb.Helper()
	known := make([]*soc.OwnerKey, len(keys))
	for i, key := range keys {
		known[i] = ownerKey(tb, key)
	}
	for i := range n {
		key := keys[i%len(keys)]
		payload := pattern(size)
		id, span, owner := soc.FeedID(make([]byte, 32), uint64(i)), soc.Span(size), key.Owner()
		sig, err := key.Sign(&id, span[:], payload)
		if err != nil {
			tb.Fatal(err)
		}
		checks = append(checks, soc.Check{
			Chunk: soc.Chunk{ID: id[:], Owner: owner[:], Signature: sig[:], Span: span[:], Payload: payload},
			Key:   known[i%len(known)],
		})
	}
	return checks
}

func newKeys(tb testing.TB, n int) (keys []*soc.Key) {
	tb.Helper()
	for range n {
		key, err := soc.NewKey()
		if err != nil {
			tb.Fatal(err)
		}
		keys = append(keys, key)
	}
	return keys
}

// TestBatchBroken breaks chunks at random between good ones: bits of any part, and
// r, s and v with the values at which something changes.
func TestBatchBroken(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	keys := newKeys(t, 3)
	n, p := secp256k1.Params().N, secp256k1.Params().P
	edges := [][32]byte{{}, {31: 1}, {31: 2}, soc.HalfOrder}
	for _, b := range []*[32]byte{(*[32]byte)(n.Bytes()), (*[32]byte)(p.Bytes())} {
		less, more := *b, *b
		less[31]--
		more[31]++
		edges = append(edges, less, *b, more)
	}
	over := soc.HalfOrder
	over[31]++
	edges = append(edges, over, [32]byte(bytes.Repeat([]byte{0xff}, 32)))

	for range 25 {
		checks := signedBatch(t, 1+rng.IntN(20), 1+rng.IntN(70), keys...)
		broken := 0
		for i := range checks {
			c := &checks[i].Chunk
			part := [][]byte{c.ID, c.Signature, c.Span, c.Payload}[rng.IntN(4)]
			switch rng.IntN(6) {
			case 0:
				part[rng.IntN(len(part))] ^= 1 << rng.IntN(8)
			case 1:
				c.Signature[64] ^= 27 ^ 28
			case 2:
				copy(c.Signature[32*rng.IntN(2):], edges[rng.IntN(len(edges))][:])
			case 3:
				checks[i].Key = checks[rng.IntN(len(checks))].Key
				continue
			default:
				continue
			}
			broken++
		}
		if valid := mustAnswerAsVerify(t, checks); valid != len(checks)-broken {
			t.Fatalf("%d valid of %d, %d broken", valid, len(checks), broken)
		}
	}
}

// TestBatchClaimedOwner: a chunk of one owner with the signature and the key of
// another is forged, though the key confirms the signature.
func TestBatchClaimedOwner(t *testing.T) {
	checks := signedBatch(t, 10, 30, newKeys(t, 2)...)
	checks[4].Chunk.Owner = checks[5].Chunk.Owner
	if valid := mustAnswerAsVerify(t, checks); valid != 9 || !errors.Is(checks[4].Err, soc.ErrForged) {
		t.Errorf("%d valid, error %v", valid, checks[4].Err)
	}
}

// TestBatchNewKey: what a check recovered is the owner's key, and checks its other
// chunks.
func TestBatchNewKey(t *testing.T) {
	key := newKeys(t, 1)[0]
	checks := signedBatch(t, 5, 40, key)
	checks[0].Key = nil
	soc.VerifyBatch(checks)
	made := checks[0].NewKey()
	if !checks[0].Recovered() || made == nil || made.Owner() != key.Owner() {
		t.Fatalf("the key of %x: %v", key.Owner(), made)
	}
	for i := range checks {
		checks[i].Key = made
	}
	soc.VerifyBatch(checks)
	for i := range checks {
		if checks[i].Err != nil || checks[i].Recovered() || checks[i].NewKey() != nil {
			t.Errorf("check %d: error %v, recovered %v", i, checks[i].Err, checks[i].Recovered())
		}
	}
	soc.VerifyBatch(nil)
}

func TestNewOwnerKeyRefuses(t *testing.T) {
	public := newKeys(t, 1)[0].PublicKey()
	for name, b := range map[string][]byte{"nil": nil, "short": public[:32], "another tag": append([]byte{5}, public[1:]...)} {
		if k, err := soc.NewOwnerKey(b); err == nil || k != nil {
			t.Errorf("%s: %v, %v", name, k, err)
		}
	}
}

// TestBatchAllocations: with known keys a batch allocates nothing.
func TestBatchAllocations(t *testing.T) {
	checks := signedBatch(t, 8, 1000, newKeys(t, 3)...)
	n := count(func() {
		soc.VerifyBatch(checks)
		for i := range checks {
			if checks[i].Err != nil || checks[i].Recovered() {
				t.Fatalf("check %d: error %v, recovered %v", i, checks[i].Err, checks[i].Recovered())
			}
		}
	})
	if n != 0 {
		t.Errorf("a batch of %d allocates %v times", len(checks), n)
	}
}

// TestBatchConcurrently shares keys among batches.
func TestBatchConcurrently(t *testing.T) {
	keys := newKeys(t, 2)
	all := signedBatch(t, 16, 50, keys...)
	all[3].Chunk.Signature[64] ^= 27 ^ 28
	var wg sync.WaitGroup
	for range 4 {
		checks := append([]soc.Check(nil), all...)
		wg.Go(func() {
			for range 10 {
				soc.VerifyBatch(checks)
				for i := range checks {
					if (checks[i].Err == nil) != (i != 3) {
						t.Errorf("check %d: %v", i, checks[i].Err)
					}
				}
			}
		})
	}
	wg.Wait()
}

// FuzzVerifyBatch takes good chunks and changes one by the input: VerifyBatch and
// Verify always agree. Most inputs change the form, or nothing but the form, as
// recovery would take up nearly all of the time.
func FuzzVerifyBatch(f *testing.F) {
	key, err := soc.KeyFromBytes(append(make([]byte, 31), 2))
	if err != nil {
		f.Fatal(err)
	}
	good := signedBatch(f, 4, 33, key)
	for i := range 12 {
		f.Add(uint16(i), uint16(37*i), byte(1<<(i%8)), []byte{byte(i)})
	}
	f.Fuzz(func(t *testing.T, which, at uint16, flip byte, put []byte) {
		check := good[int(which)%len(good)]
		c := &check.Chunk
		sig := bytes.Clone(c.Signature)
		c.Signature = sig
		if which%16 < 4 { // a signature of the right form
			sig[int(at)%64] ^= flip
			copy(sig[int(at>>8)%64:64], put)
			sig[64] = 27 + byte(at>>15)
		} else {
			c.Span = bytes.Clone(c.Span)
			c.Span[int(at)%8] ^= flip | 1
			c.Payload = put
		}
		mustAnswerAsVerify(t, []soc.Check{check})
	})
}
