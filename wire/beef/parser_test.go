package beef_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"treecast/wire/beef"
)

// TestParser has the same units one after the other from a Parser and from
// ParseSubmission: names that begin alike, the shortest and the longest, records,
// frames, and units at fault between them.
func TestParser(t *testing.T) {
	var units [][]byte
	for _, names := range [][]string{
		{"a"}, {"a"}, {"ab"}, {"a", "ab"}, {"b"}, {"ab", "a"}, {strings.Repeat("n", 64)}, {strings.Repeat("n", 63)}, {"n"},
	} {
		rec, err := beef.AppendRecord(nil, names, object(40))
		if err != nil {
			t.Fatal(err)
		}
		sub := submit(t, rec)
		mislabelled := sub.Frame
		mislabelled.TopicID = beef.TopicIDOf("c")
		units = append(
			units, rec, beef.AppendFrame(nil, &sub.Frame), beef.AppendFrame(nil, &mislabelled), rec[:len(rec)-1], append(rec, 0), nil,
		)
	}
	p := newParser(t)
	for i, b := range units {
		got, gotErr := p.Parse(b)
		want, wantErr := beef.ParseSubmission(b, 0)
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(gotErr, wantErr) {
			t.Errorf("unit %d: %v, %v, want %v, %v", i, got.Frame.Header, gotErr, want.Frame.Header, wantErr)
		}
	}
}

func TestParserBound(t *testing.T) {
	if _, err := beef.NewParser(-1); err == nil {
		t.Error("a negative bound was taken")
	}
	p, err := beef.NewParser(39)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := beef.AppendRecord(nil, []string{"a"}, object(40))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Parse(rec); !errors.Is(err, beef.ErrRejected) {
		t.Errorf("over the bound: %v", err)
	}
}
