package wire_test

import (
	"testing"

	"pgregory.net/rapid"

	"treecast/wire"
)

// mustBroadcast parses into a used value, which must leave nothing behind.
func mustBroadcast(t *rapid.T, msg []byte) wire.Broadcast {
	b := wire.Broadcast{
		Kind: wire.KindFound, Soc: wire.Soc{ID: seq(0, 1), HasIndex: true, Unknown: 7}, Probe: wire.Probe{Depth: 3},
		Reparent: wire.Reparent{To: seq(0, 1)}, Found: wire.Found{Candidates: []wire.Candidate{{}}},
	}
	if err := b.Parse(msg); err != nil {
		t.Fatalf("wire refuses %x: %v", msg, err)
	}
	return b
}

func TestBroadcastNone(t *testing.T) {
	for name, msg := range map[string][]byte{
		"nothing":            nil,
		"reserved member":    field(nil, 5, seq(0, 40)),
		"unknown field":      varint(nil, 100, 1),
		"member of a number": varint(nil, 1, 1),
	} {
		b := wire.Broadcast{Kind: wire.KindSoc, Soc: *chunk()}
		if err := b.Parse(msg); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := diff(wire.Broadcast{}, b); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// Of several members, of one kind or of several, the last counts whole.
func TestBroadcastLastMemberCounts(t *testing.T) {
	members := []struct {
		msg  []byte
		want wire.Broadcast
	}{
		{
			wire.AppendSoc(nil, &wire.Soc{ID: seq(0, 32), Payload: seq(0, 3)}),
			wire.Broadcast{Kind: wire.KindSoc, Soc: wire.Soc{ID: seq(0, 32), Payload: seq(0, 3)}},
		},
		{
			wire.AppendSoc(nil, &wire.Soc{Owner: seq(0, 20), HasIndex: true, Index: 4}),
			wire.Broadcast{Kind: wire.KindSoc, Soc: wire.Soc{Owner: seq(0, 20), HasIndex: true, Index: 4}},
		},
		{
			wire.AppendReparent(nil, &wire.Reparent{To: seq(0, 32)}),
			wire.Broadcast{Kind: wire.KindReparent, Reparent: wire.Reparent{To: seq(0, 32)}},
		},
		{
			wire.AppendReparent(nil, &wire.Reparent{Reason: wire.ReasonLeaving}),
			wire.Broadcast{Kind: wire.KindReparent, Reparent: wire.Reparent{Reason: wire.ReasonLeaving}},
		},
		{
			wire.AppendProbe(nil, &wire.Probe{Depth: 3, HasAsker: true, Asker: wire.Overlay{1}}),
			wire.Broadcast{Kind: wire.KindProbe, Probe: wire.Probe{Depth: 3, HasAsker: true, Asker: wire.Overlay{1}}},
		},
		{
			wire.AppendProbe(nil, &wire.Probe{ID: 9}),
			wire.Broadcast{Kind: wire.KindProbe, Probe: wire.Probe{ID: 9}},
		},
		{
			wire.AppendFound(nil, &wire.Found{ID: 7, Candidates: []wire.Candidate{{Addr: wire.Overlay{1}}}}),
			wire.Broadcast{Kind: wire.KindFound, Found: wire.Found{ID: 7, Candidates: []wire.Candidate{{Addr: wire.Overlay{1}}}}},
		},
		{
			wire.AppendFound(nil, &wire.Found{}),
			wire.Broadcast{Kind: wire.KindFound},
		},
	}
	for i, first := range members {
		for j, second := range members {
			var b wire.Broadcast
			if err := b.Parse(append(append([]byte(nil), first.msg...), second.msg...)); err != nil {
				t.Fatal(err)
			}
			want := second.want
			if want.Kind == wire.KindSoc {
				want.Soc.Unknown = len(first.msg)
			}
			if d := diff(want, b); d != "" {
				t.Errorf("members %d and %d (-want +got):\n%s", i, j, d)
			}
		}
	}
}

// A relay forwards all members, so the replaced ones have to decode, too; and a
// value that failed is empty.
func TestBroadcastBrokenMember(t *testing.T) {
	good := wire.AppendSoc(nil, chunk())
	for _, broken := range [][]byte{
		field(nil, 1, []byte{0x80}), field(nil, 2, []byte{0x80}), field(nil, 3, []byte{0x80}),
		field(nil, 4, []byte{0x80}), field(nil, 4, field(nil, 1, []byte{0x80})),
		{0x80},
		{5<<3 | 3, 5<<3 | 4},
	} {
		for _, msg := range [][]byte{
			append(append([]byte(nil), good...), broken...),
			append(append([]byte(nil), broken...), good...),
		} {
			b := wire.Broadcast{Kind: wire.KindProbe}
			wantSyntax(t, b.Parse(msg), len(msg))
			if d := diff(wire.Broadcast{}, b); d != "" {
				t.Errorf("after an error: %s", d)
			}
		}
	}
}
