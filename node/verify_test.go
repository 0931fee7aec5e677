package node

import (
	"math/rand/v2"
	"testing"

	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// checked makes a chunk of index; a forged one has another's signature, one that
// is not canonical a long span.
func checked(t testing.TB, pool *wire.Pool, key *soc.Key, index uint64, verdict tree.Verdict) check {
	t.Helper()
	payload := []byte("payload")
	id, span := soc.FeedID(make([]byte, 32), index), soc.Span(len(payload))
	signer := key
	if verdict == tree.VerdictForged {
		var err error
		if signer, err = soc.NewKey(); err != nil {
			t.Fatal(err)
		}
	}
	sig, err := signer.Sign(&id, span[:], payload)
	if err != nil {
		t.Fatal(err)
	}
	if verdict == tree.VerdictNonCanonical {
		span[0]++
	}
	owner := key.Owner()
	buf := pool.Frame(wire.AppendSoc(nil, &wire.Soc{ID: id[:], Owner: owner[:], Signature: sig[:], Span: span[:], Payload: payload}))
	var msg wire.Broadcast
	if err := msg.Parse(buf.Msg()); err != nil {
		t.Fatal(err)
	}
	return check{chunk: tree.ChunkID(index), buf: buf, soc: msg.Soc, id: id}
}

// TestVerdictsInOrder has several verifiers answer in the order of the questions,
// whatever each takes.
func TestVerdictsInOrder(t *testing.T) {
	key, err := soc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	pool := wire.NewPool()
	v := newVerifier(4, newOwners(2, new(counters)))
	ready := make(chan struct{}, 1)
	list := &checkList{wake: func() {
		select {
		case ready <- struct{}{}:
		default:
		}
	}}
	const count = 400
	want := make([]tree.Verdict, 0, count)
	rng := rand.New(rand.NewPCG(1, 2))
	for len(want) < count {
		j := checkJobs.Get().(*checkJob)
		j.owner = list
		for range 1 + rng.IntN(checkBatch) {
			verdict := tree.Verdict(rng.IntN(3))
			j.checks[j.n] = checked(t, pool, key, uint64(len(want)), verdict)
			j.n++
			want = append(want, verdict)
		}
		v.submit(j)
	}
	next := 0
	for next < len(want) {
		<-ready
		for _, j := range list.take(nil) {
			for i := range j.n {
				k := &j.checks[i]
				if k.chunk != tree.ChunkID(next) || k.verdict != want[next] || (k.cac == [32]byte{}) != (k.verdict != tree.VerdictValid) {
					t.Fatalf("answer %d is for chunk %d: verdict %d, want %d", next, k.chunk, k.verdict, want[next])
				}
				next++
			}
			j.free()
		}
	}
	v.close()
	if n := pool.InUse(); n != 0 {
		t.Errorf("%d buffers in use", n)
	}
}

// TestVerifierClose finishes what a closed cohort asked and keeps nothing.
func TestVerifierClose(t *testing.T) {
	key, err := soc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	pool := wire.NewPool()
	v := newVerifier(1, newOwners(2, new(counters)))
	list := &checkList{wake: func() {}}
	for i := range 20 {
		j := checkJobs.Get().(*checkJob)
		j.owner, j.n = list, 1
		j.checks[0] = checked(t, pool, key, uint64(i), tree.VerdictValid)
		v.submit(j)
		if i == 10 {
			list.close()
		}
	}
	v.close()
	if n := pool.InUse(); n != 0 {
		t.Errorf("%d buffers in use", n)
	}
}
