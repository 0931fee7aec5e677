package node

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"treecast/wire/soc"
)

// valid checks the invariants of owners.
func (o *owners) valid(t *testing.T) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := provingPerKey * o.most; len(o.keys) > o.most || len(o.proving) > n || len(o.older) > n {
		t.Fatalf("%d keys of %d, %d and %d owners counted", len(o.keys), o.most, len(o.proving), len(o.older))
	}
	for owner, u := range o.keys {
		if o.proving[owner]+o.older[owner] > 0 || u.key.Owner() != owner {
			t.Fatalf("owner %x is counted as well, or has the key of another", owner)
		}
	}
	for owner := range o.proving {
		if o.proving[owner] < 1 || o.older[owner] > 0 {
			t.Fatalf("owner %x is counted with %d and %d chunks", owner, o.proving[owner], o.older[owner])
		}
	}
}

func (o *owners) has(key *soc.Key) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.keys[key.Owner()] != nil
}

func freshKey(t testing.TB) *soc.Key {
	t.Helper()
	key, err := soc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// signedCheck is a chunk of an owner, signed by another key if that is given.
func signedCheck(t testing.TB, key *soc.Key, index uint64, signer *soc.Key) soc.Check {
	t.Helper()
	if signer == nil {
		signer = key
	}
	payload := []byte("payload")
	id, span, owner := soc.FeedID(make([]byte, 32), index), soc.Span(len(payload)), key.Owner()
	sig, err := signer.Sign(&id, span[:], payload)
	if err != nil {
		t.Fatal(err)
	}
	return soc.Check{Chunk: soc.Chunk{ID: id[:], Owner: owner[:], Signature: sig[:], Span: span[:], Payload: payload}}
}

// show has an owner's chunk verified, n times, and says whether the last time its
// key was known.
func (o *owners) show(t *testing.T, key *soc.Key, n int) (known bool) {
	t.Helper()
	c := signedCheck(t, key, 0, nil)
	for range n {
		batch := []soc.Check{c}
		if o.verify(batch); batch[0].Err != nil {
			t.Fatal(batch[0].Err)
		}
		known = batch[0].Key != nil
		o.valid(t)
	}
	return known
}

// TestOwnersProof: an owner gets a table after so many valid chunks, not before.
func TestOwnersProof(t *testing.T) {
	o, key := newOwners(2, new(counters)), freshKey(t)
	if o.show(t, key, ownerProof-1) || o.has(key) {
		t.Fatal("a key before its time")
	}
	if o.show(t, key, 1) || !o.has(key) {
		t.Fatal("no key in time")
	}
	if !o.show(t, key, 1) {
		t.Error("the key is not used")
	}
}

// TestOwnersOneTable: while one verifier makes the table others go on counting,
// and none of them makes it too; nor does it matter what is counted meanwhile.
func TestOwnersOneTable(t *testing.T) {
	o, key := newOwners(1, new(counters)), freshKey(t)
	told := 0
	for range ownerProof + 5 {
		if o.proved(key.Owner()) {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times to make the table", told)
	}
	for range provingPerKey { // into the older generation with it
		o.show(t, freshKey(t), 1)
	}
	made, err := soc.NewOwnerKey(key.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	o.keep(made)
	o.valid(t)
	if o.proved(key.Owner()) || !o.show(t, key, 1) {
		t.Error("the table is not used")
	}
}

// TestOwnersProofOfBatches: chunks count one by one, whatever batches they come
// in, and forged ones do not count.
func TestOwnersProofOfBatches(t *testing.T) {
	o, key, forger := newOwners(1, new(counters)), freshKey(t), freshKey(t)
	for n := 0; n < ownerProof; n += 4 {
		if o.has(key) {
			t.Fatalf("a key after %d chunks", n)
		}
		var batch []soc.Check
		for i := range checkBatch {
			var signer *soc.Key
			if i%2 == 1 {
				signer = forger
			}
			batch = append(batch, signedCheck(t, key, uint64(i), signer))
		}
		o.verify(batch)
		for i := range batch {
			if errors.Is(batch[i].Err, soc.ErrForged) != (i%2 == 1) {
				t.Fatalf("check %d: %v", i, batch[i].Err)
			}
		}
		o.valid(t)
	}
	if !o.has(key) {
		t.Error("no key")
	}
	forged := []soc.Check{signedCheck(t, key, 1, forger)}
	if o.verify(forged); !errors.Is(forged[0].Err, soc.ErrForged) || forged[0].Key == nil {
		t.Errorf("with the key known: %v", forged[0].Err)
	}
}

// TestOwnersMakeRoom: at the bound the owner goes that was not seen for the
// longest time, and it can come back.
func TestOwnersMakeRoom(t *testing.T) {
	c := new(counters)
	o := newOwners(2, c)
	first, second, third := freshKey(t), freshKey(t), freshKey(t)
	o.show(t, first, ownerProof)
	o.show(t, second, ownerProof)
	o.show(t, first, 1)
	o.show(t, third, ownerProof)
	if !o.has(first) || o.has(second) || !o.has(third) {
		t.Errorf("keys of the first %v, the second %v, the third %v", o.has(first), o.has(second), o.has(third))
	}
	o.show(t, second, ownerProof)
	if o.has(first) || !o.has(second) || !o.has(third) {
		t.Errorf("then keys of the first %v, the second %v, the third %v", o.has(first), o.has(second), o.has(third))
	}
	if made, dropped := c[countOwnerKeys].Load(), c[countOwnerKeysDropped].Load(); made != 4 || dropped != 2 {
		t.Errorf("%d keys counted, %d dropped", made, dropped)
	}
}

// TestOwnersOfOneChunk: owners that come once get no table, take no more than
// their bound, and do not keep an owner from its table that comes among them.
func TestOwnersOfOneChunk(t *testing.T) {
	c := new(counters)
	o, key, full := newOwners(2, c), freshKey(t), false
	for i := range ownerProof {
		if i%4 == 0 {
			for range provingPerKey * o.most {
				o.show(t, freshKey(t), 1)
			}
		}
		full = full || len(o.proving) == provingPerKey*o.most && len(o.older) > 0
		o.show(t, key, 1)
	}
	if !full {
		t.Error("the bound was not reached")
	}
	if !o.has(key) || c[countOwnerKeys].Load() != 1 {
		t.Errorf("key %v, %d made", o.has(key), c[countOwnerKeys].Load())
	}
}

// TestOwnersForgotten: an owner that was not seen while a whole generation of
// others was starts again.
func TestOwnersForgotten(t *testing.T) {
	o, key := newOwners(1, new(counters)), freshKey(t)
	o.show(t, key, ownerProof-1)
	for range 2 * provingPerKey {
		o.show(t, freshKey(t), 1)
	}
	o.show(t, key, ownerProof-1)
	if o.has(key) {
		t.Error("chunks from before still count")
	}
	if o.show(t, key, 1); !o.has(key) {
		t.Error("no key")
	}
}

// TestOwnersOff: no tables at all.
func TestOwnersOff(t *testing.T) {
	o, key := newOwners(-1, new(counters)), freshKey(t)
	if o.show(t, key, ownerProof+1) || len(o.keys)+len(o.proving)+len(o.older) > 0 {
		t.Error("it keeps something")
	}
}

// TestOwnersForm: what is no chunk is refused and looked up nowhere.
func TestOwnersForm(t *testing.T) {
	o, key := newOwners(1, new(counters)), freshKey(t)
	o.show(t, key, ownerProof)
	short := signedCheck(t, key, 1, nil)
	short.Chunk.Owner = short.Chunk.Owner[:19]
	batch := []soc.Check{short, {}, signedCheck(t, key, 2, nil)}
	o.verify(batch)
	for i, bad := range []bool{true, true, false} {
		if errors.Is(batch[i].Err, soc.ErrNonCanonical) != bad {
			t.Errorf("check %d: %v", i, batch[i].Err)
		}
	}
}

// TestOwnersConcurrently has several verifiers with more owners than there is room
// for, among them forged chunks.
func TestOwnersConcurrently(t *testing.T) {
	c := new(counters)
	o, forger := newOwners(2, c), freshKey(t)
	var all []soc.Check
	for range 4 {
		key := freshKey(t)
		for i := range uint64(4) {
			var signer *soc.Key
			if i == 3 {
				signer = forger
			}
			all = append(all, signedCheck(t, key, i, signer))
		}
	}
	var wg sync.WaitGroup
	for worker := range uint64(4) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(worker, 0))
			for round := range 90 {
				var batch [checkBatch]soc.Check
				var from [checkBatch]int
				for i := range batch {
					// Two owners at a time, so that they come to a table and lose it.
					from[i] = (round/30*4 + rng.IntN(8)) % len(all)
					batch[i] = all[from[i]]
				}
				o.verify(batch[:])
				for i := range batch {
					if forged := from[i]%4 == 3; errors.Is(batch[i].Err, soc.ErrForged) != forged || (batch[i].Err == nil) == forged {
						t.Errorf("chunk %d: %v", from[i], batch[i].Err)
					}
				}
			}
		})
	}
	wg.Wait()
	o.valid(t)
	if made, dropped := c[countOwnerKeys].Load(), c[countOwnerKeysDropped].Load(); made < 3 || dropped == 0 || made-dropped > 2 {
		t.Errorf("%d keys made, %d dropped", made, dropped)
	}
}

// TestConfigOwnerKeys: zero is the default, negative stands for none.
func TestConfigOwnerKeys(t *testing.T) {
	for given, want := range map[int]int{0: 64, -1: -1, 7: 7} {
		cfg, err := Config{Limits: Limits{OwnerKeys: given}}.withDefaults()
		if err != nil || cfg.Limits.OwnerKeys != want {
			t.Errorf("%d becomes %d, %v, want %d", given, cfg.Limits.OwnerKeys, err, want)
		}
	}
}
