package wire_test

import (
	"testing"

	"pgregory.net/rapid"

	pb "treecast/proto"
	"treecast/wire"
)

func drawProbe(t *rapid.T) wire.Probe {
	x := wire.Probe{
		Depth:      rapid.Uint32().Draw(t, "depth"),
		ID:         rapid.Uint64().Draw(t, "id"),
		Budget:     rapid.Uint32().Draw(t, "budget"),
		Hops:       rapid.Uint32().Draw(t, "hops"),
		Up:         rapid.Bool().Draw(t, "up"),
		DeadlineMS: rapid.Uint32().Draw(t, "deadline"),
		BoundBand:  rapid.Uint32().Draw(t, "bound band"),
		Childless:  rapid.Bool().Draw(t, "childless"),
	}
	if x.HasAsker = rapid.Bool().Draw(t, "has asker"); x.HasAsker {
		x.Asker = drawOverlay(t)
	}
	return x
}

func probePB(x *wire.Probe) *pb.Broadcast {
	p := &pb.Probe{
		Depth: x.Depth, Id: x.ID, Budget: x.Budget, Hops: x.Hops, Up: x.Up,
		DeadlineMs: x.DeadlineMS, BoundBand: x.BoundBand, Childless: x.Childless,
	}
	if x.HasAsker {
		p.Asker = x.Asker[:]
	}
	return &pb.Broadcast{Frame: &pb.Broadcast_Probe{Probe: p}}
}

func TestProbeAgainstGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawProbe(t)
		parse := func(msg []byte) any { return mustBroadcast(t, msg) }
		differs(t, wire.AppendProbe(nil, &x), probePB(&x), parse, wire.Broadcast{Kind: wire.KindProbe, Probe: x})
	})
}

func TestProbeAsker(t *testing.T) {
	for n := range 40 {
		var b wire.Broadcast
		// After a right one, which must leave nothing behind.
		if err := b.Parse(field(nil, 3, field(field(nil, 106, seq(1, 32)), 106, seq(0, n)))); err != nil {
			t.Fatal(err)
		}
		want := wire.Probe{}
		if n == len(want.Asker) {
			want.HasAsker, want.Asker = true, wire.Overlay(seq(0, n))
		}
		if b.Probe != want {
			t.Errorf("asker of %d bytes: %+v", n, b.Probe)
		}
	}
}

func TestProbeEveryPrefix(t *testing.T) {
	msg := wire.AppendProbe(nil, &wire.Probe{
		Depth: 3, ID: 1 << 50, Budget: 64, Hops: 7, Up: true, DeadlineMS: 4000, BoundBand: 9,
		HasAsker: true, Asker: wire.Overlay{1}, Childless: true,
	})
	everyPrefix(t, msg, new(pb.Broadcast), new(wire.Broadcast).Parse)
	for cut := range len(msg) - 2 { // the body cut, its length being right
		everyPrefix(t, field(nil, 3, msg[2:2+cut]), new(pb.Broadcast), new(wire.Broadcast).Parse)
	}
}

func TestProbeAllocatesNothing(t *testing.T) {
	x := wire.Probe{Depth: 3, ID: 1 << 50, Budget: 64, HasAsker: true, Asker: wire.Overlay{1}}
	msg := wire.AppendProbe(nil, &x)
	var b wire.Broadcast
	if n := testing.AllocsPerRun(200, func() {
		if err := b.Parse(msg); err != nil || b.Kind != wire.KindProbe {
			t.Fatal(b.Kind, err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkParseProbe(b *testing.B) {
	msg := wire.AppendProbe(nil, &wire.Probe{Depth: 3, ID: 1 << 50, Budget: 64, HasAsker: true})
	var x wire.Broadcast
	b.ReportAllocs()
	for b.Loop() {
		if err := x.Parse(msg); err != nil {
			b.Fatal(err)
		}
	}
}
