package wire_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "treecast/proto"
	"treecast/wire"
)

// The generated code is the oracle of the hand-written parsers: the functions
// below draw random values of wire and say what they are in protobuf.

// differs checks one value in both directions: what wire appends is want to
// protobuf, and what protobuf writes, its fields in any order and a field of the
// future among them, is the value to wire.
func differs(t *rapid.T, appended []byte, want proto.Message, parse func([]byte) any, value any) {
	got := want.ProtoReflect().New().Interface()
	if err := proto.Unmarshal(appended, got); err != nil {
		t.Fatalf("protobuf refuses %x: %v", appended, err)
	}
	if !proto.Equal(got, want) {
		t.Fatalf("protobuf reads %v, want %v", got, want)
	}
	msg, err := proto.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(value, parse(msg)); d != "" {
		t.Fatalf("protobuf's %x (-want +got):\n%s", msg, d)
	}
	if d := diff(value, parse(shuffle(t, msg))); d != "" {
		t.Fatalf("shuffled (-want +got):\n%s", d)
	}
}

// diff tells want and got apart, nil from empty included. A [wire.Spec] is
// compared by its fields and not by its own Equal, which is under test.
func diff[T any](want, got T) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	if d := cmp.Diff(want, got); d != "" {
		return d
	}
	return fmt.Sprintf("-%#v\n+%#v", want, got)
}

// shuffle moves the fields of msg about, those of equal numbers keeping their
// order, and adds unknown ones.
func shuffle(t *rapid.T, msg []byte) []byte {
	byNumber := map[protowire.Number][]byte{}
	var numbers []protowire.Number
	for len(msg) > 0 {
		number, _, n := protowire.ConsumeField(msg)
		if byNumber[number] == nil {
			numbers = append(numbers, number)
		}
		byNumber[number] = append(byNumber[number], msg[:n]...)
		msg = msg[n:]
	}
	var out []byte
	for _, number := range rapid.Permutation(numbers).Draw(t, "order") {
		out = append(out, unknown(t)...)
		out = append(out, byNumber[number]...)
	}
	return append(out, unknown(t)...)
}

// unknown draws no field, or one that no message has.
func unknown(t *rapid.T) []byte {
	number := protowire.Number(rapid.SampledFrom([]int{9, 50, 99, 120, 1<<29 - 1}).Draw(t, "number"))
	switch rapid.IntRange(0, 4).Draw(t, "unknown") {
	case 1:
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), rapid.Uint64().Draw(t, "varint"))
	case 2:
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), drawBytes(t, 0, 9))
	case 3:
		return protowire.AppendFixed32(protowire.AppendTag(nil, number, protowire.Fixed32Type), 7)
	case 4:
		return protowire.AppendFixed64(protowire.AppendTag(nil, number, protowire.Fixed64Type), 7)
	}
	return nil
}

// drawBytes draws bytes; none are nil.
func drawBytes(t *rapid.T, minLen, maxLen int) []byte {
	b := rapid.SliceOfN(rapid.Byte(), minLen, maxLen).Draw(t, "bytes")
	if len(b) == 0 {
		return nil
	}
	return b
}

// drawSized draws a field that should have n bytes and often does.
func drawSized(t *rapid.T, n int) []byte {
	if rapid.Bool().Draw(t, "right size") {
		return drawBytes(t, n, n)
	}
	return drawBytes(t, 0, n+1)
}

func drawOverlay(t *rapid.T) wire.Overlay { return wire.Overlay(drawBytes(t, 32, 32)) }

func drawAuth(t *rapid.T) *wire.Auth {
	if rapid.Bool().Draw(t, "no auth") {
		return nil
	}
	return &wire.Auth{
		Owner: wire.Owner(drawBytes(t, 20, 20)),
		ID:    drawSized(t, 32),
		Proof: drawSized(t, 65),
	}
}

func authPB(x *wire.Auth) *pb.PublisherAuth {
	if x == nil {
		return nil
	}
	return &pb.PublisherAuth{Owner: x.Owner[:], Id: x.ID, Proof: x.Proof}
}

func drawSpec(t *rapid.T) wire.Spec {
	x := wire.Spec{
		Topic:   wire.Topic(drawBytes(t, 32, 32)),
		Binding: wire.Binding(rapid.Byte().Draw(t, "binding")),
		Regime:  wire.Regime(rapid.Byte().Draw(t, "regime")),
		History: rapid.Bool().Draw(t, "history"),
		Admin:   drawSized(t, 20),
		Closed:  rapid.Bool().Draw(t, "closed"),
	}
	for range rapid.IntRange(0, 5).Draw(t, "publishers") {
		x.Publishers = append(x.Publishers, append([]byte{}, drawSized(t, 20)...))
	}
	return x
}

func specPB(x *wire.Spec) *pb.CohortSpec {
	if x == nil {
		return nil
	}
	return &pb.CohortSpec{
		Topic: x.Topic[:], Binding: pb.TopicBinding(x.Binding), Publishers: pb.PublisherRegime(x.Regime),
		History: x.History, Admin: x.Admin, PublisherList: x.Publishers, Closed: x.Closed,
	}
}

func drawCandidates(t *rapid.T) (list []wire.Candidate) {
	for range rapid.IntRange(0, wire.MaxCandidates).Draw(t, "candidates") {
		x := wire.Candidate{
			Addr:      drawOverlay(t),
			Depth:     rapid.Uint32().Draw(t, "depth"),
			Displaces: rapid.Bool().Draw(t, "displaces"),
		}
		for range rapid.IntRange(0, wire.MaxUnderlays).Draw(t, "underlays") {
			x.Underlays = append(x.Underlays, drawBytes(t, 1, 60))
		}
		x.HasBand, x.Band = drawPresent(t)
		list = append(list, x)
	}
	return list
}

func drawPresent(t *rapid.T) (bool, uint32) {
	if rapid.Bool().Draw(t, "absent") {
		return false, 0
	}
	return true, rapid.Uint32().Draw(t, "present")
}

func candidatesPB(list []wire.Candidate) (out []*pb.Candidate) {
	for _, x := range list {
		out = append(out, &pb.Candidate{
			Addr: x.Addr[:], Depth: x.Depth, Underlays: x.Underlays,
			Band: presentPB(x.HasBand, x.Band), Displaces: x.Displaces,
		})
	}
	return out
}

func presentPB[T any](has bool, v T) *T {
	if !has {
		return nil
	}
	return &v
}

// field appends a bytes field to dst.
func field(dst []byte, number protowire.Number, val []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, number, protowire.BytesType), val)
}

// varint appends a varint field to dst.
func varint(dst []byte, number protowire.Number, val uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, number, protowire.VarintType), val)
}

// seq returns n bytes that count up from start.
func seq(start byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = start + byte(i)
	}
	return b
}

// mustParse adapts a parser for differs.
func mustParse[T any](t *rapid.T, parse func([]byte) (T, error)) func([]byte) any {
	return func(msg []byte) any {
		x, err := parse(msg)
		if err != nil {
			t.Fatalf("wire refuses %x: %v", msg, err)
		}
		return x
	}
}

// everyPrefix checks that parse takes some of msg's prefixes and refuses the
// others as malformed, each time as protobuf does.
func everyPrefix(t *testing.T, msg []byte, oracle proto.Message, parse func([]byte) error) {
	t.Helper()
	for cut := range len(msg) + 1 {
		err := parse(msg[:cut])
		if proto.Unmarshal(msg[:cut], oracle) == nil {
			if err != nil {
				t.Errorf("cut at %d: %v, and protobuf reads it", cut, err)
			}
			continue
		}
		wantSyntax(t, err, cut)
	}
}
