package wire_test

import (
	"bytes"
	"sync"
	"testing"

	"treecast/wire"
)

// TestSlab lays frames one behind the other until there is no room.
func TestSlab(t *testing.T) {
	s := wire.NewSlab()
	one, ok := s.Lay([]byte("one"))
	if !ok || string(one.Bytes()) != "one" || one.Start() != 0 || !one.Of(s) {
		t.Fatalf("%q at %d, %v", one.Bytes(), one.Start(), ok)
	}
	two, _ := s.Lay([]byte("two"))
	rest, ok := s.Lay(bytes.Repeat([]byte("x"), wire.SlabBytes-6))
	if !ok || rest.Start()+rest.Len() != wire.SlabBytes {
		t.Fatalf("%d bytes from %d on, %v", rest.Len(), rest.Start(), ok)
	}
	if _, ok := s.Lay([]byte("y")); ok {
		t.Error("a byte beyond the slab")
	}
	if got := s.Piece(2, 5).Bytes(); string(got) != "etw" || cap(got) != 3 {
		t.Errorf("%q, capacity %d", got, cap(got))
	}
	both := one
	if !both.Extend(two) || string(both.Bytes()) != "onetwo" || both.Len() != 6 {
		t.Errorf("%q", both.Bytes())
	}
	if both.Extend(two) || one.Extend(rest) {
		t.Error("a piece goes on with one that is not next to it")
	}
	other := wire.NewSlab()
	away, _ := other.Lay(bytes.Repeat([]byte("z"), 9))
	if both.Extend(other.Piece(6, 9)) || new(wire.Piece).Extend(away) {
		t.Error("a piece goes on in another slab")
	}
	s.Release()
	one.Release()
	two.Release()
	if string(rest.Retain().Bytes()[:2]) != "xx" {
		t.Error("the memory went before its last holder")
	}
	rest.Release()
	rest.Release()
	panics := func(misuse func()) (yes bool) {
		defer func() { yes = recover() != nil }()
		misuse()
		return false
	}
	if !panics(rest.Release) {
		t.Error("released without a reference: no panic")
	}
	if !panics(func() { rest.Retain() }) {
		t.Error("retained without a reference: no panic")
	}
}

// TestSlabIsShared: holders release while the owner goes on laying.
func TestSlabIsShared(t *testing.T) {
	frame := bytes.Repeat([]byte("f"), 1000)
	var wg sync.WaitGroup
	s := wire.NewSlab()
	for range 2000 {
		p, ok := s.Lay(frame)
		if !ok {
			s.Release()
			s = wire.NewSlab()
			p, _ = s.Lay(frame)
		}
		for range 2 {
			p.Retain()
			wg.Go(func() {
				defer p.Release()
				if !bytes.Equal(p.Bytes(), frame) {
					t.Error("a piece changed under its holder")
				}
			})
		}
		p.Release()
	}
	wg.Wait()
	if n := testing.AllocsPerRun(200, func() {
		p, ok := s.Lay(frame)
		if !ok {
			s.Release()
			s = wire.NewSlab()
			return
		}
		p.Release()
	}); n > 0 {
		t.Errorf("%v allocations a frame", n)
	}
}
