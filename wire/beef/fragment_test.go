package beef_test

import (
	"bytes"
	"testing"

	"treecast/wire/beef"
)

func TestFragmentPrefixes(t *testing.T) {
	b := theVectors(t).fragment(t, "one_over_1348", 2)
	fields := []int{0, 4, 6, 7, 8, 40, 48, 56, 88, 92, 96, 98, 100, 101, 104}
	for n := range b {
		want := 0
		for _, at := range fields {
			if at <= n {
				want = at
			}
		}
		_, err := beef.ParseFragment(b[:n])
		wantFault(t, err, beef.ErrShort, beef.ReasonTruncated, want)
	}
	_, err := beef.ParseFragment(append(bytes.Clone(b), 0))
	wantFault(t, err, beef.ErrMalformed, beef.ReasonTrailing, len(b))
}

// TestFragmentLimits has fragments of a payload of 30 bytes cut in pieces of 10,
// and what differs from it by one.
func TestFragmentLimits(t *testing.T) {
	for _, tt := range []struct {
		name         string
		orig         uint32
		index, total uint16
		data         int
		reason       string
	}{
		{"first", 30, 0, 3, 10, ""},
		{"last", 30, 2, 3, 10, ""},
		{"behind the last", 30, 3, 3, 10, beef.ReasonFragIndex},
		{"last of 1 byte", 21, 2, 3, 1, ""},
		{"first, the last having 1 byte", 21, 0, 3, 10, ""},
		{"first, the last having none", 20, 0, 3, 10, beef.ReasonFragSize},
		{"first, the last having more", 31, 0, 3, 10, beef.ReasonFragSize},
		{"last with less than is left", 30, 2, 3, 9, beef.ReasonFragSize},
		{"last with more than the others", 30, 2, 3, 12, beef.ReasonFragSize},
		{"last with more than all", 30, 2, 3, 31, beef.ReasonFragSize},
		{"only", 30, 0, 1, 30, ""},
		{"only, too short", 30, 0, 1, 29, beef.ReasonFragSize},
		{"only, too long", 30, 0, 1, 31, beef.ReasonFragSize},
		{"a byte each", 3, 1, 3, 1, ""},
		{"less than a byte each", 3, 1, 4, 1, beef.ReasonFragTotal},
		{"no data", 30, 0, 3, 0, beef.ReasonPayloadLen},
		{"no payload", 0, 0, 1, 1, beef.ReasonOrigLen},
		{"none", 30, 0, 0, 10, beef.ReasonFragTotal},
		{"the longest payload", 1<<32 - 1, 65534, 65535, 65537, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := beef.Fragment{OrigLen: tt.orig, Index: tt.index, Total: tt.total, Data: make([]byte, tt.data)}
			got, err := beef.ParseFragment(beef.AppendFragment(nil, &f))
			if tt.reason != "" {
				wantFault(t, err, beef.ErrMalformed, tt.reason, -1)
				return
			}
			if err != nil || got.OrigLen != tt.orig || got.Index != tt.index || len(got.Data) != tt.data {
				t.Errorf("fragment %d of %d, %v", got.Index, got.Total, err)
			}
		})
	}
}
