package wire_test

import (
	"testing"

	"pgregory.net/rapid"

	pb "treecast/proto"
	"treecast/wire"
)

func drawOpen(t *rapid.T) *wire.Open {
	return &wire.Open{Spec: drawSpec(t), Auth: drawAuth(t)}
}

func openPB(x *wire.Open) *pb.Open {
	return &pb.Open{Cohort: specPB(&x.Spec), Auth: authPB(x.Auth)}
}

func TestOpenAgainstGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawOpen(t)
		differs(t, x.Append(nil), openPB(x), mustParse(t, wire.ParseFirst), wire.First{Open: x})
	})
}

// Of two cohorts the last counts, whole: nothing of the first is merged in.
func TestOpenLastCohortCounts(t *testing.T) {
	one := wire.Spec{
		Topic: wire.Topic{1}, Binding: wire.BindingAnchor, Regime: wire.RegimeExplicitSingle,
		Admin: seq(0, 20), Publishers: [][]byte{seq(0, 20)}, History: true, Closed: true,
	}
	two := wire.Spec{Topic: wire.Topic{2}}
	first, err := wire.ParseFirst(field(field(nil, 1, one.Append(nil)), 1, two.Append(nil)))
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(&wire.Open{Spec: two}, first.Open); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	// The first still has to decode.
	_, err = wire.ParseFirst(field(field(nil, 1, []byte{0x80}), 1, two.Append(nil)))
	wantSyntax(t, err, 100)
}
