package retain_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"treecast/node/retain"
	"treecast/wire"
)

var (
	alice, bob = wire.Owner{1}, wire.Owner{2}
	epoch      = time.Unix(1000, 0)
)

// message is the one of index: distinct bytes of a length that varies.
func message(index uint64) []byte {
	return bytes.Repeat([]byte(fmt.Sprintf("%d,", index)), 1+int(index*7)%40)
}

func newRing(t testing.TB, cfg retain.RingConfig) *retain.Ring {
	t.Helper()
	r, err := retain.NewRing(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// keep has the ring keep a message.
func keep(r *retain.Ring, now time.Time, owner wire.Owner, index uint64, msg []byte) {
	p := r.Lay(wire.AppendFrame(nil, msg))
	r.Add(now, owner, index, p, p.Len()-len(msg))
	p.Release()
}

// reader is what a Ring and a Log have in common for tests.
type reader func(owner wire.Owner, from, to uint64, p *retain.Page) (uint64, error)

func ringReader(r *retain.Ring) reader {
	return func(owner wire.Owner, from, to uint64, p *retain.Page) (uint64, error) {
		return r.Read(owner, from, to, p), nil
	}
}

// kept reads all of from..to, page by page, and checks every message.
func kept(t testing.TB, read reader, owner wire.Owner, from, to uint64) (indices []uint64) {
	t.Helper()
	p := retain.Page{Bytes: 500}
	for from <= to {
		next, err := read(owner, from, to, &p)
		if err != nil {
			t.Fatal(err)
		}
		if next <= from {
			t.Fatalf("read from %d looked no further than %d", from, next)
		}
		for _, c := range p.Chunks {
			if c.Index < from || c.Index >= next || !bytes.Equal(c.Msg, message(c.Index)) {
				t.Fatalf("index %d in %d..%d: %q", c.Index, from, next, c.Msg)
			}
			indices = append(indices, c.Index)
		}
		from = next
	}
	return indices
}

func TestRing(t *testing.T) {
	r := newRing(t, retain.RingConfig{})
	for _, i := range []uint64{5, 6, 9, 7, 6} {
		keep(r, epoch, alice, i, message(i))
	}
	keep(r, epoch, bob, 6, message(6))
	if got := fmt.Sprint(kept(t, ringReader(r), alice, 0, 100)); got != "[5 6 7 9]" {
		t.Error(got)
	}
	if got := fmt.Sprint(kept(t, ringReader(r), alice, 6, 8)); got != "[6 7]" {
		t.Error(got)
	}
	if got := fmt.Sprint(kept(t, ringReader(r), bob, 0, 100)); got != "[6]" {
		t.Error(got)
	}
	if got := kept(t, ringReader(r), wire.Owner{3}, 0, 100); got != nil {
		t.Error(got)
	}
}

// TestRingBounds fills rings beyond each of their bounds.
func TestRingBounds(t *testing.T) {
	const size = 1000
	msg := make([]byte, size)
	add := func(r *retain.Ring, n int, every time.Duration) (held int64, first uint64) {
		now := epoch
		for i := range n {
			keep(r, now, alice, uint64(i), msg)
			now = now.Add(every)
		}
		p := retain.Page{Bytes: 1}
		r.Read(alice, 0, uint64(n), &p)
		return r.Trim(now, 1<<40), p.Chunks[0].Index
	}
	const slack = 2 * 64 << 10
	held, first := add(newRing(t, retain.RingConfig{Min: 200 << 10, Max: 1 << 20}), 5000, time.Microsecond)
	if held > 1<<20+slack || first < 5000-1<<20/size-1 || first > 5000-1<<20/size+slack/size {
		t.Errorf("burst: %d bytes from %d on", held, first)
	}
	held, first = add(newRing(t, retain.RingConfig{Min: 200 << 10, Max: 1 << 20}), 5000, time.Second)
	if held > 200<<10+slack || first > 5000-200<<10/size {
		t.Errorf("trickle: %d bytes from %d on", held, first)
	}
	held, first = add(newRing(t, retain.RingConfig{Min: 1, Span: time.Second}), 5000, time.Millisecond)
	if first > 4000 || first < 4000-slack/size {
		t.Errorf("by age: %d bytes from %d on", held, first)
	}
	r := newRing(t, retain.RingConfig{Min: 1, Max: 1 << 20, Span: time.Second})
	add(r, 1000, 0)
	if held := r.Trim(epoch.Add(time.Minute), 1<<40); held != wire.SlabBytes {
		t.Errorf("%d bytes after a minute of silence", held)
	}
	r = newRing(t, retain.RingConfig{})
	add(r, 1000, 0)
	if held := r.Trim(epoch, 200<<10); held > 200<<10+slack {
		t.Errorf("%d bytes where memory is needed elsewhere", held)
	}
}

// TestLaidIsNotKept: what is laid and not added is sent and takes room, and nobody is
// given it; and what is added when its slab is gone is not kept.
func TestLaidIsNotKept(t *testing.T) {
	r := newRing(t, retain.RingConfig{Min: 1, Max: 200 << 10, Span: time.Second})
	first := r.Lay([]byte("first"))
	keep(r, epoch, alice, 1, message(1))
	for i := range uint64(1000) {
		r.Lay(make([]byte, 1000)).Release()
		keep(r, epoch, alice, 10+i, message(i+10))
	}
	if held := r.Trim(epoch, 1<<40); held > 200<<10+2*wire.SlabBytes {
		t.Errorf("%d bytes are held", held)
	}
	if string(first.Bytes()) != "first" {
		t.Error("a piece went with the ring's part of it")
	}
	r.Add(epoch, bob, 1, first, 0)
	first.Release()
	if got := kept(t, ringReader(r), bob, 0, 100); got != nil {
		t.Errorf("%v of a slab that is gone", got)
	}
	list := kept(t, ringReader(r), alice, 0, 2000)
	if n := len(list); n == 0 || list[0] == 1 || list[n-1] != 1009 {
		t.Errorf("kept %v", list)
	}
}

func TestRingReadWhileAdding(t *testing.T) {
	r := newRing(t, retain.RingConfig{Min: 100 << 10, Max: 200 << 10})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range uint64(20000) {
			keep(r, epoch, alice, i, message(i))
		}
	})
	for i := range uint64(50) {
		kept(t, ringReader(r), alice, 400*i, 400*i+399)
	}
	wg.Wait()
}

func TestRingConfig(t *testing.T) {
	for _, cfg := range []retain.RingConfig{{Span: -1}, {Min: -1}, {Max: -1}, {Min: 2, Max: 1}} {
		if _, err := retain.NewRing(cfg); err == nil {
			t.Errorf("%+v is taken", cfg)
		}
	}
}

func BenchmarkRingAdd(b *testing.B) {
	r := newRing(b, retain.RingConfig{Max: 16 << 20})
	msg := make([]byte, 4400)
	b.SetBytes(int64(len(msg)))
	b.ReportAllocs()
	for i := range b.N {
		keep(r, epoch, alice, uint64(i), msg)
	}
}
