package wire_test

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "treecast/proto"
	"treecast/wire"
)

// chunk returns the largest chunk there is, of the right sizes.
func chunk() *wire.Soc {
	return &wire.Soc{
		ID: seq(1, 32), Owner: seq(2, 20), Signature: seq(3, 65), Span: seq(4, 8), Payload: seq(5, 4096),
		Index: 1<<63 - 1, HasIndex: true,
	}
}

// chunkBody is the length of that chunk's Soc message.
func chunkBody() int { return 34 + 22 + 67 + 10 + 4099 + 11 }

func drawSoc(t *rapid.T) wire.Soc {
	x := wire.Soc{
		ID: drawSized(t, 32), Owner: drawSized(t, 20), Signature: drawSized(t, 65), Span: drawSized(t, 8),
		Payload: drawBytes(t, 0, 200),
	}
	if x.HasIndex = rapid.Bool().Draw(t, "has index"); x.HasIndex {
		x.Index = rapid.Uint64().Draw(t, "index")
	}
	return x
}

func socPB(x *wire.Soc) *pb.Soc {
	return &pb.Soc{
		Id: x.ID, Owner: x.Owner, Signature: x.Signature, Span: x.Span, Payload: x.Payload,
		Index: presentPB(x.HasIndex, x.Index),
	}
}

func TestSocAgainstGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSoc(t)
		msg := wire.AppendSoc(nil, &x)
		parse := func(msg []byte) any {
			b := mustBroadcast(t, msg)
			b.Soc.Unknown = 0 // shuffling adds some
			return b
		}
		want := wire.Broadcast{Kind: wire.KindSoc, Soc: x}
		differs(t, msg, &pb.Broadcast{Frame: &pb.Broadcast_Soc{Soc: socPB(&x)}}, parse, want)
		differs(t, msg, &pb.Publish{Soc: socPB(&x)}, parse, want)
		if n := mustBroadcast(t, msg).Soc.Unknown; n != 0 {
			t.Fatalf("%d unknown bytes in an own message", n)
		}
		body, err := proto.Marshal(socPB(&x))
		if err != nil {
			t.Fatal(err)
		}
		if got := mustBroadcast(t, field(nil, 1, shuffle(t, body))).Soc; got.Unknown < 0 || !bytes.Equal(got.Payload, x.Payload) {
			t.Fatalf("shuffled inside: %+v", got)
		}
	})
}

// Whatever the chunk itself does not need counts, wherever it is.
func TestSocUnknown(t *testing.T) {
	x := chunk()
	msg := wire.AppendSoc(nil, x)
	body := msg[len(msg)-chunkBody():]
	inner := func(add []byte) []byte { return field(nil, 1, append(add, body...)) }
	for _, tt := range []struct {
		name string
		msg  []byte
		want int
	}{
		{"none", msg, 0},
		{"behind the chunk", varint(bytes.Clone(msg), 9, 300), 3},
		{"before the chunk", append(field(nil, 200, seq(0, 10)), msg...), 13},
		{"in the chunk", inner(field(nil, 9, seq(0, 256))), 259},
		{"known number, other type", inner(varint(nil, 1, 5)), 2},
		{"replaced field", inner(field(nil, 4, seq(0, 8))), 10},
		{"replaced empty field", inner(field(nil, 5, nil)), 2},
		{"replaced chunk", append(field(nil, 1, seq(0, 0)), msg...), 2},
		{"replaced probe", append(field(nil, 3, varint(nil, 1, 1)), msg...), 4},
		{"padded tag", inner([]byte{0x80 | 9<<3, 0x00, 0x01}), 3},
		{"padded length", append([]byte{1<<3 | 2, byte(len(body)) | 0x80, byte(len(body)>>7) | 0x80, 0}, body...), 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b wire.Broadcast
			if err := b.Parse(tt.msg); err != nil {
				t.Fatal(err)
			}
			want := *x
			want.Unknown = tt.want
			if d := diff(want, b.Soc); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestSocIsAView(t *testing.T) {
	msg := wire.AppendSoc(nil, chunk())
	var b wire.Broadcast
	if err := b.Parse(msg); err != nil {
		t.Fatal(err)
	}
	i := bytes.Index(msg, b.Soc.Payload)
	msg[i]++
	if b.Soc.Payload[0] != msg[i] {
		t.Error("the payload is a copy")
	}
	if cap(b.Soc.ID) != len(b.Soc.ID) {
		t.Error("an append to the id would write into the frame")
	}
}

func TestSocEveryPrefix(t *testing.T) {
	x := chunk()
	x.Payload = x.Payload[:200]
	msg := wire.AppendSoc(nil, x)
	everyPrefix(t, msg, new(pb.Broadcast), new(wire.Broadcast).Parse)
	// The cut inside the chunk, its length being right.
	body := msg[3:]
	for cut := range len(body) + 1 {
		err := new(wire.Broadcast).Parse(field(nil, 1, body[:cut]))
		if proto.Unmarshal(body[:cut], new(pb.Soc)) == nil {
			if err != nil {
				t.Errorf("body cut at %d: %v", cut, err)
			}
			continue
		}
		wantSyntax(t, err, len(msg))
	}
}

func TestSocAllocatesNothing(t *testing.T) {
	x := chunk()
	msg := wire.AppendSoc(nil, x)
	if len(msg) != chunkBody()+3 {
		t.Errorf("the largest chunk makes %d bytes", len(msg))
	}
	var b wire.Broadcast
	if n := testing.AllocsPerRun(200, func() {
		if err := b.Parse(msg); err != nil || b.Kind != wire.KindSoc {
			t.Fatal(b.Kind, err)
		}
	}); n > 0 {
		t.Errorf("parsing: %v allocations", n)
	}
	dst := make([]byte, 0, len(msg))
	if n := testing.AllocsPerRun(200, func() { wire.AppendSoc(dst, x) }); n > 0 {
		t.Errorf("appending: %v allocations", n)
	}
}

func BenchmarkParseSoc(b *testing.B) {
	msg := wire.AppendSoc(nil, chunk())
	var x wire.Broadcast
	b.SetBytes(int64(len(msg)))
	b.ReportAllocs()
	for b.Loop() {
		if err := x.Parse(msg); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendSoc(b *testing.B) {
	x := chunk()
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = wire.AppendSoc(dst[:0], x)
	}
	b.SetBytes(int64(len(dst)))
}
