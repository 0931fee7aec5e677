package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"treecast/wire"
)

func TestParseLength(t *testing.T) {
	tests := []struct {
		in        []byte
		length, n int
		err       error
	}{
		{in: nil, err: wire.ErrShort},
		{in: []byte{0x00}, err: wire.ErrMalformed},
		{in: []byte{0x01}, length: 1, n: 1},
		{in: []byte{0x7f}, length: 127, n: 1},
		{in: []byte{0x80}, err: wire.ErrShort},
		{in: []byte{0x80, 0x00}, err: wire.ErrMalformed}, // 0, padded
		{in: []byte{0x81, 0x00}, err: wire.ErrMalformed}, // 1, padded
		{in: []byte{0x80, 0x01}, length: 128, n: 2},
		{in: []byte{0xff, 0x7f}, length: wire.MaxMessage - 1, n: 2},
		{in: []byte{0xff, 0xff}, err: wire.ErrShort},
		{in: []byte{0x80, 0x80, 0x01}, length: wire.MaxMessage, n: 3},
		{in: []byte{0x81, 0x80, 0x01}, err: wire.ErrMalformed}, // one too long
		{in: []byte{0x80, 0x80, 0x02}, err: wire.ErrMalformed},
		{in: []byte{0x80, 0x81, 0x00}, err: wire.ErrMalformed},       // 128, padded
		{in: []byte{0x80, 0x80, 0x80}, err: wire.ErrMalformed},       // a fourth byte is never right
		{in: []byte{0x80, 0x80, 0x81, 0x00}, err: wire.ErrMalformed}, // 16384, padded
		{in: bytes.Repeat([]byte{0xff}, 11), err: wire.ErrMalformed},
		{in: []byte{0x02, 0xaa, 0xbb, 0xcc}, length: 2, n: 1}, // what follows is not looked at
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%x", tt.in), func(t *testing.T) {
			length, n, err := wire.ParseLength(tt.in)
			if length != tt.length || n != tt.n || !errors.Is(err, tt.err) {
				t.Errorf("ParseLength(%x) = %d, %d, %v, want %d, %d, %v", tt.in, length, n, err, tt.length, tt.n, tt.err)
			}
		})
	}
}

// Each length there is has one prefix, each cut of it asks for more, and one
// more or less than the bounds has none.
func TestAppendFrameEveryLength(t *testing.T) {
	msg := make([]byte, wire.MaxMessage)
	var frame []byte
	for length := 1; length <= wire.MaxMessage; length++ {
		frame = wire.AppendFrame(frame[:0], msg[:length])
		got, n, err := wire.ParseLength(frame)
		if err != nil || got != length || n+length != len(frame) {
			t.Fatalf("length %d: got %d, prefix %d, frame %d, %v", length, got, n, len(frame), err)
		}
		for cut := range n {
			if _, _, err := wire.ParseLength(frame[:cut]); err != wire.ErrShort {
				t.Fatalf("length %d cut at %d: %v", length, cut, err)
			}
		}
	}
}

func TestAppendFrameKeepsDst(t *testing.T) {
	got := wire.AppendFrame([]byte("head"), []byte("msg"))
	if want := "head\x03msg"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAppendFramePanics(t *testing.T) {
	for _, n := range []int{0, wire.MaxMessage + 1} {
		mustPanic(t, fmt.Sprintf("message of %d bytes", n), func() { wire.AppendFrame(nil, make([]byte, n)) })
	}
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}
