package retain_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"treecast/node/retain"
	"treecast/wire"
)

// chunkOf is a chunk's message, of the size of a real one; nobody verifies it here.
func chunkOf(owner wire.Owner, index uint64) []byte {
	return wire.AppendSoc(nil, &wire.Soc{
		ID: make([]byte, 32), Owner: owner[:], Signature: make([]byte, 65), Span: make([]byte, 8),
		Payload: bytes.Repeat([]byte{byte(index)}, 3000), Index: index, HasIndex: true,
	})
}

// exchange asks for from..to of alice's feed over a pipe.
func exchange(t *testing.T, l *retain.Log, from, to uint64, a retain.Answer) (indices []uint64, end *wire.RecoverEnd) {
	t.Helper()
	client, server := net.Pipe()
	defer client.Close()
	served := make(chan error, 1)
	go func() { // ends with the pipe
		buf, err := wire.NewReader(server, frames).Next()
		if err != nil {
			served <- err
			return
		}
		a.Request, err = wire.ParseRecoverRequest(buf.Msg())
		buf.Release() // before the end is told: a test may count what is in use then
		if err == nil {
			a.Log = l
			_, err = retain.Serve(context.Background(), server, &a)
		}
		served <- err
	}()
	req := &wire.RecoverRequest{Topic: plane, Owner: alice, Range: wire.IndexRange{From: from, To: to}}
	end, err := retain.Fetch(client, wire.NewReader(client, frames), req, func(b *wire.Buf, s *wire.Soc) error {
		if !bytes.Equal(b.Msg(), chunkOf(alice, s.Index)) {
			t.Errorf("index %d has other bytes", s.Index)
		}
		indices = append(indices, s.Index)
		b.Release()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	return indices, end
}

func addChunks(l *retain.Log, indices ...uint64) {
	for _, i := range indices {
		buf := frames.Frame(chunkOf(alice, i))
		addLaid(l, alice, i, buf)
		buf.Release()
	}
}

func TestServe(t *testing.T) {
	l, err := retain.NewLog(plane, retain.RingConfig{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []uint64
	for i := uint64(3); i < 300; i++ {
		if i < 100 || i >= 110 {
			want = append(want, i)
		}
	}
	addChunks(l, want...)
	l.AddVoid(alice, wire.IndexRange{From: 105, To: 107})
	got, end := exchange(t, l, 0, 400, retain.Answer{
		Pending: func() []wire.IndexRange { return []wire.IndexRange{{From: 101, To: 102}, {From: 390, To: 500}} },
	})
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%d chunks, want %d", len(got), len(want))
	}
	if s := fmt.Sprint(*end); s != "{[{0 2} {100 100} {103 104} {108 109} {300 389}] [{101 102} {390 400}] [{105 107}]}" {
		t.Errorf("end %s", s)
	}
	got, end = exchange(t, l, 200, 200, retain.Answer{})
	if len(got) != 1 || end.Missing != nil {
		t.Errorf("%v, %v", got, end)
	}
	if n := frames.InUse(); n != 0 {
		t.Errorf("%d buffers in use", n)
	}
}

// More holes than an end can name end the answer early: the rest is not named.
func TestServeManyHoles(t *testing.T) {
	l, err := retain.NewLog(plane, retain.RingConfig{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(500) {
		addChunks(l, 2*i)
	}
	_, end := exchange(t, l, 0, 1000, retain.Answer{})
	if n := len(end.Missing); n != wire.MaxRanges || end.Missing[n-1].To > 400 {
		t.Errorf("%d ranges, the last %v", n, end.Missing[n-1])
	}
}

func TestServeRate(t *testing.T) {
	l, err := retain.NewLog(plane, retain.RingConfig{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(300) { // 900 kB
		addChunks(l, i)
	}
	yields := 0
	start := time.Now()
	exchange(t, l, 0, 299, retain.Answer{Rate: 4 << 20, Yield: func(context.Context) error { yields++; return nil }})
	if took := time.Since(start); took < 200*time.Millisecond || yields < 3 {
		t.Errorf("took %v, yielded %d times", took, yields)
	}
}

func TestServeEndsWithYield(t *testing.T) {
	refused := errors.New("refused")
	a := retain.Answer{Log: newLog(t, nil), Yield: func(context.Context) error { return refused }}
	if _, err := retain.Serve(context.Background(), io.Discard, &a); !errors.Is(err, refused) {
		t.Error(err)
	}
}

// TestFetchBadAnswer is given what nobody asked for.
func TestFetchBadAnswer(t *testing.T) {
	frame := func(msg []byte) []byte { return wire.AppendFrame(nil, msg) }
	end := (&wire.RecoverEnd{}).Append(nil)
	for _, tc := range []struct {
		name   string
		answer []byte
		want   error
	}{
		{"another owner", frame(chunkOf(bob, 5)), retain.ErrUnasked},
		{"another index", frame(chunkOf(alice, 8)), retain.ErrUnasked},
		{"too many", bytes.Repeat(frame(chunkOf(alice, 5)), 4), retain.ErrUnasked},
		{"malformed", frame([]byte{0x80}), wire.ErrMalformed},
		{"a probe", frame(wire.AppendProbe(nil, &wire.Probe{Depth: 1})), wire.ErrMalformed},
		{"cut", frame(chunkOf(alice, 5))[:100], io.ErrUnexpectedEOF},
		{"none", nil, io.EOF},
		{"good", append(frame(chunkOf(alice, 5)), frame(end)...), nil},
	} {
		req := &wire.RecoverRequest{Topic: plane, Owner: alice, Range: wire.IndexRange{From: 5, To: 7}}
		got, err := retain.Fetch(io.Discard, wire.NewReader(bytes.NewReader(tc.answer), frames), req, func(b *wire.Buf, _ *wire.Soc) error {
			b.Release()
			return nil
		})
		if !errors.Is(err, tc.want) || (got != nil) != (tc.want == nil) {
			t.Errorf("%s: %v, %v", tc.name, got, err)
		}
	}
	if n := frames.InUse(); n != 0 {
		t.Errorf("%d buffers in use", n)
	}
}
