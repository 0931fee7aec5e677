package wire_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"treecast/wire"
)

// frames returns messages of lengths around every bound, and their frames.
func frames() (msgs [][]byte, stream []byte) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 1, 2, 127, 128, 60, 4093, 4096, 4217, 4217, 5000, wire.MaxMessage - 1, wire.MaxMessage, 1} {
		msg := make([]byte, n)
		for i := range msg {
			msg[i] = byte(rng.Uint32())
		}
		msgs = append(msgs, msg)
		stream = wire.AppendFrame(stream, msg)
	}
	return msgs, stream
}

func TestReader(t *testing.T) {
	msgs, stream := frames()
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"whole":         func(r io.Reader) io.Reader { return r },
		"byte by byte":  iotest.OneByteReader,
		"halves":        iotest.HalfReader,
		"data with EOF": iotest.DataErrReader,
	} {
		t.Run(name, func(t *testing.T) {
			p := wire.NewPool()
			r := wire.NewReader(wrap(bytes.NewReader(stream)), p)
			for i, msg := range msgs {
				b, err := r.Next()
				if err != nil {
					t.Fatalf("frame %d: %v", i, err)
				}
				if !bytes.Equal(b.Msg(), msg) || !bytes.Equal(b.Frame(), wire.AppendFrame(nil, msg)) {
					t.Fatalf("frame %d came back differently", i)
				}
				b.Release()
			}
			for range 2 {
				if _, err := r.Next(); err != io.EOF {
					t.Errorf("at the end: %v", err)
				}
			}
			if n := p.InUse(); n != 0 {
				t.Errorf("%d buffers in use", n)
			}
		})
	}
}

// Cut anywhere, a stream of frames ends with the error of the place.
func TestReaderEveryPrefix(t *testing.T) {
	var stream []byte
	ends := map[int]bool{0: true}
	for _, n := range []int{1, 130, 3} {
		stream = wire.AppendFrame(stream, make([]byte, n))
		ends[len(stream)] = true
	}
	p := wire.NewPool()
	for cut := range len(stream) + 1 {
		r := wire.NewReader(bytes.NewReader(stream[:cut]), p)
		var err error
		for err == nil {
			var b *wire.Buf
			if b, err = r.Next(); err == nil {
				b.Release()
			}
		}
		want := io.ErrUnexpectedEOF
		if ends[cut] {
			want = io.EOF
		}
		if err != want {
			t.Errorf("cut at %d: %v, want %v", cut, err, want)
		}
	}
	if n := p.InUse(); n != 0 {
		t.Errorf("%d buffers in use", n)
	}
}

func TestReaderMalformed(t *testing.T) {
	for _, in := range [][]byte{
		{0}, {0x81, 0}, {0x81, 0x80, 1}, {0x80, 0x80, 0x80}, bytes.Repeat([]byte{0xff}, 10),
	} {
		p := wire.NewPool()
		// A good frame first: the error must not spoil it.
		r := wire.NewReader(io.MultiReader(bytes.NewReader([]byte{1, 'x'}), bytes.NewReader(in)), p)
		b, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time nothing is read on
			if _, err := r.Next(); !errors.Is(err, wire.ErrMalformed) {
				t.Errorf("%x: %v", in, err)
			}
		}
		if got := p.InUse(); got != 1 {
			t.Errorf("%x: %d buffers in use, want the good one's", in, got)
		}
		b.Release()
	}
}

// A length that is too long costs neither a buffer nor a wait for its bytes.
func TestReaderJudgesLengthFirst(t *testing.T) {
	p := wire.NewPool()
	in := bytes.NewReader([]byte{0xff, 0xff, 0x03})
	n := testing.AllocsPerRun(100, func() {
		in.Seek(0, io.SeekStart)
		if _, err := wire.NewReader(in, p).Next(); !errors.Is(err, wire.ErrMalformed) {
			t.Error(err)
		}
	})
	if n > 8 { // the reader, its buffer and the error
		t.Errorf("%v allocations", n)
	}
}

// A frame that is there is returned without waiting for the next.
func TestReaderDoesNotWait(t *testing.T) {
	pr, pw := io.Pipe()
	defer pr.Close()
	r := wire.NewReader(pr, wire.NewPool())
	for _, msg := range []string{"a", "bc", "def"} {
		go pw.Write(wire.AppendFrame(nil, []byte(msg))) // ends when it is read
		b, err := r.Next()
		if err != nil || string(b.Msg()) != msg {
			t.Fatalf("got %v, %v, want %q", b, err, msg)
		}
		b.Release()
	}
}

func TestReaderPassesErrorsOn(t *testing.T) {
	p := wire.NewPool()
	broken := errors.New("broken")
	for _, in := range [][]byte{nil, {0x80}, {0x05, 1, 2}} {
		r := wire.NewReader(io.MultiReader(bytes.NewReader(in), iotest.ErrReader(broken)), p)
		if _, err := r.Next(); !errors.Is(err, broken) || errors.Is(err, wire.ErrMalformed) {
			t.Errorf("after %x: %v", in, err)
		}
	}
	if n := p.InUse(); n != 0 {
		t.Errorf("%d buffers in use", n)
	}
}

// endless repeats one frame for ever.
type endless struct {
	frame []byte
	pos   int
}

func (e *endless) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		c := copy(b[n:], e.frame[e.pos:])
		n += c
		e.pos = (e.pos + c) % len(e.frame)
	}
	return n, nil
}

func TestReaderAllocatesNothing(t *testing.T) {
	for _, size := range []int{40, 4217, wire.MaxMessage} {
		r := wire.NewReader(&endless{frame: wire.AppendFrame(nil, make([]byte, size))}, wire.NewPool())
		n := testing.AllocsPerRun(200, func() {
			b, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			b.Release()
		})
		if n > 0 {
			t.Errorf("messages of %d bytes: %v allocations each", size, n)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	for name, size := range map[string]int{"probe": 60, "chunk": 4217} {
		b.Run(name, func(b *testing.B) {
			r := wire.NewReader(&endless{frame: wire.AppendFrame(nil, make([]byte, size))}, wire.NewPool())
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				buf, err := r.Next()
				if err != nil {
					b.Fatal(err)
				}
				buf.Release()
			}
		})
	}
}
