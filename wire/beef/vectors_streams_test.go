package beef_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"treecast/wire/beef"
)

// scan feeds b to a Scanner, step bytes at a time, and writes down what comes
// out: "record NAME" or "frame NAME" (the vectors' name, where the payload is
// one of theirs), "rejected REASON", "malformed REASON", and at the end
// "short REASON" or "clean". Behind an @ stands the offset.
func scan(t testing.TB, cfg beef.ScannerConfig, b []byte, step int) []string {
	t.Helper()
	s, err := beef.NewScanner(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for len(b) > 0 {
		n := s.Feed(b[:min(step, len(b))])
		b = b[n:]
		for {
			sub, err := s.Next()
			if err == beef.ErrShort {
				break
			}
			events = append(events, eventOf(t, &sub, err))
			if errors.Is(err, beef.ErrMalformed) {
				if again := s.End(); again != err {
					t.Errorf("End after %v: %v", err, again)
				}
				return events
			}
		}
	}
	if err := s.End(); err != nil {
		return append(events, eventOf(t, nil, err))
	}
	return append(events, "clean")
}

func eventOf(t testing.TB, sub *beef.Submission, err error) string {
	t.Helper()
	if err == nil {
		kind := "record "
		if sub.Framed {
			kind = "frame "
		}
		if id := beef.ContentID(sub.Frame.Payload); id != sub.Frame.ContentID {
			t.Errorf("ContentID %x is not the payload's", sub.Frame.ContentID)
		}
		return kind + nameOf(t, sub.Frame.Payload)
	}
	var f *beef.FaultError
	if !errors.As(err, &f) {
		t.Fatalf("%v is no FaultError", err)
	}
	if !slices.Contains(beef.Reasons(), f.Reason) {
		t.Errorf("reason %q is not in the set", f.Reason)
	}
	kind := strings.TrimPrefix(f.Err.Error(), "beef: ")
	return fmt.Sprintf("%s %s @%d", kind, f.Reason, f.Offset)
}

// nameOf is the vectors' name of a small record.
func nameOf(t testing.TB, payload []byte) string {
	t.Helper()
	for i := range theVectors(t).Records.Items {
		if o := &theVectors(t).Records.Items[i]; bytes.Equal(o.Record, payload) {
			return o.ID
		}
	}
	return fmt.Sprintf("of %d bytes", len(payload))
}

// scanBothWays scans in one write, in single bytes and in uneven pieces, checks
// that it makes no difference, and returns the events.
func scanBothWays(t testing.TB, cfg beef.ScannerConfig, b []byte) []string {
	t.Helper()
	once := scan(t, cfg, b, len(b)+1)
	for _, step := range []int{1, 2, 7, 93} {
		if cut := scan(t, cfg, b, step); !slices.Equal(once, cut) {
			t.Errorf("in one write %q, in pieces of %d %q", once, step, cut)
		}
	}
	return once
}

// wantEvents compares the beginnings of events, so that a name or an offset
// may be left out.
func wantEvents(t testing.TB, got []string, want ...string) {
	t.Helper()
	ok := len(got) == len(want)
	for i := 0; ok && i < len(want); i++ {
		ok = strings.HasPrefix(got[i]+" ", want[i]+" ")
	}
	if !ok {
		t.Errorf("events\n%q, want\n%q", got, want)
	}
}

// wantFault checks sentinel, reason and, unless negative, offset.
func wantFault(t testing.TB, err, sentinel error, reason string, offset int) {
	t.Helper()
	var f *beef.FaultError
	if !errors.As(err, &f) {
		t.Fatalf("error %v, want %v, %s", err, sentinel, reason)
	}
	if !errors.Is(err, sentinel) || f.Reason != reason || offset >= 0 && f.Offset != offset {
		t.Errorf("error %q, want %v, %s at %d", err, sentinel, reason, offset)
	}
	if !strings.HasPrefix(err.Error(), "beef: ") || !strings.Contains(err.Error(), reason) {
		t.Errorf("text %q", err)
	}
}

type streamVector struct {
	ID      string
	Grammar *string
	Hex     hexed
	Units   []string
	Ends    string
}

// streamEnds are the last events of the streams, which the vectors tell in
// words.
var streamEnds = map[string]string{
	"three_records":                     "clean",
	"record_then_frame":                 "malformed bad_tag @24",
	"record_then_malformed_then_record": "malformed bad_record_ver @26",
	"record_bad_marker_then_record":     "clean",
	"two_frames":                        "clean",
	"frame_then_record":                 "malformed bad_magic @116",
	"frame_topic_mismatch_then_frame":   "clean",
	"bare_object_first":                 "malformed bare_tx @0",
	"one_byte":                          "short truncated @0",
}

func testStreams(t *testing.T, v *vectors, l ledger) {
	each(t, l, "streams.items", v.Streams.Items, func(o *streamVector) string { return o.ID },
		func(t *testing.T, o *streamVector) {
			end, ok := streamEnds[o.ID]
			if !ok {
				t.Fatalf("no end for %q", o.Ends)
			}
			if closed := strings.HasPrefix(o.Ends, "close"); closed != (end != "clean") {
				t.Errorf("the stream ends with %q, the vectors say %q", end, o.Ends)
			}
			var want []string
			for _, unit := range o.Units {
				switch {
				case strings.HasPrefix(unit, "(rejected: bad marker"):
					want = append(want, "rejected bad_marker")
				case strings.HasPrefix(unit, "(rejected: TopicID"):
					want = append(want, "rejected topic_mismatch")
				case strings.HasPrefix(unit, "frame of "):
					want = append(want, "frame "+strings.TrimPrefix(unit, "frame of "))
				default:
					want = append(want, "record "+unit)
				}
			}
			wantEvents(t, scanBothWays(t, beef.ScannerConfig{}, o.Hex), append(want, end)...)
			grammar := "undecided"
			if o.Grammar != nil {
				grammar = *o.Grammar
			}
			if g := beef.Detect(o.Hex); g.String() != grammar {
				t.Errorf("grammar %v, want %s", g, grammar)
			}
		})
}
