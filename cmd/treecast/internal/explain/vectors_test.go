package explain_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"treecast/cmd/treecast/internal/explain"
)

// unhex decodes a vector's hexadecimal.
func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func loadVectors(t *testing.T, path string, into any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

// valid explains b, wants every unit to be of the kind, and no fault.
func valid(t *testing.T, b []byte, kind string, units int) *explain.Report {
	t.Helper()
	r := explain.Explain(b, explain.Options{})
	if r.Fault != nil {
		t.Fatalf("%d bytes taken for %q: %v", len(b), r.Units[0].Kind, r.Fault)
	}
	if len(r.Units) != units {
		t.Fatalf("%d units, want %d", len(r.Units), units)
	}
	covered := 0
	for _, u := range r.Units {
		if u.Kind != kind {
			t.Errorf("kind %q, want %q", u.Kind, kind)
		}
		covered += u.Length
	}
	if covered != len(b) {
		t.Errorf("units cover %d of %d bytes", covered, len(b))
	}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), kind) {
		t.Errorf("text %q, error %v", text.String(), err)
	}
	return r
}

// invalid explains b and wants the first fault at offset.
func invalid(t *testing.T, b []byte, opt explain.Options, offset int) {
	t.Helper()
	r := explain.Explain(b, opt)
	if r.Fault == nil {
		t.Fatalf("no fault in %x", b)
	}
	if r.Fault.Offset != offset {
		t.Errorf("fault at %d (%s), want %d", r.Fault.Offset, r.Fault.Reason, offset)
	}
}

type beefVectors struct {
	Objects struct {
		Items []struct{ ID, Hex string }
	}
	Records struct {
		Items []struct {
			ID, Record, ContentID string
			Frames                map[string]struct{ Header string }
		}
		BareObjectFrames []struct {
			ID       string
			ObjectID string `json:"object_id"`
			Header   string
		} `json:"bare_object_frames"`
		ValidFrameVariants []struct{ ID, Frame string } `json:"valid_frame_variants"`
	}
	InvalidRecords struct {
		Items []struct {
			ID, Hex           string
			DecidableAtOffset *int `json:"decidable_at_offset"`
		}
		Truncations struct {
			FullRecord string `json:"full_record"`
			Fields     []struct {
				Field  string
				Offset int
				Size   int
			}
		}
	} `json:"invalid_records"`
	InvalidFrames struct {
		Items []struct{ ID, Hex, Reason string }
	} `json:"invalid_frames"`
	DeliveryRecords struct {
		Items            []struct{ ID, Record string }
		StreamTwoRecords struct{ Hex string } `json:"stream_two_records"`
		Invalid          []struct{ ID, Hex string }
	} `json:"delivery_records"`
	Streams struct {
		Items []struct{ ID, Hex, Ends string }
	}
	Fragments struct {
		Sets []struct {
			ID        string
			Fragments []string
		}
		Bad []struct {
			ID, Expect string
			Sequence   []struct{ Hex string }
		}
	}
	Nack struct {
		Request, Replies struct {
			Items []struct{ ID, Hex string }
		}
		Bad []struct{ ID, Hex string }
	}
}

func loadBeef(t *testing.T) *beefVectors {
	var v beefVectors
	loadVectors(t, "../../../../wire/beef/testdata/beef.json", &v)
	return &v
}

func TestRecordVectors(t *testing.T) {
	v := loadBeef(t)
	objects := make(map[string][]byte)
	for _, o := range v.Objects.Items {
		t.Run("objects/"+o.ID, func(t *testing.T) {
			objects[o.ID] = unhex(t, o.Hex)
			valid(t, objects[o.ID], "BEEF object", 1)
		})
	}
	for _, rec := range v.Records.Items {
		t.Run("records/"+rec.ID, func(t *testing.T) {
			b := unhex(t, rec.Record)
			valid(t, b, "submission record", 1)
			for _, f := range rec.Frames {
				valid(t, append(unhex(t, f.Header), b...), "object frame", 1)
			}
		})
	}
	for _, f := range v.Records.BareObjectFrames {
		t.Run("bare_object_frames/"+f.ID, func(t *testing.T) {
			valid(t, append(unhex(t, f.Header), objects[f.ObjectID]...), "object frame", 1)
		})
	}
	for _, f := range v.Records.ValidFrameVariants {
		t.Run("valid_frame_variants/"+f.ID, func(t *testing.T) {
			valid(t, unhex(t, f.Frame), "object frame", 1)
		})
	}
	for _, rec := range v.InvalidRecords.Items {
		t.Run("invalid_records/"+rec.ID, func(t *testing.T) {
			b := unhex(t, rec.Hex)
			switch {
			case rec.ID == "trailing_second_record":
				valid(t, b, "submission record", 2) // decode reads a stream
			case rec.DecidableAtOffset != nil:
				invalid(t, b, explain.Options{}, *rec.DecidableAtOffset)
			default: // the object is cut, or said to be longer than any
				r := explain.Explain(b, explain.Options{})
				if r.Fault == nil || r.Fault.Offset != 12 && r.Fault.Offset != 16 {
					t.Errorf("fault %v, want one at the object or its length", r.Fault)
				}
			}
		})
	}
	full := unhex(t, v.InvalidRecords.Truncations.FullRecord)
	for n := 1; n < len(full); n++ {
		want := 0
		for _, f := range v.InvalidRecords.Truncations.Fields {
			if f.Offset <= n {
				want = f.Offset
			}
		}
		r := explain.Explain(full[:n], explain.Options{})
		if r.Fault == nil || r.Fault.Offset > n || r.Fault.Offset > want {
			t.Errorf("cut at %d: fault %v, want one at the cut field, %d at most", n, r.Fault, want)
		}
	}
}

func TestFrameVectors(t *testing.T) {
	v := loadBeef(t)
	offsets := map[string]int{
		"bad_magic": 0, "bad_version": 6, "not_a_beef_frame": 6, "payload_len_too_large": 88,
		"payload_len_too_long": 92, "topic_mismatch": 56, "no_topic": 56,
		"content_id_mismatch": 8, "bad_marker": 92, "no_marker": 88,
	}
	accepted := map[string]bool{
		"deliver_count_out_of_range": true, "deliver_count_above_topic_count": true,
		"deliver_count_on_bare_object": true,
	}
	for _, f := range v.InvalidFrames.Items {
		t.Run("invalid_frames/"+f.ID, func(t *testing.T) {
			b := unhex(t, f.Hex)
			r := explain.Explain(b, explain.Options{})
			if accepted[f.Reason] {
				if r.Fault != nil {
					t.Errorf("fault %v: an ingress accepts and overwrites it", r.Fault)
				} else if len(r.Units[0].Notes) == 0 {
					t.Error("no note")
				}
				return
			}
			if r.Fault == nil {
				t.Fatal("no fault")
			}
			if want, ok := offsets[f.Reason]; ok && f.ID != "record_bad_marker" && r.Fault.Offset != want {
				t.Errorf("%s: fault at %d (%s), want %d", f.Reason, r.Fault.Offset, r.Fault.Reason, want)
			}
		})
	}
	for _, set := range v.Fragments.Sets {
		t.Run("fragments/"+set.ID, func(t *testing.T) {
			var stream []byte
			for _, f := range set.Fragments {
				valid(t, unhex(t, f), "fragment", 1)
				stream = append(stream, unhex(t, f)...)
			}
			if len(stream) > 0 {
				valid(t, stream, "fragment", len(set.Fragments))
			}
		})
	}
	for _, bad := range v.Fragments.Bad {
		if bad.Expect != "drop_fragment" {
			continue // each fragment alone is right
		}
		t.Run("fragments_bad/"+bad.ID, func(t *testing.T) {
			for _, f := range bad.Sequence {
				if f.Hex != "" && explain.Explain(unhex(t, f.Hex), explain.Options{}).Fault == nil {
					t.Error("no fault")
				}
			}
		})
	}
	for _, n := range append(v.Nack.Request.Items, v.Nack.Replies.Items...) {
		t.Run("nack/"+n.ID, func(t *testing.T) {
			invalid(t, unhex(t, n.Hex), explain.Options{}, 6)
		})
	}
}

func TestDeliveryVectors(t *testing.T) {
	v := loadBeef(t)
	for _, d := range v.DeliveryRecords.Items {
		if d.Record == "" {
			continue // nothing is delivered
		}
		t.Run("delivery_records/"+d.ID, func(t *testing.T) {
			valid(t, unhex(t, d.Record), "delivery record", 1)
		})
	}
	valid(t, unhex(t, v.DeliveryRecords.StreamTwoRecords.Hex), "delivery record", 2)
	offsets := map[string]int{
		"zero_len": 32, "truncated_header": 32, "truncated_payload": 36,
		"payload_not_marker_or_record": 36, "payload_record_trailing": 60, "payload_len_ffffffff": 36,
	}
	for _, d := range v.DeliveryRecords.Invalid {
		t.Run("invalid/"+d.ID, func(t *testing.T) {
			want, ok := offsets[d.ID]
			if !ok {
				t.Fatal("a vector that this test does not know")
			}
			invalid(t, unhex(t, d.Hex), explain.Options{}, want)
		})
	}
	for _, s := range v.Streams.Items {
		t.Run("streams/"+s.ID, func(t *testing.T) {
			r := explain.Explain(unhex(t, s.Hex), explain.Options{})
			// A rejected unit is a fault here, though the stream would go on.
			clean := strings.HasPrefix(s.Ends, "clean") && !strings.Contains(s.Ends, "rejection") ||
				s.ID == "bare_object_first"
			if clean != (r.Fault == nil) {
				t.Errorf("fault %v, but the stream ends: %s", r.Fault, s.Ends)
			}
		})
	}
}

type swarmVectors struct {
	CAC []struct{ Name, Span, Payload, Address string }
	SOC []struct {
		Name, Data, Address, Owner string
		CAC                        string `json:"cac_address"`
	}
	Invalid, Edge []struct {
		Name, Stage, Data, Address string
	}
}

func TestChunkVectors(t *testing.T) {
	var v swarmVectors
	loadVectors(t, "../../../../wire/soc/testdata/swarm.json", &v)
	for _, c := range v.CAC {
		t.Run("cac/"+c.Name, func(t *testing.T) {
			if c.Payload == "" {
				return // no chunk of the tree has an empty payload
			}
			b := unhex(t, c.Span+c.Payload)
			if strings.HasPrefix(c.Name, "span-zero") || strings.HasPrefix(c.Name, "span-uint64-max") {
				// A span that is no length of anything: only told that it is one.
				r := explain.Explain(b, explain.Options{Kind: explain.CAC})
				if r.Fault != nil || len(r.Units[0].Notes) != 1 {
					t.Errorf("fault %v, notes %q", r.Fault, r.Units[0].Notes)
				}
				wantField(t, r, "address", c.Address)
				return
			}
			wantField(t, valid(t, b, "content-addressed chunk", 1), "address", c.Address)
		})
	}
	for _, c := range v.SOC {
		t.Run("soc/"+c.Name, func(t *testing.T) {
			r := explain.Explain(unhex(t, c.Data), explain.Options{Address: (*[32]byte)(unhex(t, c.Address))})
			if r.Fault != nil {
				t.Fatalf("taken for %s: %v", r.Units[0].Kind, r.Fault)
			}
			wantField(t, r, "address", c.Address)
			wantField(t, r, "signed by", c.Owner)
			wantField(t, r, "wrapped address", c.CAC)
		})
	}
	for _, c := range v.Invalid {
		t.Run("invalid/"+c.Name, func(t *testing.T) {
			r := explain.Explain(unhex(t, c.Data), explain.Options{Address: (*[32]byte)(unhex(t, c.Address))})
			if r.Fault == nil {
				t.Fatalf("no fault, stage %s", c.Stage)
			}
			// What is wrong is in the fields that the stage looks at.
			in := func(lo, hi int) {
				if r.Fault.Offset < lo || r.Fault.Offset > hi {
					t.Errorf("fault at %d (%s), want %d..%d", r.Fault.Offset, r.Fault.Reason, lo, hi)
				}
			}
			switch c.Stage {
			case "recover":
				in(32, 96)
			case "address":
				in(32, 105) // or a span that is not the payload's length
			case "replica-rule":
				in(0, 0)
			}
		})
	}
	accepted := map[string]bool{"replica-owner-good-id": true}
	for _, c := range v.Edge {
		t.Run("edge/"+c.Name, func(t *testing.T) {
			r := explain.Explain(unhex(t, c.Data), explain.Options{Address: (*[32]byte)(unhex(t, c.Address))})
			if accepted[c.Name] != (r.Fault == nil) {
				t.Errorf("fault %v", r.Fault)
			}
		})
	}
}

// wantField wants a field of the first unit to have the value.
func wantField(t *testing.T, r *explain.Report, name, value string) {
	t.Helper()
	for _, f := range r.Units[0].Fields {
		if f.Name == name {
			if f.Value != value {
				t.Errorf("%s %s, want %s", name, f.Value, value)
			}
			return
		}
	}
	t.Errorf("no field %q", name)
}
