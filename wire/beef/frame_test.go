package beef_test

import (
	"bytes"
	"errors"
	"testing"

	"treecast/wire/beef"
)

func TestFramePrefixes(t *testing.T) {
	frame := submit(t, theVectors(t).record(t, "one_topic_small").Record).Frame
	b := beef.AppendFrame(nil, &frame)
	fields := []int{0, 4, 6, 7, 8, 40, 48, 56, 88, 92}
	for n := range b {
		want := 0
		for _, at := range fields {
			if at <= n {
				want = at
			}
		}
		_, err := beef.ParseFrame(b[:n])
		wantFault(t, err, beef.ErrShort, beef.ReasonTruncated, want)
		_, err = beef.ParseSubmission(b[:n], 0)
		if !errors.Is(err, beef.ErrShort) {
			t.Errorf("submission cut to %d bytes: %v", n, err)
		}
	}
	_, err := beef.ParseFrame(append(b, 0))
	wantFault(t, err, beef.ErrMalformed, beef.ReasonTrailing, len(b))
}

func TestFrameVersion(t *testing.T) {
	for ver := range 256 {
		b := []byte{0xE3, 0xE1, 0xF3, 0xE8, 0, 0, byte(ver)}
		got, err := beef.FrameVersion(b)
		if byte(ver) == beef.FrameVerObject || byte(ver) == beef.FrameVerFragment {
			if err != nil || got != byte(ver) {
				t.Errorf("%#x: %#x, %v", ver, got, err)
			}
			continue
		}
		wantFault(t, err, beef.ErrMalformed, beef.ReasonVersion, 6)
	}
	if _, err := beef.ParseFrame(theVectors(t).fragment(t, "single_fragment", 0)); err == nil {
		t.Error("a fragment is taken for a frame")
	}
}

// TestHeaderKeepsProtoVer has the two values that could be mixed up with the
// default.
func TestHeaderKeepsProtoVer(t *testing.T) {
	frame := submit(t, theVectors(t).record(t, "one_topic_small").Record).Frame
	b := beef.AppendFrame(nil, &frame)
	for _, ver := range []uint16{0, 0x02BF, 0xFFFF} {
		b[4], b[5] = byte(ver>>8), byte(ver)
		f, err := beef.ParseFrame(b)
		if err != nil || f.ProtoVer() != ver || !bytes.Equal(beef.AppendFrame(nil, &f), b) {
			t.Errorf("%#x: %#x, %v", ver, f.ProtoVer(), err)
		}
	}
}

func TestDeliverable(t *testing.T) {
	for _, tt := range []struct {
		count       uint8
		names, want int
	}{
		{0, 3, 1},
		{1, 3, 1},
		{3, 3, 3},
		{4, 3, 3},
		{255, 15, 15},
		{3, 0, 1},
	} {
		if got := beef.Deliverable(tt.count, tt.names); got != tt.want {
			t.Errorf("Deliverable(%d, %d) = %d, want %d", tt.count, tt.names, got, tt.want)
		}
	}
}
