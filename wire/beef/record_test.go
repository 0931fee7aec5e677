package beef_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"treecast/wire/beef"
)

func names(n, size int) []string {
	return slices.Repeat([]string{strings.Repeat("n", size)}, n)
}

var marker = []byte{1, 0, 0xBE, 0xEF}

func TestAppendRecordLimits(t *testing.T) {
	for _, tt := range []struct {
		name     string
		topics   []string
		object   []byte
		sentinel error
		reason   string
		offset   int
	}{
		{"no topic", nil, marker, beef.ErrMalformed, beef.ReasonTopicCount, 3},
		{"1 topic", names(1, 1), marker, nil, "", 0},
		{"15 topics", names(15, 1), marker, nil, "", 0},
		{"16 topics", names(16, 1), marker, beef.ErrMalformed, beef.ReasonTopicCount, 3},
		{"empty name", []string{"a", ""}, marker, beef.ErrMalformed, beef.ReasonNameLen, 6},
		{"64 bytes", names(1, 64), marker, nil, "", 0},
		{"65 bytes", names(1, 65), marker, beef.ErrMalformed, beef.ReasonNameLen, 4},
		{"not UTF-8", []string{"a", "\xff"}, marker, beef.ErrRejected, beef.ReasonUTF8, 7},
		{"no object", names(1, 1), nil, beef.ErrMalformed, beef.ReasonObjectLen, 6},
		{"3 bytes", names(1, 1), marker[:3], beef.ErrRejected, beef.ReasonMarker, 10},
		{"no marker", names(1, 1), []byte{1, 0, 0, 0}, beef.ErrRejected, beef.ReasonMarker, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := []byte("before")
			b, err := beef.AppendRecord(before, tt.topics, tt.object)
			if tt.sentinel != nil {
				wantFault(t, err, tt.sentinel, tt.reason, tt.offset)
				if !bytes.Equal(b, before) {
					t.Errorf("dst became %q", b)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			rec, err := beef.ParseRecord(b[len(before):])
			if err != nil || rec.TopicCount() != len(tt.topics) || string(rec.Topic(len(tt.topics)-1)) != tt.topics[0] {
				t.Errorf("%d topics, %v", rec.TopicCount(), err)
			}
		})
	}
}

func TestMaxEnvelope(t *testing.T) {
	b, err := beef.AppendRecord(nil, names(15, 64), marker)
	if err != nil || len(b)-len(marker) != beef.MaxEnvelope || beef.MaxEnvelope != 983 {
		t.Errorf("envelope of %d bytes, %v", len(b)-len(marker), err)
	}
}

// TestRecordPrefixes cuts every record of the vectors everywhere.
func TestRecordPrefixes(t *testing.T) {
	v := theVectors(t)
	for i := range v.Records.Items {
		b := v.Records.Items[i].Record
		for n := range b {
			_, err := beef.ParseRecord(b[:n])
			wantFault(t, err, beef.ErrShort, beef.ReasonTruncated, -1)
		}
		_, err := beef.ParseRecord(append(slices.Clone(b), 0))
		wantFault(t, err, beef.ErrMalformed, beef.ReasonTrailing, len(b))
	}
}

func TestTopicPanics(t *testing.T) {
	rec, err := beef.ParseRecord(theVectors(t).record(t, "three_topics_small").Record)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{-1, 3} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("topic %d is there", i)
				}
			}()
			rec.Topic(i)
		}()
	}
	var none beef.Record
	for range none.Topics() {
		t.Error("the zero Record has topics")
	}
}

// TestDecodingDoesNotAllocate covers the decoders of the data path.
func TestDecodingDoesNotAllocate(t *testing.T) {
	rec := theVectors(t).record(t, "fifteen_max_names")
	frame := submit(t, rec.Record).Frame
	frame.DeliverCount = beef.MaxTopics
	b := beef.AppendFrame(nil, &frame)
	small := beef.Frame{Header: frame.Header, Payload: frame.Payload}
	cut := split(t, &small, 700)[0]
	delivery := beef.AppendDelivery(nil, &beef.Delivery{TopicID: frame.TopicID, Payload: frame.Payload})
	var elections beef.Elections
	elections.Set(1, beef.Election{Topics: []beef.TopicID{frame.TopicID}})
	matches := make([]beef.Match, 0, 1)
	dst := make([]byte, 0, len(b))
	for name, run := range map[string]func(){
		"ParseRecord": func() {
			rec, _ := beef.ParseRecord(rec.Record)
			for name := range rec.Topics() {
				_ = name
			}
			_ = rec.Topic(14)
		},
		"ParseFrame":      func() { _, _ = beef.ParseFrame(b) },
		"ParseFragment":   func() { _, _ = beef.ParseFragment(cut) },
		"ParseDelivery":   func() { _, _ = beef.ParseDelivery(delivery) },
		"ParseSubmission": func() { _, _ = beef.ParseSubmission(b, 0) },
		"AppendFrame":     func() { dst = beef.AppendFrame(dst[:0], &frame) },
		"TopicIDOf":       func() { _ = beef.TopicIDOf("tm_ship") },
		"Match": func() {
			offer, _ := beef.OfferOf(&frame)
			matches = elections.Match(&offer, matches[:0])
		},
	} {
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// submit takes a record or frame through a door.
func submit(t testing.TB, b []byte) beef.Submission {
	t.Helper()
	sub, err := beef.ParseSubmission(b, 0)
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

func TestAllow(t *testing.T) {
	sub := submit(t, theVectors(t).record(t, "three_topics_small").Record)
	for asked, want := range map[int]uint8{-1: 1, 0: 1, 1: 1, 2: 2, 3: 3, 4: 3, 15: 3, 256: 3} {
		if sub.Allow(asked); sub.Frame.DeliverCount != want {
			t.Errorf("Allow(%d): %d, want %d", asked, sub.Frame.DeliverCount, want)
		}
	}
}

// TestNameEndsInsideRune: the byte behind a name is the next one's length, which
// completes no rune.
func TestNameEndsInsideRune(t *testing.T) {
	for i, names := range [][]string{{"a\xc3", "b"}, {"a", "b\xe2\x82"}, {"\xf0\x9f\x98", "b", "c"}, {"é", "\xa9"}} {
		rec := []byte{0xBE, 0xEF, 1, byte(len(names))}
		for _, n := range names {
			rec = append(append(rec, byte(len(n))), n...)
		}
		rec = append(append(rec, 0, 0, 0, 4), marker...)
		at := []int{5, 7, 5, 8}[i]
		_, err := beef.ParseRecord(rec)
		wantFault(t, err, beef.ErrRejected, beef.ReasonUTF8, at)
		if _, err := beef.AppendRecord(nil, names, object(4)); err == nil {
			t.Errorf("%q was encoded", names)
		}
	}
}
