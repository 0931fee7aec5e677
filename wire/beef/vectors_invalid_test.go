package beef_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"treecast/wire/beef"
)

type invalidVector struct {
	ID          string
	Hex         hexed
	Reason      string
	DecidableAt *int `json:"decidable_at_offset"`
	Spec        struct{ Stream, Datagram string }
}

// reasonOf are the reasons that the vectors call otherwise. Where the vectors
// tell apart what has one consequence, the offset does so here.
var reasonOf = map[string]string{
	"object_len_exceeds_bytes": beef.ReasonTruncated,
	"short_header":             beef.ReasonTruncated,
	"payload_len_too_long":     beef.ReasonTruncated,
	"payload_len_too_short":    beef.ReasonTruncated,
	"truncated_record":         beef.ReasonTruncated,
	"payload_len_too_large":    beef.ReasonOversize,
	"not_a_beef_frame":         beef.ReasonVersion,
	"no_marker":                beef.ReasonPayloadLen,
}

func (o *invalidVector) reason() string {
	if r, ok := reasonOf[o.Reason]; ok {
		return r
	}
	return o.Reason
}

func testInvalidRecords(t *testing.T, v *vectors, l ledger) {
	good := v.record(t, "one_topic_small").Record
	each(t, l, "invalid_records.items", v.InvalidRecords.Items, func(o *invalidVector) string { return o.ID },
		func(t *testing.T, o *invalidVector) { checkInvalidRecord(t, o, good) })
	t.Run("truncations", func(t *testing.T) { checkTruncations(t, l, &v.InvalidRecords.Truncations) })
	t.Run("oversize", func(t *testing.T) {
		checkOversize(t, v, &v.InvalidRecords.Oversize)
		l.hit("invalid_records.oversize.object_id", "invalid_records.oversize.at_bound_object_id",
			"invalid_records.oversize.topics", "invalid_records.oversize.bound", "invalid_records.oversize.head",
			"invalid_records.oversize.spec.stream")
	})
}

func checkInvalidRecord(t *testing.T, o *invalidVector, good []byte) {
	_, err := beef.ParseRecord(o.Hex)
	offset := -1
	if o.DecidableAt != nil {
		offset = *o.DecidableAt
	}
	sentinel := beef.ErrMalformed
	switch {
	case o.Spec.Stream == "reject":
		sentinel = beef.ErrRejected
	case o.Reason == "object_len_exceeds_bytes":
		sentinel = beef.ErrShort
	}
	wantFault(t, err, sentinel, o.reason(), offset)
	if _, err := beef.ParsePayload(o.Hex); !errors.Is(err, beef.ErrRejected) {
		t.Errorf("as a payload: %v", err)
	}
	if _, err := beef.ParseSubmission(o.Hex, 0); err == nil {
		t.Error("taken as a datagram")
	}

	// The stream is that of the record port, where a wrong tag is no other
	// grammar, and a good record follows.
	cfg := beef.ScannerConfig{RecordsOnly: true}
	events := scanBothWays(t, cfg, slices.Concat(o.Hex, good))
	switch o.Spec.Stream {
	case "close":
		wantEvents(t, events, "malformed "+o.reason())
		checkDecided(t, cfg, o)
	case "reject":
		wantEvents(t, events, "rejected "+o.reason(), "record one_topic_small", "clean")
	case "wait, close at EOF":
		wantEvents(t, scanBothWays(t, cfg, o.Hex), "short truncated")
	case "reject (over any sane size bound), close":
		wantEvents(t, events, "malformed oversize")
	case "first record valid; then close (00 is no tag)":
		wantEvents(t, events, "record one_topic_small", "malformed bad_tag")
	case "two valid records":
		wantEvents(t, events, "record one_topic_small", "record one_topic_small", "record one_topic_small", "clean")
	default:
		t.Errorf("what is %q?", o.Spec.Stream)
	}
}

// checkDecided checks that a malformed head is known as soon as the field that
// is wrong is complete.
func checkDecided(t *testing.T, cfg beef.ScannerConfig, o *invalidVector) {
	t.Helper()
	size := map[string]int{"bad_tag": 2, "bad_object_len": 4}[o.Reason]
	if size == 0 {
		size = 1
	}
	wantEvents(t, scan(t, cfg, o.Hex[:*o.DecidableAt+size], 1), "malformed "+o.reason())
}

type truncationVectors struct {
	FullRecord hexed   `json:"full_record"`
	TopicsHex  []hexed `json:"topics_hex"`
	Prefixes   []prefixVector
	Fields     []fieldVector
}

type prefixVector struct {
	Len     int
	Missing string
}

type fieldVector struct {
	Field  string
	Offset int
}

func checkTruncations(t *testing.T, l ledger, o *truncationVectors) {
	rec, err := beef.ParseRecord(o.FullRecord)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range o.TopicsHex {
		if !bytes.Equal(rec.Topic(i), name) {
			t.Errorf("topic %d is %x", i, rec.Topic(i))
		}
	}
	l.hit("invalid_records.truncations.full_record", "invalid_records.truncations.topics_hex")
	offsets := map[string]int{}
	each(t, l, "invalid_records.truncations.fields", o.Fields, func(f *fieldVector) string { return f.Field },
		func(_ *testing.T, f *fieldVector) { offsets[f.Field] = f.Offset })
	each(t, l, "invalid_records.truncations.prefixes", o.Prefixes, func(p *prefixVector) string { return p.Missing },
		func(t *testing.T, p *prefixVector) {
			cut := o.FullRecord[:p.Len]
			_, err := beef.ParseRecord(cut)
			wantFault(t, err, beef.ErrShort, beef.ReasonTruncated, offsets[p.Missing])
			if _, err := beef.ParseSubmission(cut, 0); !errors.Is(err, beef.ErrShort) {
				t.Errorf("as a datagram: %v", err)
			}
			want := "short truncated"
			if p.Len == 0 {
				want = "clean"
			}
			wantEvents(t, scanBothWays(t, beef.ScannerConfig{}, cut), want)
		})
}

type oversizeVector struct {
	ObjectID   string `json:"object_id"`
	AtBoundID  string `json:"at_bound_object_id"`
	Topics     []string
	Bound      int
	Head       hexed
	SpecFields struct{ Stream string } `json:"spec"`
}

func checkOversize(t *testing.T, v *vectors, o *oversizeVector) {
	over, err := beef.AppendRecord(nil, o.Topics, v.object(t, o.ObjectID))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(over, o.Head) || o.SpecFields.Stream != "reject" {
		t.Errorf("the record starts with %x, want %x", over[:len(o.Head)], o.Head)
	}
	at, err := beef.AppendRecord(nil, o.Topics, v.object(t, o.AtBoundID))
	if err != nil {
		t.Fatal(err)
	}
	cfg := beef.ScannerConfig{MaxObject: o.Bound}
	good := v.record(t, "one_topic_small").Record
	events := scan(t, cfg, slices.Concat(over, at, good), 64<<10)
	wantEvents(t, events, "rejected oversize", "record", "record one_topic_small", "clean")
	_, err = beef.ParseSubmission(over, o.Bound)
	wantFault(t, err, beef.ErrRejected, beef.ReasonOversize, 12)
}

func testInvalidFrames(t *testing.T, v *vectors, l ledger) {
	each(t, l, "invalid_frames.items", v.InvalidFrames.Items, func(o *invalidVector) string { return o.ID },
		func(t *testing.T, o *invalidVector) { checkInvalidFrame(t, o, v.record(t, "one_topic_small")) })
	t.Run("oversize", func(t *testing.T) {
		o := &v.InvalidFrames.Oversize
		checkFramedOversize(t, v, o.ObjectID, o.Bound)
		l.hit("invalid_frames.oversize.object_id", "invalid_frames.oversize.bound")
	})
}

// ruled are the frames of which the vectors leave the outcome open, or name one
// that PROTOCOL §7 decides otherwise.
var ruled = map[string][]string{
	// An ingress overwrites DeliverCount, whatever it is.
	"deliver_count_16":                {"frame", "frame one_topic_small", "clean"},
	"deliver_count_255":               {"frame", "frame one_topic_small", "clean"},
	"deliver_count_above_topic_count": {"frame", "frame one_topic_small", "clean"},
	"deliver_count_2_on_bare_object":  {"frame", "frame one_topic_small", "clean"},
	// No topic hashes to zeros, so nobody could have elected it.
	"topic_id_zero_bare_object": {"rejected no_topic", "frame one_topic_small", "clean"},
	// The frame before the surplus byte is whole.
	"datagram_trailing_byte": {"frame one_topic_small", "malformed bad_magic"},
	// The payload is a cut record; its last byte is then no magic.
	"payload_declared_minus_1": {"rejected truncated", "malformed bad_magic"},
	// Without a record or an object in it: reject.
	"payload_empty": {"rejected bad_payload_len", "frame one_topic_small", "clean"},
}

func checkInvalidFrame(t *testing.T, o *invalidVector, good *recordVector) {
	// The connection starts with a good frame, so that it is committed.
	ok := good.Frames["1"].Frame
	events := scanBothWays(t, beef.ScannerConfig{}, slices.Concat(ok, o.Hex, ok))
	if len(events) == 0 || events[0] != "frame one_topic_small" {
		t.Fatalf("events %q", events)
	}
	events = events[1:]
	want, decided := ruled[o.ID]
	switch stream := o.Spec.Stream; {
	case decided:
	case strings.HasPrefix(stream, "reject"):
		want = []string{"rejected " + o.reason(), "frame one_topic_small", "clean"}
	case o.reason() == beef.ReasonTruncated: // "close at EOF"
		events = scanBothWays(t, beef.ScannerConfig{}, slices.Concat(ok, o.Hex))[1:]
		want = []string{"short truncated"}
		if len(o.Hex) == 0 {
			want = []string{"clean"}
		}
	default: // "close", "drop or close on a BEEF-only node"
		want = []string{"malformed " + o.reason()}
	}
	wantEvents(t, events, want...)
	_, err := beef.ParseSubmission(o.Hex, 0)
	if taken := want[0] == "frame"; taken != (err == nil) {
		t.Errorf("as a datagram: %v", err)
	}
	if _, err := beef.ParseFrame(o.Hex); err == nil && len(o.Hex) < beef.HeaderSize {
		t.Error("ParseFrame takes a short header")
	}
}

// checkFramedOversize is where PROTOCOL §7 and the vectors' other
// implementation differ: the bound is on the object, so a record whose object
// is at the bound passes in a frame as well.
func checkFramedOversize(t *testing.T, v *vectors, id string, bound int) {
	frame := func(payload []byte) []byte {
		f := beef.Frame{Payload: payload}
		f.ContentID, f.TopicID = beef.ContentID(payload), beef.TopicIDOf("tm_ship")
		return beef.AppendFrame(nil, &f)
	}
	record := func(object []byte) []byte {
		b, err := beef.AppendRecord(nil, []string{"tm_ship"}, object)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	over := v.object(t, id)
	at := over[:bound]
	in := slices.Concat(frame(over), frame(record(over)), frame(at), frame(record(at)))
	events := scan(t, beef.ScannerConfig{MaxObject: bound}, in, 64<<10)
	wantEvents(t, events, "rejected oversize", "rejected oversize", "frame", "frame", "clean")
}
