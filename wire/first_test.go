package wire_test

import (
	"bytes"
	"runtime"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "treecast/proto"
	"treecast/wire"
)

func TestParseFirstRules(t *testing.T) {
	topic := seq(1, 32)
	spec := field(nil, 1, topic)
	open := field(nil, 1, spec)
	subscribe := field(nil, 1, topic)
	wantOpen := &wire.Open{Spec: wire.Spec{Topic: wire.Topic(topic)}}
	wantSubscribe := &wire.Subscribe{Topic: wire.Topic(topic)}

	tests := []struct {
		name string
		msg  []byte
		want wire.First // zero: malformed
	}{
		// Field 1 of exactly 32 bytes.
		{"subscribe", subscribe, wire.First{Subscribe: wantSubscribe}},
		{"subscribe of a later revision", field(varint(subscribe, 9, 1), 77, topic), wire.First{Subscribe: wantSubscribe}},
		{"topic behind other fields", append(varint(nil, 200, 1), subscribe...), wire.First{Subscribe: wantSubscribe}},
		{"two topics", field(field(nil, 1, seq(9, 32)), 1, topic), wire.First{Subscribe: wantSubscribe}},
		{"topic of 31", field(nil, 1, topic[:31]), wire.First{}},
		{"topic of 33", field(nil, 1, seq(1, 33)), wire.First{}},
		{"topic of 32, then of 31", field(subscribe, 1, topic[:31]), wire.First{}},
		{"subscribe with a broken auth", field(subscribe, 2, []byte{0x80}), wire.First{}},

		// A cohort with a topic of 32 bytes.
		{"open", open, wire.First{Open: wantOpen}},
		{"open of a later revision", varint(field(nil, 1, varint(spec, 9, 1)), 9, 1), wire.First{Open: wantOpen}},
		{"cohort topic of 31", field(nil, 1, field(nil, 1, topic[:31])), wire.First{}},
		{"cohort topic of 33", field(nil, 1, field(nil, 1, seq(1, 33))), wire.First{}},
		{"cohort without topic", field(nil, 1, varint(nil, 2, 4)), wire.First{}},
		{"broken cohort", field(nil, 1, append(spec, 0x80)), wire.First{}},
		{"open with a broken auth", field(open, 2, []byte{0x80}), wire.First{}},
		{
			"invalid cohort", field(nil, 1, varint(field(field(spec, 5, seq(0, 3)), 6, nil), 3, 99)),
			wire.First{Open: &wire.Open{Spec: wire.Spec{
				Topic: wire.Topic(topic), Regime: 99, Admin: seq(0, 3), Publishers: [][]byte{{}},
			}}},
		},

		// A chunk looks like a cohort with nonsense in it: REJECTED.
		{"a chunk", wire.AppendSoc(nil, chunk()), wire.First{Open: &wire.Open{Spec: wire.Spec{
			Topic: wire.Topic(chunk().ID), Admin: chunk().Payload,
		}}}},

		// Wrapped.
		{"hello with open", field(nil, 1, open), wire.First{Open: wantOpen, Wrapped: true}},
		{"hello with subscribe", field(nil, 2, subscribe), wire.First{Subscribe: wantSubscribe, Wrapped: true}},
		{"hello of a later revision", varint(field(nil, 2, subscribe), 3, 1), wire.First{Subscribe: wantSubscribe, Wrapped: true}},
		{"hello with both", field(field(nil, 1, open), 2, subscribe), wire.First{}},
		{"hello with two", field(field(nil, 2, subscribe), 2, subscribe), wire.First{}},
		{"hello with a number, too", field(varint(nil, 1, 1), 2, subscribe), wire.First{}},
		{"hello with a number", varint(nil, 2, 1), wire.First{}},
		{"hello with open as subscribe", field(nil, 2, open), wire.First{}},
		{"hello in a hello", field(nil, 1, field(nil, 1, open)), wire.First{}},
		{"hello with an empty message", field(nil, 1, nil), wire.First{}},
		{"hello with neither", varint(nil, 3, 1), wire.First{}},
		{"hello with a broken open", field(nil, 1, append(slices.Clone(open), 0xff)), wire.First{}},
		{"hello with a broken subscribe", field(nil, 2, append(slices.Clone(subscribe), 0xff)), wire.First{}},
		// A Subscribe in the place of an Open is what an Open with a bare cohort is.
		{"subscribe in field 1", field(nil, 1, subscribe), wire.First{Open: wantOpen}},

		// Neither.
		{"nothing", nil, wire.First{}},
		{"text", []byte("GET / HTTP/1.1\r\n"), wire.First{}},
		{"zeros", make([]byte, 40), wire.First{}},
		{"an ack", varint(nil, 1, 1), wire.First{}},
		{"group", append(slices.Clone(subscribe), 9<<3|3, 9<<3|4), wire.First{}},
		{"field 0", varint(slices.Clone(subscribe), 0, 1), wire.First{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := wire.ParseFirst(tt.msg)
			if tt.want == (wire.First{}) {
				wantSyntax(t, err, len(tt.msg))
			} else if err != nil {
				t.Fatal(err)
			}
			if d := diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// A generated Hello of either kind is read.
func TestParseFirstGeneratedHello(t *testing.T) {
	s := &wire.Subscribe{Topic: wire.Topic{3}, Auth: &wire.Auth{Owner: wire.Owner{4}}, HasBand: true, Band: 7, Version: 1}
	o := &wire.Open{Spec: wire.Spec{Topic: wire.Topic{5}, Binding: wire.BindingOwner, Regime: wire.RegimeAll}}
	for _, tt := range []struct {
		hello *pb.Hello
		want  wire.First
	}{
		{&pb.Hello{Frame: &pb.Hello_Subscribe{Subscribe: subscribePB(s)}}, wire.First{Subscribe: s, Wrapped: true}},
		{&pb.Hello{Frame: &pb.Hello_Open{Open: openPB(o)}}, wire.First{Open: o, Wrapped: true}},
	} {
		msg, err := proto.Marshal(tt.hello)
		if err != nil {
			t.Fatal(err)
		}
		got, err := wire.ParseFirst(msg)
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(tt.want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
}

// The values live longer than the frame they came in.
func TestParseFirstCopies(t *testing.T) {
	for name, msg := range map[string][]byte{
		"open":      (&wire.Open{Spec: fullSpec(), Auth: fullAuth()}).Append(nil),
		"subscribe": (&wire.Subscribe{Topic: wire.Topic{1}, Auth: fullAuth()}).Append(nil),
	} {
		want, err := wire.ParseFirst(bytes.Clone(msg))
		if err != nil {
			t.Fatal(err)
		}
		got, err := wire.ParseFirst(msg)
		if err != nil {
			t.Fatal(err)
		}
		clear(msg)
		if d := diff(want, got); d != "" {
			t.Errorf("%s changed with its message:\n%s", name, d)
		}
	}
}

func fullAuth() *wire.Auth {
	return &wire.Auth{Owner: wire.Owner(seq(1, 20)), ID: seq(2, 32), Proof: seq(3, 65)}
}

func fullSpec() wire.Spec {
	return wire.Spec{
		Topic: wire.Topic(seq(4, 32)), Binding: wire.BindingFeedTopic, Regime: wire.RegimeExplicitList, History: true,
		Admin: seq(5, 20), Publishers: [][]byte{seq(6, 20), seq(7, 20)}, Closed: true,
	}
}

// However a frame is filled up, reading it allocates a small multiple of it.
func TestHostileFramesAllocateLittle(t *testing.T) {
	topic := field(nil, 1, seq(1, 32))
	cohort := bytes.Clone(topic)
	for range wire.MaxPublishers + 1 {
		cohort = field(cohort, 6, nil)
	}
	candidate := field(nil, 1, seq(1, 32))
	for range wire.MaxUnderlays {
		candidate = field(candidate, 100, []byte{1})
	}
	fill := func(start, unit []byte) []byte {
		return append(bytes.Clone(start), bytes.Repeat(unit, (wire.MaxMessage-len(start))/len(unit))...)
	}
	full := varint(nil, 1, uint64(wire.StatusFull))
	first := func(msg []byte) error { _, err := wire.ParseFirst(msg); return err }
	ack := func(msg []byte) error { _, err := wire.ParseAck(msg); return err }
	broadcast := func(msg []byte) error { return new(wire.Broadcast).Parse(msg) }
	auth := field(nil, 2, field(nil, 1, []byte{1}))

	for _, tt := range []struct {
		name  string
		parse func([]byte) error
		msg   []byte
	}{
		{"auths", first, fill(topic, auth)},
		{"empty auths", first, fill(topic, field(nil, 2, nil))},
		{"cohorts", first, fill(nil, field(nil, 1, cohort))},
		{"cohorts and auths", first, fill(nil, append(field(nil, 1, cohort), auth...))},
		{"publishers", first, field(nil, 1, fill(topic, field(nil, 6, nil))[:wire.MaxMessage-4])},
		{"wrapped publishers", first, field(nil, 1, field(nil, 1, fill(topic, field(nil, 6, nil))[:wire.MaxMessage-8]))},
		{"cut", first, fill(nil, []byte{0x80})},
		{"groups", first, fill(nil, []byte{9<<3 | 3})},
		{"unknown", first, fill(topic, varint(nil, 15, 0))},
		{"cohorts of an ack", ack, fill(varint(nil, 1, uint64(wire.StatusOK)), field(nil, 2, cohort))},
		{"candidates", ack, fill(full, field(nil, 3, candidate))},
		{"empty candidates", ack, fill(full, field(nil, 6, nil))},
		{"heads", ack, fill(full, field(nil, 101, field(nil, 1, seq(0, 20))))},
		{"founds", broadcast, fill(nil, field(nil, 4, field(nil, 1, candidate)))},
		{"empty chunks", broadcast, fill(nil, field(nil, 1, nil))},
		{"probes", broadcast, fill(nil, field(nil, 3, varint(nil, 1, 1)))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if len(tt.msg) > wire.MaxMessage {
				t.Fatalf("%d bytes", len(tt.msg))
			}
			const runs = 50
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range runs {
				_ = tt.parse(tt.msg)
			}
			runtime.ReadMemStats(&after)
			if n := (after.TotalAlloc - before.TotalAlloc) / runs; n > 2*wire.MaxMessage {
				t.Errorf("%d bytes allocated a frame", n)
			}
		})
	}
}

func BenchmarkParseFirst(b *testing.B) {
	for name, msg := range map[string][]byte{
		"subscribe": (&wire.Subscribe{Topic: wire.Topic{1}, Version: 1}).Append(nil),
		"open":      (&wire.Open{Spec: fullSpec(), Auth: fullAuth()}).Append(nil),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := wire.ParseFirst(msg); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Numbers are cut to their field's width, as protobuf cuts them.
func TestNumbersAreCut(t *testing.T) {
	msg := protowire.AppendVarint(protowire.AppendTag(field(nil, 1, seq(0, 32)), 103, protowire.VarintType), 1<<40|5)
	first, err := wire.ParseFirst(msg)
	if err != nil || first.Subscribe.Round != 5 {
		t.Errorf("got %+v, %v, want round 5", first.Subscribe, err)
	}
}
