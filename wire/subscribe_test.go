package wire_test

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "treecast/proto"
	"treecast/wire"
)

func drawSubscribe(t *rapid.T) *wire.Subscribe {
	x := &wire.Subscribe{
		Topic:     wire.Topic(drawBytes(t, 32, 32)),
		Auth:      drawAuth(t),
		Relays:    rapid.Bool().Draw(t, "relays"),
		Childless: rapid.Bool().Draw(t, "childless"),
		Round:     rapid.Uint32().Draw(t, "round"),
		Named:     rapid.Bool().Draw(t, "named"),
		Displace:  rapid.Bool().Draw(t, "displace"),
		Version:   rapid.Uint32Max(1).Draw(t, "version"),
	}
	x.HasBand, x.Band = drawPresent(t)
	return x
}

func subscribePB(x *wire.Subscribe) *pb.Subscribe {
	return &pb.Subscribe{
		Topic: x.Topic[:], Auth: authPB(x.Auth), Band: presentPB(x.HasBand, x.Band), Relays: x.Relays,
		Childless: x.Childless, Round: x.Round, Named: x.Named, Displace: x.Displace, Version: x.Version,
	}
}

func TestSubscribeAgainstGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSubscribe(t)
		differs(t, x.Append(nil), subscribePB(x), mustParse(t, wire.ParseFirst), wire.First{Subscribe: x})
	})
}

func TestSubscribeEveryPrefix(t *testing.T) {
	x := wire.Subscribe{
		Topic: wire.Topic{7}, Auth: &wire.Auth{Owner: wire.Owner{1}, ID: seq(0, 32), Proof: seq(3, 65)},
		HasBand: true, Band: 300, Relays: true, Childless: true, Round: 3, Named: true, Displace: true, Version: 1,
	}
	msg := x.Append(nil)
	const topicEnd = 34
	for cut := range topicEnd {
		_, err := wire.ParseFirst(msg[:cut])
		wantSyntax(t, err, cut)
	}
	for cut := topicEnd; cut <= len(msg); cut++ {
		_, err := wire.ParseFirst(msg[:cut])
		if proto.Unmarshal(msg[:cut], new(pb.Subscribe)) != nil {
			wantSyntax(t, err, cut)
		} else if err != nil {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}
