package beef_test

import (
	"bytes"
	"testing"

	"treecast/wire/beef"
)

func TestChunkLimits(t *testing.T) {
	const one = beef.MaxChunk - beef.HeaderSize
	for size, want := range map[int]int{
		1:                               1,
		one:                             1,
		one + 1:                         2,
		2 * beef.MaxFragmentData:        2,
		2*beef.MaxFragmentData + 1:      3,
		0xFFFF * beef.MaxFragmentData:   0xFFFF,
		0xFFFF*beef.MaxFragmentData + 1: 0,
		0:                               0,
		-1:                              0,
	} {
		n, err := beef.ChunkCount(size)
		if n != want || (err == nil) != (want > 0) {
			t.Errorf("ChunkCount(%d) = %d, %v, want %d", size, n, err, want)
		}
	}
}

// TestChunks carries payloads of sizes around each limit and puts them together
// again.
func TestChunks(t *testing.T) {
	buf := make([]byte, 0, beef.MaxChunk)
	for _, size := range []int{4, 4004, 4005, 2 * 3992, 2*3992 + 1, 100_000} {
		payload := append(bytes.Clone(marker), stream("carriage", size-4)...)
		f := beef.Frame{Payload: payload}
		f.ContentID, f.TopicID = beef.ContentID(payload), beef.TopicIDOf("a")
		f.HashKey, f.SeqNum, f.DeliverCount = 5, 77, 1
		chunks, err := beef.Chunks(&f, buf)
		if err != nil {
			t.Fatal(err)
		}
		r, err := beef.NewReassembler(beef.ReassemblerConfig{})
		if err != nil {
			t.Fatal(err)
		}
		count, got := 0, beef.Frame{}
		for b := range chunks {
			if len(b) > beef.MaxChunk || &b[0] != &buf[:1][0] {
				t.Fatalf("chunk of %d bytes, or not in buf", len(b))
			}
			ver, err := beef.FrameVersion(b)
			if err != nil {
				t.Fatal(err)
			}
			if ver == beef.FrameVerObject {
				whole, err := beef.ParseFrame(bytes.Clone(b))
				if err != nil {
					t.Fatal(err)
				}
				got = whole
			} else {
				frag, err := beef.ParseFragment(b)
				if err != nil || frag.SeqNum != f.SeqNum+uint64(count) {
					t.Fatalf("fragment %d has SeqNum %d, %v", count, frag.SeqNum, err)
				}
				got, _ = r.Add(start, &frag)
			}
			count++
		}
		want, err := beef.ChunkCount(size)
		if err != nil || count != want {
			t.Errorf("%d bytes: %d chunks, want %d, %v", size, count, want, err)
		}
		if !bytes.Equal(beef.AppendFrame(nil, &got), beef.AppendFrame(nil, &f)) {
			t.Errorf("%d bytes: another frame came back", size)
		}
	}
}

func TestSplitRefuses(t *testing.T) {
	long := beef.Frame{Payload: make([]byte, 0x10000)}
	for name, run := range map[string]func() error{
		"empty payload":      func() error { _, err := beef.Split(&beef.Frame{}, 0); return err },
		"negative size":      func() error { _, err := beef.Split(&long, -1); return err },
		"too many fragments": func() error { _, err := beef.Split(&long, 1); return err },
		"empty frame":        func() error { _, err := beef.Chunks(&beef.Frame{}, nil); return err },
	} {
		if run() == nil {
			t.Errorf("%s is taken", name)
		}
	}
	fits := beef.Frame{Payload: long.Payload[:0xFFFF]}
	if n := len(split(t, &fits, 1)); n != 0xFFFF {
		t.Errorf("%d fragments", n)
	}
}

func TestIterationsStop(t *testing.T) {
	f := beef.Frame{Payload: make([]byte, 10_000)}
	fragments, err := beef.Split(&f, 100)
	if err != nil {
		t.Fatal(err)
	}
	for frag := range fragments {
		if frag.Index == 1 {
			break
		}
	}
	for _, size := range []int{100, 10_000} {
		f.Payload = f.Payload[:size]
		chunks, err := beef.Chunks(&f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range chunks {
			break
		}
	}
}
