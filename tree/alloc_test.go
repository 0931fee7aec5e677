package tree_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// path is a relay with two parents and 16 children, and a feed that comes down
// from both: the steady state of a node in the middle of a tree. Events and the
// slice of actions are used again for each chunk, as a driver does.
type path struct {
	core  *tree.Cohort
	now   time.Time
	out   []tree.Action
	frame tree.Frame
	check tree.Verified
	id    [32]byte
	next  uint64
	topic wire.Topic
}

func newPath(t testing.TB) *path {
	a := parseArgs(nil)
	spec := parseSpec(&a)
	core, err := tree.New(tree.Config{Self: node("N"), Topic: spec.Topic, Rand: rand.New(rand.NewPCG(1, 2))})
	if err != nil {
		t.Fatal(err)
	}
	p := &path{core: core, now: scriptStart, topic: spec.Topic}
	found := []wire.Candidate{candidate("A:1:2"), candidate("B:1:2")}
	p.step(tree.Join{Entries: []wire.Overlay{node("E")}})
	p.step(&tree.Dialled{Dial: 1, Ack: &wire.Ack{Status: wire.StatusFull, HasBand: true, Band: 1, Candidates: found}})
	for i := range 2 {
		ack := &wire.Ack{Status: wire.StatusOK, HasBand: true, Band: 2, Spec: spec}
		p.step(&tree.Dialled{Dial: tree.DialID(2 + i), Ack: ack, Stream: tree.StreamID(1 + i)})
	}
	for i := range 16 {
		sub := &wire.Subscribe{Topic: spec.Topic, HasBand: true, Childless: true, Version: 1}
		p.step(&tree.SubscribeIn{Stream: tree.StreamID(10 + i), Peer: node(fmt.Sprint("C", i)), Msg: sub})
	}
	author, span := owner("o1"), make([]byte, 8)
	binary.LittleEndian.PutUint64(span, 4096)
	p.frame.Msg = &wire.Broadcast{Kind: wire.KindSoc, Soc: wire.Soc{
		ID: p.id[:], Owner: author[:], Signature: make([]byte, 65), Span: span, Payload: make([]byte, 4096), HasIndex: true,
	}}
	return p
}

func (p *path) step(ev tree.Event) { p.out = p.core.Step(p.now, ev, p.out[:0]) }

// chunk takes one chunk down the path: its first copy, the verdict, and the
// second copy from the other parent.
func (p *path) chunk(t testing.TB) {
	p.now = p.now.Add(time.Millisecond)
	p.id = soc.FeedID(p.topic[:], p.next)
	s := &p.frame.Msg.Soc
	s.Index = p.next
	p.next++
	p.frame.Stream, p.frame.Chunk = tree.StreamID(1+p.next%2), tree.ChunkID(2*p.next)
	p.step(&p.frame)
	if len(p.out) != 1 || p.out[0].Kind != tree.ActVerify {
		t.Fatalf("first copy of %d: %v", s.Index, p.out)
	}
	p.check.Chunk, p.check.CAC = p.frame.Chunk, p.id
	p.step(&p.check)
	if len(p.out) < 16+2 || p.out[15].Kind != tree.ActForward || p.out[16].Kind != tree.ActDeliver {
		t.Fatalf("verdict on %d: %d actions", s.Index, len(p.out))
	}
	p.frame.Stream, p.frame.Chunk = 3-p.frame.Stream, p.frame.Chunk+1
	p.step(&p.frame)
	if len(p.out) != 1 || p.out[0].Kind != tree.ActRelease {
		t.Fatalf("second copy of %d: %v", s.Index, p.out)
	}
}

// The data path allocates nothing once its memory has grown to its use
// (ARCHITECTURE, the core's shape).
func TestDataPathAllocates(t *testing.T) {
	p := newPath(t)
	for range 2 * tree.DefaultRecent {
		p.chunk(t)
	}
	if n := testing.AllocsPerRun(2000, func() { p.chunk(t) }); n != 0 && !raceEnabled {
		t.Errorf("%v allocations a chunk", n)
	}
}

// BenchmarkChunk is one chunk through a relay of 16 children, its second copy
// included, without the signature check.
func BenchmarkChunk(b *testing.B) {
	p := newPath(b)
	for range 2 * tree.DefaultRecent {
		p.chunk(b)
	}
	b.ReportAllocs()
	b.SetBytes(4096)
	for b.Loop() {
		p.chunk(b)
	}
}
