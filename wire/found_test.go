package wire_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	pb "treecast/proto"
	"treecast/wire"
)

func drawFound(t *rapid.T) wire.Found {
	return wire.Found{ID: rapid.Uint64().Draw(t, "id"), Candidates: drawCandidates(t)}
}

func foundPB(x *wire.Found) *pb.Broadcast {
	return &pb.Broadcast{Frame: &pb.Broadcast_Found{Found: &pb.Candidates{Id: x.ID, Candidates: candidatesPB(x.Candidates)}}}
}

func TestFoundAgainstGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawFound(t)
		parse := func(msg []byte) any { return mustBroadcast(t, msg) }
		differs(t, wire.AppendFound(nil, &x), foundPB(&x), parse, wire.Broadcast{Kind: wire.KindFound, Found: x})
	})
}

// Candidates are kept for longer than the frame they came in and than the next
// use of the Broadcast.
func TestFoundCopies(t *testing.T) {
	x := wire.Found{Candidates: []wire.Candidate{
		{Addr: wire.Overlay{1}, Underlays: [][]byte{seq(0, 9), seq(1, 9)}},
		{Addr: wire.Overlay{2}, Underlays: [][]byte{seq(2, 9)}},
	}}
	msg := wire.AppendFound(nil, &x)
	var b wire.Broadcast
	if err := b.Parse(msg); err != nil {
		t.Fatal(err)
	}
	kept := b.Found
	clear(msg)
	other := wire.AppendFound(nil, &wire.Found{Candidates: []wire.Candidate{{Addr: wire.Overlay{9}, Underlays: [][]byte{seq(7, 9)}}}})
	if err := b.Parse(other); err != nil {
		t.Fatal(err)
	}
	if d := diff(x, kept); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestFoundKeepsTheFirst(t *testing.T) {
	var list []wire.Candidate
	for i := range byte(5) {
		list = append(list, wire.Candidate{Addr: wire.Overlay{i}})
	}
	var b wire.Broadcast
	if err := b.Parse(wire.AppendFound(nil, &wire.Found{ID: 5, Candidates: list})); err != nil {
		t.Fatal(err)
	}
	if d := diff(wire.Found{ID: 5, Candidates: list[:wire.MaxCandidates]}, b.Found); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestFoundEveryPrefix(t *testing.T) {
	msg := wire.AppendFound(nil, &wire.Found{ID: 300, Candidates: []wire.Candidate{
		{Addr: wire.Overlay{1}, Depth: 3, Underlays: [][]byte{seq(0, 9)}, HasBand: true, Band: 4, Displaces: true},
	}})
	everyPrefix(t, msg, new(pb.Broadcast), new(wire.Broadcast).Parse)
	body := bytes.Clone(msg[2:])
	for cut := range body {
		everyPrefix(t, field(nil, 4, body[:cut]), new(pb.Broadcast), new(wire.Broadcast).Parse)
	}
}
