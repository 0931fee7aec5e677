package wire_test

import (
	"testing"

	"pgregory.net/rapid"

	pb "treecast/proto"
	"treecast/wire"
)

func drawReparent(t *rapid.T) wire.Reparent {
	return wire.Reparent{To: drawSized(t, 32), Reason: rapid.Uint32().Draw(t, "reason")}
}

func reparentPB(x *wire.Reparent) *pb.Broadcast {
	return &pb.Broadcast{Frame: &pb.Broadcast_Reparent{Reparent: &pb.Reparent{To: x.To, Reason: pb.Reparent_Reason(int32(x.Reason))}}}
}

func TestReparentAgainstGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawReparent(t)
		parse := func(msg []byte) any { return mustBroadcast(t, msg) }
		differs(t, wire.AppendReparent(nil, &x), reparentPB(&x), parse, wire.Broadcast{Kind: wire.KindReparent, Reparent: x})
	})
}

func TestReparentReasons(t *testing.T) {
	for name, v := range pb.Reparent_Reason_value {
		want, ok := map[string]uint32{
			"REASON_UNSPECIFIED": wire.ReasonNone, "LEAVING": wire.ReasonLeaving, "DISPLACED": wire.ReasonDisplaced,
		}[name]
		if !ok || want != uint32(v) {
			t.Errorf("%s is %d, want %d", name, v, want)
		}
	}
}

func TestReparentEveryPrefix(t *testing.T) {
	msg := wire.AppendReparent(nil, &wire.Reparent{To: seq(0, 32), Reason: wire.ReasonDisplaced})
	everyPrefix(t, msg, new(pb.Broadcast), new(wire.Broadcast).Parse)
}
