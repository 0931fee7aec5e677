package beef_test

import (
	"testing"

	"treecast/wire/beef"
)

// TestStampingAllocatesNothing takes a record all the way to its stamped frame,
// and a frame to its delivery records, whatever their size.
func TestStampingAllocatesNothing(t *testing.T) {
	for _, size := range benchSizes {
		rec, err := beef.AppendRecord(nil, benchTopics, object(size))
		if err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 0, beef.HeaderSize)
		var payload []byte
		parser := newParser(t)
		if n := testing.AllocsPerRun(20, func() { head, payload = stampRecord(t, parser, head[:0], rec, 7) }); n != 0 {
			t.Errorf("object of %d bytes: stamping its frame allocates %v times", size, n)
		}
		if &payload[0] != &rec[0] || len(payload) != len(rec) {
			t.Errorf("object of %d bytes: the frame's payload is a copy", size)
		}
		frame := append(head, payload...)
		if n := testing.AllocsPerRun(20, func() { head, payload = deliver(t, head[:0], frame) }); n != 0 {
			t.Errorf("object of %d bytes: its delivery record allocates %v times", size, n)
		}
		if &payload[0] != &frame[beef.HeaderSize] || len(payload) != len(rec) {
			t.Errorf("object of %d bytes: the delivery's payload is a copy", size)
		}
	}
}

// deliver is what an edge makes of a frame for an aggregator.
func deliver(t *testing.T, dst, frame []byte) (head, payload []byte) {
	f, err := beef.ParseFrame(frame)
	if err != nil {
		t.Fatal(err)
	}
	return beef.AppendDeliveryHeader(dst, &beef.Delivery{TopicID: f.TopicID, Payload: f.Payload}), f.Payload
}

// TestSplitAllocations: cutting an object costs the same few allocations whatever
// its size, and the fragments lie in its payload.
func TestSplitAllocations(t *testing.T) {
	head := make([]byte, 0, beef.FragmentHeaderSize)
	var few float64
	for i, size := range []int{2 * beef.MaxFragmentData, 100 << 10, 4 << 20} {
		f := beef.Frame{Payload: object(size)}
		at := 0
		cut := func() {
			at = 0
			fragments, err := beef.Split(&f, 0)
			if err != nil {
				t.Fatal(err)
			}
			for frag := range fragments {
				head = beef.AppendFragmentHeader(head[:0], &frag)
				if &frag.Data[0] != &f.Payload[at] {
					t.Fatalf("the data at %d is a copy", at)
				}
				at += len(frag.Data)
			}
		}
		n := testing.AllocsPerRun(5, cut)
		if i == 0 {
			few = n
		}
		if n != few || n > 8 || at != size {
			t.Errorf("%d of %d bytes cut with %v allocations, a small object with %v", at, size, n, few)
		}
	}
}

// TestReassemblyAllocations: an object takes the same few allocations whatever its size,
// as it is put together in the memory of the one before it.
func TestReassemblyAllocations(t *testing.T) {
	for _, size := range []int{100 << 10, 1 << 20} {
		d := newDesk(t, beef.ReassemblerConfig{})
		frags := pieces(t, 1, size, 0)
		object := func() {
			for i := range frags {
				frags[i].TopicID[0]++
				if frame, outcome := d.Add(d.now, &frags[i]); outcome == beef.OutcomeComplete {
					d.Recycle(frame.Payload)
				}
			}
		}
		object()
		if n := testing.AllocsPerRun(50, object); n > 4 {
			t.Errorf("an object of %d bytes is put together with %v allocations", size, n)
		}
		if got := d.Count(beef.OutcomeComplete); got != 52 {
			t.Errorf("%d objects of %d bytes", got, size)
		}
	}
}
