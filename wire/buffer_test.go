package wire_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"treecast/wire"
)

func TestPoolFrame(t *testing.T) {
	p := wire.NewPool()
	// The edges of the prefix's length and of the size classes.
	for _, n := range []int{
		1, 127, 128, 254, 255, 256, 1022, 1023, 1024, 4217, 4862, 4863, 4864,
		wire.MaxMessage - 1, wire.MaxMessage,
	} {
		msg := bytes.Repeat([]byte{byte(n)}, n)
		frame := wire.AppendFrame(nil, msg)
		b := p.Frame(msg)
		clear(msg) // the buffer has a copy
		if !bytes.Equal(b.Frame(), frame) || !bytes.Equal(b.Msg(), frame[len(frame)-n:]) {
			t.Errorf("message of %d bytes came back differently", n)
		}
		if cap(b.Msg()) != len(b.Msg()) || cap(b.Frame()) != len(b.Frame()) {
			t.Errorf("message of %d bytes: an append would write into the buffer", n)
		}
		b.Release()
	}
	for _, n := range []int{0, wire.MaxMessage + 1} {
		mustPanic(t, fmt.Sprintf("message of %d bytes", n), func() { p.Frame(make([]byte, n)) })
	}
	if n := p.InUse(); n != 0 {
		t.Errorf("%d buffers in use", n)
	}
}

func TestPoolSoc(t *testing.T) {
	p := wire.NewPool()
	x := chunk()
	for n := range len(x.Payload) + 1 { // every length of the prefixes
		short := *x
		short.Payload = x.Payload[:n]
		short.HasIndex = n%2 == 0
		b := p.Soc(&short)
		if want := wire.AppendFrame(nil, wire.AppendSoc(nil, &short)); !bytes.Equal(b.Frame(), want) {
			t.Fatalf("chunk of %d bytes: frame %x, want %x", n, b.Frame(), want)
		}
		b.Release()
	}
	mustPanic(t, "chunk longer than a frame", func() { p.Soc(&wire.Soc{Payload: make([]byte, wire.MaxMessage)}) })
	if n := p.InUse(); n != 0 {
		t.Errorf("%d buffers in use", n)
	}
}

func TestBufReferences(t *testing.T) {
	p := wire.NewPool()
	b := p.Frame([]byte("x"))
	c := p.Frame([]byte("y"))
	if b.Retain() != b {
		t.Error("Retain returned another buffer")
	}
	for i, want := range []int64{2, 1} {
		b.Release()
		if got := p.InUse(); got != want {
			t.Errorf("after release %d: %d in use, want %d", i+1, got, want)
		}
	}
	mustPanic(t, "over-release", b.Release)
	c.Release()
	mustPanic(t, "retain after the last release", func() { c.Retain() })
	if n := p.InUse(); n != 0 {
		t.Errorf("%d buffers in use", n)
	}
}

// Many holders read one buffer and drop it in any order; none sees it change.
func TestBufShared(t *testing.T) {
	p := wire.NewPool()
	const writers, frames, children = 4, 50, 16
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			msg := bytes.Repeat([]byte{byte(w)}, 300)
			for range frames {
				b := p.Frame(msg)
				for range children {
					b.Retain()
					wg.Go(func() {
						if !bytes.Equal(b.Msg(), msg) {
							t.Error("buffer changed while held")
						}
						b.Release()
					})
				}
				b.Release()
			}
		})
	}
	wg.Wait()
	if n := p.InUse(); n != 0 {
		t.Errorf("%d buffers in use", n)
	}
}

func TestPoolReuses(t *testing.T) {
	p := wire.NewPool()
	msg := make([]byte, 4217)
	if n := testing.AllocsPerRun(200, func() { p.Frame(msg).Release() }); n > 0 {
		t.Errorf("%v allocations a frame", n)
	}
	x := chunk()
	if n := testing.AllocsPerRun(200, func() { p.Soc(x).Release() }); n > 0 {
		t.Errorf("%v allocations a chunk", n)
	}
}
