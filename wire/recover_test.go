package wire_test

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	pb "treecast/proto"
	"treecast/wire"
)

func drawRange(t *rapid.T, longest uint64) wire.IndexRange {
	from := rapid.Uint64Range(0, wire.MaxIndex).Draw(t, "from")
	return wire.IndexRange{From: from, To: min(from+rapid.Uint64Range(0, longest-1).Draw(t, "more"), wire.MaxIndex)}
}

func drawRanges(t *rapid.T) (list []wire.IndexRange) {
	for range rapid.IntRange(0, 5).Draw(t, "ranges") {
		list = append(list, drawRange(t, wire.MaxIndex))
	}
	return list
}

func rangesPB(list []wire.IndexRange) (out []*pb.IndexRange) {
	for _, r := range list {
		out = append(out, &pb.IndexRange{From: r.From, To: r.To})
	}
	return out
}

func TestRecoverRequestAgainstGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := wire.RecoverRequest{
			Topic: wire.Topic(drawBytes(t, 32, 32)), Owner: wire.Owner(drawBytes(t, 20, 20)), Range: drawRange(t, wire.MaxRecover),
		}
		want := &pb.RecoverRequest{Topic: x.Topic[:], Owner: x.Owner[:], From: x.Range.From, To: x.Range.To}
		differs(t, x.Append(nil), want, mustParse(t, wire.ParseRecoverRequest), x)
	})
}

func mustAnswer(t *rapid.T, msg []byte) any {
	var x wire.RecoverAnswer
	if err := x.Parse(msg); err != nil {
		t.Fatalf("wire refuses %x: %v", msg, err)
	}
	return x
}

func TestRecoverEndAgainstGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := wire.RecoverEnd{Missing: drawRanges(t), Pending: drawRanges(t), Void: drawRanges(t)}
		want := &pb.RecoverAnswer{Frame: &pb.RecoverAnswer_End{End: &pb.RecoverEnd{
			Missing: rangesPB(x.Missing), Pending: rangesPB(x.Pending), Void: rangesPB(x.Void),
		}}}
		parse := func(msg []byte) any { return mustAnswer(t, msg) }
		differs(t, x.Append(nil), want, parse, wire.RecoverAnswer{End: &x})
	})
}

// A frame of the tree with a chunk is a frame of an answer with it.
func TestRecoverAnswerIsTheTreesFrame(t *testing.T) {
	msg := wire.AppendSoc(nil, chunk())
	var b wire.Broadcast
	if err := b.Parse(msg); err != nil {
		t.Fatal(err)
	}
	end := wire.RecoverEnd{Missing: []wire.IndexRange{{From: 1, To: 2}}}
	for name, frame := range map[string][]byte{
		"alone":                  msg,
		"behind another member":  append(field(nil, 3, []byte{8, 1}), msg...),
		"behind a reparent":      append(wire.AppendReparent(nil, &wire.Reparent{Reason: 1}), msg...),
		"behind an end, ignored": append(field(nil, 2, nil), msg...),
	} {
		var x wire.RecoverAnswer
		if err := x.Parse(frame); err != nil || x.End != nil || !bytes.Equal(x.Soc.Payload, b.Soc.Payload) || x.Soc.Unknown != len(frame)-len(msg) {
			t.Errorf("%s: %+v, %v", name, x, err)
		}
	}
	var x wire.RecoverAnswer
	if err := x.Parse(end.Append(bytes.Clone(msg))); err != nil || x.End == nil || len(x.End.Missing) != 1 {
		t.Errorf("an end behind a chunk: %+v, %v", x, err)
	}
	for name, frame := range map[string][]byte{
		"neither":                    {8, 1},
		"empty":                      {},
		"a probe counts":             append(bytes.Clone(msg), field(nil, 3, nil)...),
		"a range cut":                field(nil, 2, field(nil, 1, []byte{8})),
		"a chunk that does not read": field(nil, 1, []byte{0x80}),
	} {
		if err := x.Parse(frame); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRecoverEveryPrefix(t *testing.T) {
	end := wire.RecoverEnd{Missing: []wire.IndexRange{{From: 1, To: 300}}, Void: []wire.IndexRange{{From: 5, To: 6}, {From: 0, To: wire.MaxIndex}}}
	msg := end.Append(nil)
	for cut := 1; cut < len(msg); cut++ {
		wantSyntax(t, new(wire.RecoverAnswer).Parse(msg[:cut]), cut)
	}
	req := wire.RecoverRequest{Topic: wire.Topic{1}, Owner: wire.Owner{2}, Range: wire.IndexRange{From: 300, To: 400}}
	msg = req.Append(nil)
	for cut := range len(msg) {
		_, err := wire.ParseRecoverRequest(msg[:cut])
		if cut == 34+22 { // topic and owner, and the range that is all zeros
			if err != nil {
				t.Error(err)
			}
			continue
		}
		wantSyntax(t, err, cut)
	}
}

func TestRecoverRequestBounds(t *testing.T) {
	for _, tc := range []struct {
		from, to uint64
		ok       bool
	}{
		{0, 0, true},
		{5, 4, false},
		{7, 7 + wire.MaxRecover - 1, true},
		{7, 7 + wire.MaxRecover, false},
		{wire.MaxIndex, wire.MaxIndex, true},
		{wire.MaxIndex, wire.MaxIndex + 1, false},
		{0, 1<<64 - 1, false},
	} {
		x := wire.RecoverRequest{Topic: wire.Topic{1}, Owner: wire.Owner{1}, Range: wire.IndexRange{From: tc.from, To: tc.to}}
		if _, err := wire.ParseRecoverRequest(x.Append(nil)); (err == nil) != tc.ok || err != nil && !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%d..%d: %v", tc.from, tc.to, err)
		}
	}
}

// A full end fits a frame; what is beyond its bounds is not kept, and a range
// that is none is left out.
func TestRecoverEndBounds(t *testing.T) {
	var list []wire.IndexRange
	for i := range uint64(wire.MaxRanges) {
		list = append(list, wire.IndexRange{From: wire.MaxIndex - 2*i - 1, To: wire.MaxIndex - 2*i})
	}
	full := wire.RecoverEnd{Missing: list, Pending: list, Void: list}
	if n := len(full.Append(nil)); n > wire.MaxMessage {
		t.Errorf("a full end has %d bytes", n)
	}
	more := wire.RecoverEnd{Missing: append([]wire.IndexRange{{From: 3, To: 2}, {From: 0, To: wire.MaxIndex + 1}}, append(list, list...)...)}
	var x wire.RecoverAnswer
	if err := x.Parse(more.Append(nil)); err != nil || len(x.End.Missing) != wire.MaxRanges || x.End.Missing[0] != list[0] {
		t.Errorf("%v", err)
	}
}
