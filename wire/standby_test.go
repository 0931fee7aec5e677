package wire_test

import (
	"testing"

	"pgregory.net/rapid"

	pb "treecast/proto"
	"treecast/wire"
)

func drawStandby(t *rapid.T) wire.Standby {
	return wire.Standby{WaitMS: rapid.Uint32().Draw(t, "wait")}
}

func standbyPB(x *wire.Standby) *pb.Broadcast {
	return &pb.Broadcast{Frame: &pb.Broadcast_Standby{Standby: &pb.Standby{WaitMs: x.WaitMS}}}
}

func TestStandbyAgainstGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawStandby(t)
		parse := func(msg []byte) any { return mustBroadcast(t, msg) }
		differs(t, wire.AppendStandby(nil, x), standbyPB(&x), parse, wire.Broadcast{Kind: wire.KindStandby, Standby: x})
	})
}

func TestStandbyEveryPrefix(t *testing.T) {
	msg := wire.AppendStandby(nil, wire.Standby{WaitMS: 300})
	everyPrefix(t, msg, new(pb.Broadcast), new(wire.Broadcast).Parse)
}
