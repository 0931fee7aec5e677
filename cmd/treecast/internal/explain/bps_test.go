package explain_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"treecast/cmd/treecast/internal/explain"
	"treecast/wire"
	"treecast/wire/beef"
	"treecast/wire/soc"
)

func frame(msg []byte) []byte { return wire.AppendFrame(nil, msg) }

// chunk is a signed chunk of a feed.
func chunk(t *testing.T) *wire.Soc {
	t.Helper()
	key, err := soc.KeyFromBytes([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	id := soc.FeedID(make([]byte, 32), 9)
	payload := []byte("payload")
	span := soc.Span(len(payload))
	sig, err := key.Sign(&id, span[:], payload)
	if err != nil {
		t.Fatal(err)
	}
	owner := key.Owner()
	return &wire.Soc{
		ID: id[:], Owner: owner[:], Signature: sig[:], Span: span[:], Payload: payload, Index: 9, HasIndex: true,
	}
}

// bpsFrames has one of every message, with the kind it is explained as.
func bpsFrames(t *testing.T) map[string][]byte {
	topic, admin := wire.Topic{1}, make([]byte, 20)
	spec := wire.Spec{Topic: topic, Binding: wire.BindingFeedTopic, Regime: wire.RegimeExplicitSingle, Admin: admin}
	auth := &wire.Auth{Owner: wire.Owner{2}, Proof: make([]byte, 65)}
	subscribe := wire.Subscribe{Topic: topic, Auth: auth, HasBand: true, Band: 3, Relays: true, Version: 1}
	open := wire.Open{Spec: spec, Auth: auth}
	candidates := []wire.Candidate{{Addr: wire.Overlay{3}, Depth: 2, HasBand: true, Band: 3, Underlays: [][]byte{{4, 127, 0, 0, 1, 6, 0, 9}}}}
	hello := func(member byte, msg []byte) []byte {
		return frame(protowire.AppendBytes([]byte{member<<3 | 2}, msg))
	}
	ok := wire.Ack{Status: wire.StatusOK, Spec: &spec, HasBand: true, Band: 2, Heads: []wire.Head{{Owner: wire.Owner{2}, Index: 7}}}
	full := wire.Ack{Status: wire.StatusFull, Candidates: candidates}
	return map[string][]byte{
		"Subscribe":          frame(subscribe.Append(nil)),
		"Subscribe/foreign":  frame((&wire.Subscribe{Topic: topic}).Append(nil)),
		"Open":               frame(open.Append(nil)),
		"Hello":              hello(2, subscribe.Append(nil)),
		"Hello/open":         hello(1, open.Append(nil)),
		"Ack":                frame(ok.Append(nil)),
		"Ack/full":           frame(full.Append(nil)),
		"Broadcast":          frame(wire.AppendSoc(nil, chunk(t))),
		"Broadcast/probe":    frame(wire.AppendProbe(nil, &wire.Probe{Depth: 2, ID: 5, Budget: 4, Asker: wire.Overlay{9}, HasAsker: true})),
		"Broadcast/found":    frame(wire.AppendFound(nil, &wire.Found{ID: 5, Candidates: candidates})),
		"Broadcast/reparent": frame(wire.AppendReparent(nil, &wire.Reparent{To: topic[:], Reason: wire.ReasonLeaving})),
	}
}

func TestEveryMessageIsExplained(t *testing.T) {
	for name, b := range bpsFrames(t) {
		t.Run(name, func(t *testing.T) {
			kind, _, _ := strings.Cut(name, "/")
			r := valid(t, b, "BPS "+kind, 1)
			for _, f := range r.Units[0].Fields {
				if strings.Contains(f.Name, "unknown") {
					t.Errorf("field %+v", f)
				}
			}
			two := append(append([]byte{}, b...), b...)
			valid(t, two, "BPS "+kind, 2)
		})
	}
}

func TestBPSFaultsHaveTheirOffset(t *testing.T) {
	f := bpsFrames(t)
	invalid(t, append([]byte{0x80, 0x00}, f["Ack"]...), explain.Options{Kind: explain.BPS}, 0)
	invalid(t, []byte{0x00}, explain.Options{Kind: explain.BPS}, 0)
	invalid(t, []byte{0x81, 0x80, 0x01}, explain.Options{Kind: explain.BPS}, 0) // 16385
	cut := f["Broadcast"][:40]
	invalid(t, cut, explain.Options{}, 2) // behind the length
	zero := frame([]byte{1 << 3, 0})      // Ack of status 0
	invalid(t, zero, explain.Options{}, 1)
	tag := frame([]byte{1 << 3, 1, 0}) // a tag of field number 0 behind the status
	invalid(t, tag, explain.Options{}, 3)

	forged := chunk(t)
	forged.Owner[0] ^= 1
	b := frame(wire.AppendSoc(nil, forged))
	r := explain.Explain(b, explain.Options{})
	if r.Fault == nil || b[r.Fault.Offset] != 3<<3|2 { // the signature's tag
		t.Errorf("forged: %v", r.Fault)
	}
	long := chunk(t)
	long.Span = append([]byte{}, long.Span...)
	long.Span[0]++
	b = frame(wire.AppendSoc(nil, long))
	if r := explain.Explain(b, explain.Options{}); r.Fault == nil || b[r.Fault.Offset] != 4<<3|2 {
		t.Errorf("span: %v", r.Fault)
	}
}

func TestAnInvalidSpecIsANote(t *testing.T) {
	open := wire.Open{Spec: wire.Spec{Topic: wire.Topic{1}, Binding: wire.BindingFeedTopic, Regime: wire.RegimeExplicitSingle}}
	r := valid(t, frame(open.Append(nil)), "BPS Open", 1)
	if len(r.Units[0].Notes) != 1 || !strings.Contains(r.Units[0].Notes[0], "REJECTED") {
		t.Errorf("notes %q", r.Units[0].Notes)
	}
}

// FuzzExplain: any bytes are explained, in bounded time and space, and a fault
// lies in them.
func FuzzExplain(f *testing.F) {
	for i := range explain.Kinds {
		for _, s := range []string{
			"", "\xbe\xef\x01\x01\x01a\x00\x00\x00\x04\x01\x00\xbe\xef", "\xe3\xe1\xf3\xe8\x02\xbf\x09\x01",
			"\x01\x01\x01\x01", "\x02\x08\x02",
		} {
			f.Add(uint8(i), []byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		if len(b) <= 1024 { // longer input is more of the same
			check(t, b, explain.Kinds[int(kind)%len(explain.Kinds)])
		}
	})
}

func check(t *testing.T, b []byte, k explain.Kind) {
	t.Helper()
	r := explain.Explain(b, explain.Options{Kind: k})
	if r.Fault != nil && (r.Fault.Offset < 0 || r.Fault.Offset > len(b)) {
		t.Fatalf("%s: fault at %d of %d bytes", k, r.Fault.Offset, len(b))
	}
	if r.Fault == nil && len(b) == 0 {
		t.Fatalf("%s: no bytes are valid", k)
	}
	pos := 0
	for _, u := range r.Units {
		if u.Offset != pos && r.Fault == nil || u.Length < 0 || u.Offset+u.Length > len(b) {
			t.Fatalf("%s: unit %q of %d bytes at %d, want %d", k, u.Kind, u.Length, u.Offset, pos)
		}
		pos = u.Offset + u.Length
		for _, field := range u.Fields {
			if field.Offset < u.Offset || field.Offset+field.Length > len(b) {
				t.Fatalf("%s: field %+v outside of %d bytes", k, field, len(b))
			}
		}
	}
}

func TestExplainBearsDamagedInput(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	record, err := beef.AppendRecord(nil, []string{"tm_a", "tm_b"}, []byte{1, 0, 0xBE, 0xEF, 5})
	if err != nil {
		t.Fatal(err)
	}
	inputs := [][]byte{record, beef.AppendDelivery(nil, &beef.Delivery{Payload: record})}
	inputs = append(inputs, beef.AppendFrame(nil, &beef.Frame{Payload: record}))
	for _, b := range bpsFrames(t) {
		inputs = append(inputs, b)
	}
	for range 3000 {
		b := append([]byte{}, inputs[rng.IntN(len(inputs))]...)
		for range rng.IntN(4) {
			b[rng.IntN(len(b))] = byte(rng.Uint32())
		}
		b = b[:rng.IntN(len(b)+1)]
		for _, k := range explain.Kinds {
			check(t, b, k)
		}
		if t.Failed() {
			t.Fatalf("seed %d, input %x", seed, b)
		}
	}
}
