package wire_test

import (
	"bytes"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "treecast/proto"
	"treecast/wire"
)

func drawAck(t *rapid.T) wire.Ack {
	x := wire.Ack{Status: wire.Status(rapid.IntRange(1, 4).Draw(t, "status"))}
	switch x.Status {
	case wire.StatusOK:
		spec := drawSpec(t)
		x.Spec = &spec
	case wire.StatusFull:
		x.Candidates = drawCandidates(t)
	}
	x.HasBand, x.Band = drawPresent(t)
	for range rapid.IntRange(0, 4).Draw(t, "heads") {
		x.Heads = append(x.Heads, wire.Head{Owner: wire.Owner(drawBytes(t, 20, 20)), Index: rapid.Uint64().Draw(t, "index")})
	}
	return x
}

func ackPB(x *wire.Ack) *pb.Ack {
	p := &pb.Ack{
		Status: pb.Status(x.Status), Cohort: specPB(x.Spec), Candidates: candidatesPB(x.Candidates),
		Band: presentPB(x.HasBand, x.Band),
	}
	for _, h := range x.Heads {
		p.Heads = append(p.Heads, &pb.Head{Owner: h.Owner[:], Index: h.Index})
	}
	return p
}

func TestAckAgainstGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawAck(t)
		differs(t, x.Append(nil), ackPB(&x), mustParse(t, wire.ParseAck), x)
		later := ackPB(&x)
		later.Candidates, later.CandidatesLater = nil, later.Candidates
		msg, err := proto.Marshal(later)
		if err != nil {
			t.Fatal(err)
		}
		if d := diff[any](x, mustParse(t, wire.ParseAck)(msg)); d != "" {
			t.Fatalf("candidates in field 6 (-want +got):\n%s", d)
		}
	})
}

func TestAckStatus(t *testing.T) {
	spec := field(nil, 2, field(nil, 1, seq(0, 32)))
	for v := range uint64(7) {
		for _, beyond := range []uint64{0, 256, 1 << 31} {
			msg := append(varint(nil, 1, v+beyond), spec...)
			x, err := wire.ParseAck(msg)
			if beyond > 0 || v < 1 || v > 4 {
				wantSyntax(t, err, len(msg))
				continue
			}
			if err != nil || x.Status != wire.Status(v) || (x.Spec != nil) != (v == 1) {
				t.Errorf("status %d: %+v, %v", v, x, err)
			}
		}
	}
	if x, err := wire.ParseAck(append(spec, 1<<3, 1)); err != nil || x.Spec == nil {
		t.Errorf("status behind the cohort: %+v, %v", x, err)
	}
	if x, err := wire.ParseAck(varint(varint(nil, 1, 0), 1, 3)); err != nil || x.Status != wire.StatusUnknownTopic {
		t.Errorf("two statuses: %+v, %v", x, err)
	}
	for name, msg := range map[string][]byte{
		"nothing":                  nil,
		"OK without a cohort":      varint(nil, 1, 1),
		"cohort without a topic":   field(varint(nil, 1, 1), 2, varint(nil, 2, 4)),
		"cohort topic of 31 bytes": field(varint(nil, 1, 1), 2, field(nil, 1, seq(0, 31))),
		"broken cohort":            field(varint(nil, 1, 1), 2, []byte{0x80}),
		"broken, replaced cohort":  append(field(varint(nil, 1, 1), 2, []byte{0x80}), spec...),
		"broken candidate":         field(varint(nil, 1, 2), 3, []byte{0x80}),
		"broken head":              field(varint(nil, 1, 2), 101, []byte{0x80}),
	} {
		x, err := wire.ParseAck(msg)
		if err == nil {
			t.Errorf("%s: %+v", name, x)
			continue
		}
		wantSyntax(t, err, len(msg))
	}
}

// Other revisions put chunks into the fields that hold candidates here.
func TestAckForeignFields(t *testing.T) {
	good := field(nil, 1, seq(1, 32))
	soc := wire.AppendSoc(nil, chunk())
	soc = soc[len(soc)-chunkBody():]

	ok := field(varint(nil, 1, 1), 2, field(nil, 1, seq(0, 32)))
	for _, number := range []int{3, 4, 5, 6} {
		x, err := wire.ParseAck(field(ok, protowire.Number(number), soc))
		if err != nil || x.Candidates != nil {
			t.Errorf("OK with a chunk in field %d: %+v, %v", number, x, err)
		}
	}
	if x, err := wire.ParseAck(field(ok, 3, good)); err != nil || x.Candidates != nil {
		t.Errorf("OK with a candidate: %+v, %v", x, err)
	}

	full := varint(nil, 1, 2)
	msg := field(field(field(field(full, 3, soc), 4, soc), 5, soc), 6, good)
	x, err := wire.ParseAck(msg)
	if err != nil || len(x.Candidates) != 1 || x.Candidates[0].Addr != wire.Overlay(seq(1, 32)) {
		t.Errorf("FULL with chunks and a candidate: %+v, %v", x, err)
	}
	if x, err := wire.ParseAck(field(full, 2, field(nil, 1, seq(0, 32)))); err != nil || x.Spec != nil {
		t.Errorf("FULL with a cohort: %+v, %v", x, err)
	}
}

func TestAckBounds(t *testing.T) {
	for _, n := range []int{wire.MaxHeads - 1, wire.MaxHeads, wire.MaxHeads + 1} {
		x := wire.Ack{Status: wire.StatusFull, Heads: make([]wire.Head, n)}
		got, err := wire.ParseAck(x.Append(nil))
		if err != nil || len(got.Heads) != min(n, wire.MaxHeads) {
			t.Errorf("%d heads: %d, %v", n, len(got.Heads), err)
		}
	}
	for n := range wire.MaxCandidates + 3 {
		x := wire.Ack{Status: wire.StatusFull}
		for i := range n {
			x.Candidates = append(x.Candidates, wire.Candidate{Addr: wire.Overlay{byte(i)}})
		}
		got, err := wire.ParseAck(x.Append(nil))
		if err != nil || len(got.Candidates) != min(n, wire.MaxCandidates) {
			t.Fatalf("%d candidates: %d, %v", n, len(got.Candidates), err)
		}
		for i, c := range got.Candidates {
			if c.Addr[0] != byte(i) {
				t.Errorf("%d candidates: not the first are kept", n)
			}
		}
	}
	wrong := wire.Ack{Status: wire.StatusFull, Heads: []wire.Head{{Owner: wire.Owner{1}, Index: 9}}}
	msg := field(wrong.Append(nil), 101, field(nil, 1, seq(0, 19)))
	if got, err := wire.ParseAck(msg); err != nil || len(got.Heads) != 1 {
		t.Errorf("head of another size: %+v, %v", got, err)
	}
}

// The fullest answers that there are fit into a frame.
func TestAckFits(t *testing.T) {
	spec := fullSpec()
	spec.Publishers = slices.Repeat([][]byte{seq(0, 20)}, wire.MaxPublishers)
	head := wire.Head{Owner: wire.Owner(seq(1, 20)), Index: 1<<63 - 1}
	candidate := wire.Candidate{
		Addr: wire.Overlay{1}, Depth: 1<<32 - 1, HasBand: true, Band: 1<<32 - 1, Displaces: true,
		Underlays: slices.Repeat([][]byte{seq(0, wire.MaxUnderlayBytes/wire.MaxUnderlays)}, wire.MaxUnderlays),
	}
	for _, x := range []wire.Ack{
		{Status: wire.StatusOK, Spec: &spec, HasBand: true, Band: 1<<32 - 1},
		{Status: wire.StatusFull, Candidates: slices.Repeat([]wire.Candidate{candidate}, wire.MaxCandidates)},
	} {
		x.Heads = slices.Repeat([]wire.Head{head}, wire.MaxHeads)
		msg := x.Append(nil)
		if len(msg) > wire.MaxMessage {
			t.Errorf("%v: %d bytes", x.Status, len(msg))
		}
		got, err := wire.ParseAck(bytes.Clone(msg))
		if err != nil {
			t.Fatal(err)
		}
		clear(msg)
		if d := diff(x, got); d != "" {
			t.Errorf("%v (-want +got):\n%s", x.Status, d)
		}
	}
}

func TestAckEveryPrefix(t *testing.T) {
	spec := fullSpec()
	band := wire.Ack{HasBand: true, Band: 300, Heads: []wire.Head{{Owner: wire.Owner{1}, Index: 1 << 40}}}
	for _, x := range []wire.Ack{
		{Status: wire.StatusOK, Spec: &spec},
		{Status: wire.StatusFull, Candidates: []wire.Candidate{{Addr: wire.Overlay{1}, Depth: 3, Underlays: [][]byte{seq(0, 9)}}}},
	} {
		x.HasBand, x.Band, x.Heads = band.HasBand, band.Band, band.Heads
		msg := x.Append(nil)
		// Its first fields make the message an Ack; from there on syntax decides.
		least := 2
		if x.Spec != nil {
			least = 2 + 2 + len(spec.Append(nil))
		}
		for cut := range len(msg) + 1 {
			_, err := wire.ParseAck(msg[:cut])
			if cut < least || proto.Unmarshal(msg[:cut], new(pb.Ack)) != nil {
				wantSyntax(t, err, cut)
			} else if err != nil {
				t.Errorf("%v cut at %d: %v", x.Status, cut, err)
			}
		}
	}
}
