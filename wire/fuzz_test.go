package wire_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "treecast/proto"
	"treecast/wire"
)

// chunkedReader gives out at most step bytes a read.
type chunkedReader struct {
	b    []byte
	step int
}

func (r *chunkedReader) Read(p []byte) (int, error) {
	if len(r.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.b[:min(r.step, len(r.b))])
	r.b = r.b[n:]
	return n, nil
}

// FuzzReader checks the Reader, however its bytes come, against the framing
// read by hand from the whole stream.
func FuzzReader(f *testing.F) {
	for step, stream := range [][]byte{
		nil,
		{0},
		{1},
		{1, 0xff},
		{0x81, 0},
		{0x80, 0x80, 1},
		{0x81, 0x80, 1},
		{0x80, 0x80, 0x80},
		wire.AppendFrame([]byte{2, 7, 7}, seq(0, 200)),
	} {
		f.Add(stream, uint8(step))
	}
	pool := wire.NewPool()
	f.Fuzz(func(t *testing.T, stream []byte, step uint8) {
		r := wire.NewReader(&chunkedReader{stream, int(step) + 1}, pool)
		for at := 0; ; {
			b, err := r.Next()
			length, n, want := wire.ParseLength(stream[at:])
			switch {
			case errors.Is(want, wire.ErrShort) && at == len(stream):
				want = io.EOF
			case errors.Is(want, wire.ErrShort), want == nil && at+n+length > len(stream):
				want = io.ErrUnexpectedEOF
			case want != nil:
				want = wire.ErrMalformed
			}
			if !errors.Is(err, want) {
				t.Fatalf("at %d: %v, want %v", at, err, want)
			}
			if err != nil {
				break
			}
			frame := stream[at : at+n+length]
			if !bytes.Equal(b.Frame(), frame) || !bytes.Equal(b.Msg(), frame[n:]) {
				t.Fatalf("at %d: got %x", at, b.Frame())
			}
			if !bytes.Equal(wire.AppendFrame(nil, b.Msg()), frame) {
				t.Fatalf("at %d: another encoding of the same message", at)
			}
			b.Release()
			at += len(frame)
		}
		if n := pool.InUse(); n != 0 {
			t.Fatalf("%d buffers in use", n)
		}
	})
}

// FuzzFirst checks that what is read is what protobuf can read, that it stays
// the same through Append, and that an error points into the message.
func FuzzFirst(f *testing.F) {
	spec := fullSpec()
	open := (&wire.Open{Spec: spec, Auth: fullAuth()}).Append(nil)
	subscribe := (&wire.Subscribe{
		Topic: wire.Topic{1}, Auth: fullAuth(), HasBand: true, Band: 3, Relays: true, Childless: true, Round: 2,
		Named: true, Displace: true, Version: 1,
	}).Append(nil)
	for _, msg := range [][]byte{open, subscribe, field(nil, 1, open), field(nil, 2, subscribe), {0x80}} {
		f.Add(msg)
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		first, err := wire.ParseFirst(msg)
		if err != nil {
			wantSyntax(t, err, len(msg))
			return
		}
		if (first.Open != nil) == (first.Subscribe != nil) {
			t.Fatalf("not one of the two: %+v", first)
		}
		var again []byte
		var oracle proto.Message
		if first.Open != nil {
			again, oracle = first.Open.Append(nil), new(pb.Open)
		} else {
			again, oracle = first.Subscribe.Append(nil), new(pb.Subscribe)
		}
		if first.Wrapped {
			oracle = new(pb.Hello)
		}
		if err := proto.Unmarshal(msg, oracle); err != nil {
			t.Fatalf("protobuf: %v", err)
		}
		first.Wrapped = false
		got, err := wire.ParseFirst(again)
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(first, got); d != "" {
			t.Fatalf("encoded again (-want +got):\n%s", d)
		}
	})
}

// FuzzAck is the same for an Ack. Fields that belong to another status are not
// looked into, so protobuf may refuse what is an Ack here.
func FuzzAck(f *testing.F) {
	spec := fullSpec()
	for _, x := range []wire.Ack{
		{Status: wire.StatusOK, Spec: &spec, HasBand: true, Band: 2, Heads: []wire.Head{{Owner: wire.Owner{1}, Index: 7}}},
		{Status: wire.StatusFull, Candidates: []wire.Candidate{{Addr: wire.Overlay{1}, Underlays: [][]byte{seq(0, 9)}}}},
		{Status: wire.StatusUnknownTopic},
		{Status: wire.StatusRejected},
	} {
		f.Add(x.Append(nil))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		x, err := wire.ParseAck(msg)
		if err != nil {
			wantSyntax(t, err, len(msg))
			return
		}
		if len(x.Candidates) > wire.MaxCandidates || len(x.Heads) > wire.MaxHeads {
			t.Fatalf("%d candidates, %d heads", len(x.Candidates), len(x.Heads))
		}
		again := x.Append(nil)
		if proto.Unmarshal(again, new(pb.Ack)) != nil {
			t.Fatalf("protobuf refuses %x", again)
		}
		got, err := wire.ParseAck(again)
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(x, got); d != "" {
			t.Fatalf("encoded again (-want +got):\n%s", d)
		}
	})
}

// FuzzBroadcast checks that wire and protobuf accept the same messages, groups
// aside, since a relay forwards what it accepted; and that each kind survives
// being encoded again, to the very same bytes if nothing in them was unknown.
func FuzzBroadcast(f *testing.F) {
	short := chunk()
	short.Payload = short.Payload[:40]
	for _, msg := range [][]byte{
		wire.AppendSoc(nil, short),
		wire.AppendReparent(nil, &wire.Reparent{To: seq(0, 32), Reason: 2}),
		wire.AppendProbe(nil, &wire.Probe{Depth: 1, ID: 2, Budget: 3, Hops: 4, Up: true, DeadlineMS: 5, BoundBand: 6, HasAsker: true, Childless: true}),
		wire.AppendFound(nil, &wire.Found{ID: 3, Candidates: []wire.Candidate{{Depth: 3, HasBand: true, Underlays: [][]byte{seq(0, 9)}}}}),
		varint(wire.AppendSoc(nil, &wire.Soc{HasIndex: true}), 200, 1),
	} {
		f.Add(msg)
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		var b wire.Broadcast
		err := b.Parse(msg)
		theirs := proto.Unmarshal(msg, new(pb.Broadcast))
		if err != nil {
			wantSyntax(t, err, len(msg))
			var syntax *wire.SyntaxError
			if errors.As(err, &syntax) && theirs == nil && syntax.Reason != "wire type that proto3 lacks" {
				t.Fatalf("protobuf reads it: %v", err)
			}
			return
		}
		if theirs != nil {
			t.Fatalf("protobuf: %v", theirs)
		}
		var again []byte
		extra := 0
		switch b.Kind {
		case wire.KindNone:
			return
		case wire.KindSoc:
			again = wire.AppendSoc(nil, &b.Soc)
			extra, b.Soc.Unknown = b.Soc.Unknown, 0
			if len(again)+extra != len(msg) {
				t.Fatalf("%d bytes of %d are unknown, %d known", extra, len(msg), len(again))
			}
			if extra == 0 && !slices.Equal(sortedBytes(again), sortedBytes(msg)) {
				t.Fatalf("encoded again: %x", again)
			}
		case wire.KindReparent:
			again = wire.AppendReparent(nil, &b.Reparent)
		case wire.KindProbe:
			again = wire.AppendProbe(nil, &b.Probe)
		case wire.KindFound:
			again = wire.AppendFound(nil, &b.Found)
		}
		var got wire.Broadcast
		if err := got.Parse(again); err != nil {
			t.Fatal(err)
		}
		if d := diff(b, got); d != "" {
			t.Fatalf("encoded again (-want +got):\n%s", d)
		}
	})
}

// sortedBytes makes two encodings equal that differ in their fields' order.
func sortedBytes(b []byte) []byte {
	b = slices.Clone(b)
	slices.Sort(b)
	return b
}

// FuzzRecover checks that a request and an answer stay the same through Append,
// within their bounds.
func FuzzRecover(f *testing.F) {
	req := wire.RecoverRequest{Topic: wire.Topic{1}, Owner: wire.Owner{2}, Range: wire.IndexRange{From: 3, To: 9}}
	end := wire.RecoverEnd{Missing: []wire.IndexRange{{From: 1, To: 2}}, Pending: []wire.IndexRange{{From: 4, To: 4}}, Void: []wire.IndexRange{{From: 5, To: 9}}}
	for _, msg := range [][]byte{req.Append(nil), end.Append(nil), wire.AppendSoc(nil, chunk())} {
		f.Add(msg)
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		if x, err := wire.ParseRecoverRequest(msg); err != nil {
			wantSyntax(t, err, len(msg))
		} else if again, err := wire.ParseRecoverRequest(x.Append(nil)); err != nil || again != x {
			t.Fatalf("%+v became %+v, %v", x, again, err)
		}
		var x, again wire.RecoverAnswer
		if err := x.Parse(msg); err != nil {
			wantSyntax(t, err, len(msg))
			return
		}
		var b wire.Broadcast
		if x.End == nil {
			if err := b.Parse(msg); err != nil || b.Kind != wire.KindSoc || !bytes.Equal(b.Soc.Payload, x.Soc.Payload) {
				t.Fatalf("a chunk here, and in the tree %v, %v", b.Kind, err)
			}
			return
		}
		if err := again.Parse(x.End.Append(nil)); err != nil {
			t.Fatal(err)
		}
		if d := diff(x, again); d != "" {
			t.Fatalf("encoded again (-want +got):\n%s", d)
		}
	})
}
