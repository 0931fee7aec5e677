package beef_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"treecast/wire/beef"
)

// pieces returns the fragments of an object of n bytes that all are fill, behind the
// marker.
func pieces(t require, fill byte, n, dataSize int) []beef.Fragment {
	payload := slices.Concat(marker, bytes.Repeat([]byte{fill}, n-len(marker)))
	f := beef.Frame{Payload: payload}
	f.ContentID, f.TopicID, f.DeliverCount = beef.ContentID(payload), beef.TopicIDOf("a"), 1
	seq, err := beef.Split(&f, dataSize)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(seq)
}

// require is what testing.TB and rapid.T have in common here.
type require interface{ Fatal(...any) }

// TestRecycledMemory: an object lies where the one before it lay, whole and right, and
// takes no memory that would hold a much larger one.
func TestRecycledMemory(t *testing.T) {
	d := newDesk(t, beef.ReassemblerConfig{})
	assemble := func(fill byte, n int) []byte {
		frags := pieces(t, fill, n, 0)
		d.add(beef.OutcomeHeld, frags[:len(frags)-1]...)
		return d.add(beef.OutcomeComplete, frags[len(frags)-1]).Payload
	}
	first := assemble(1, 300_000)
	d.Recycle(first)
	for i, n := range []int{300_000, 299_000, 270_000} {
		again := assemble(byte(2+i), n)
		if &again[0] != &first[0] {
			t.Errorf("the object of %d bytes is not where the first was", n)
		}
		d.Recycle(again)
	}
	small := assemble(9, 150_000)
	if &small[0] == &first[0] || cap(small) > 200_000 {
		t.Errorf("an object of %d bytes takes %d", len(small), cap(small))
	}
	kept := bytes.Clone(small)
	for fill := range byte(4) { // what is not recycled is not touched again
		d.Recycle(assemble(20+fill, 150_000))
	}
	if !bytes.Equal(small, kept) {
		t.Error("a payload that was not given back has changed")
	}
}

// TestSpareBounds keeps no more, and nothing larger or smaller, than is configured.
func TestSpareBounds(t *testing.T) {
	keep := func(cfg beef.ReassemblerConfig, want int64, sizes ...int) {
		t.Helper()
		d := newDesk(t, cfg)
		for _, n := range sizes {
			d.Recycle(make([]byte, n))
			beef.CheckReassembler(t, d.Reassembler)
		}
		if d.SpareBytes() != want {
			t.Errorf("%+v keeps %d bytes of %v, want %d", cfg, d.SpareBytes(), sizes, want)
		}
	}
	const least = beef.SpareLeast
	keep(beef.ReassemblerConfig{}, 0, 0, least-1)
	keep(beef.ReassemblerConfig{}, least, least)
	keep(beef.ReassemblerConfig{}, beef.DefaultSpare, beef.DefaultSpare+1, beef.DefaultSpare)
	keep(beef.ReassemblerConfig{}, least, beef.DefaultSpare, least) // the oldest makes room
	keep(beef.ReassemblerConfig{Spare: -1}, 0, least, 1<<20)
	keep(beef.ReassemblerConfig{Spare: 3 * least}, 3*least, least, least, least, least)
	keep(beef.ReassemblerConfig{Spare: 1 << 20, Bytes: 2 * least}, 2*least, least, least, least)
	keep(beef.ReassemblerConfig{}, beef.SparesMost*least, slices.Repeat([]int{least}, beef.SparesMost+3)...)
}

// TestSpareMakesRoom: the data of objects under way come before spare buffers.
func TestSpareMakesRoom(t *testing.T) {
	const bound = 256 << 10
	d := newDesk(t, beef.ReassemblerConfig{Bytes: bound, Spare: bound})
	for range 4 {
		d.Recycle(make([]byte, bound/4))
	}
	frags := pieces(t, 1, 180_000, 20_000)
	d.add(beef.OutcomeHeld, frags[1:]...) // nothing of it is in order, so it takes none of them
	if d.SpareBytes() > bound-d.Bytes() || d.Slots() != 1 {
		t.Errorf("%d bytes spare, %d held in %d slots", d.SpareBytes(), d.Bytes(), d.Slots())
	}
	d.add(beef.OutcomeComplete, frags[0])
}

// TestSpareAge gives back what nobody used for the slots' age.
func TestSpareAge(t *testing.T) {
	d := newDesk(t, beef.ReassemblerConfig{Age: time.Minute})
	frags := pieces(t, 1, 40_000, 20_000)
	d.add(beef.OutcomeHeld, frags[0])
	d.Recycle(d.add(beef.OutcomeComplete, frags[1]).Payload)
	if d.SpareBytes() == 0 || !d.Deadline().Equal(start.Add(time.Minute)) {
		t.Fatalf("%d bytes spare until %v", d.SpareBytes(), d.Deadline())
	}
	d.Expire(start.Add(time.Minute - 1))
	if d.SpareBytes() == 0 {
		t.Error("given back too early")
	}
	d.Expire(start.Add(time.Minute))
	if d.SpareBytes() != 0 || !d.Deadline().IsZero() {
		t.Errorf("%d bytes spare, deadline %v", d.SpareBytes(), d.Deadline())
	}
	// With the slot remembered no more, only the spare is left to wait for.
	d.now = start.Add(2 * time.Minute)
	d.add(beef.OutcomeHeld, frags[0])
	d.Expire(d.now.Add(time.Minute))
	if d.SpareBytes() != 0 || d.Slots() != 0 || !d.Deadline().IsZero() {
		t.Errorf("%d slots, %d bytes spare, deadline %v", d.Slots(), d.SpareBytes(), d.Deadline())
	}
}

// TestObjectsShareMemory puts objects of all sizes together, several at a time and in
// any order, some given back at once, some later, some with a wrong byte. Each comes out
// as it was cut, and stays so until it is given back.
func TestObjectsShareMemory(t *testing.T) {
	const dataSize = 12_000
	rapid.Check(t, func(rt *rapid.T) {
		r, err := beef.NewReassembler(beef.ReassemblerConfig{Bytes: 1 << 20, Spare: 300_000, Slots: 4})
		if err != nil {
			rt.Fatal(err)
		}
		type object struct {
			fill byte
			left []beef.Fragment
			bad  bool
		}
		var open []*object
		held := map[byte][]byte{}
		fill := byte(0)
		whole := func(fill byte, payload []byte) {
			if !bytes.Equal(payload[:4], marker) || bytes.Count(payload[4:], []byte{fill}) != len(payload)-4 {
				rt.Fatalf("object %d is not as it was", fill)
			}
		}
		for range rapid.IntRange(1, 80).Draw(rt, "steps") {
			if len(open) < 4 && fill < 250 && rapid.Bool().Draw(rt, "another") {
				fill++
				left := pieces(rt, fill, rapid.IntRange(dataSize+1, 20*dataSize).Draw(rt, "size"), dataSize)
				if rapid.IntRange(0, 3).Draw(rt, "shuffled") == 0 {
					left = rapid.Permutation(left).Draw(rt, "order")
				}
				o := &object{fill: fill, left: left, bad: rapid.IntRange(0, 7).Draw(rt, "bad") == 0}
				if o.bad {
					o.left[0].Data = bytes.Repeat([]byte{0xFF}, len(o.left[0].Data))
				}
				open = append(open, o)
			}
			if len(open) == 0 {
				continue
			}
			i := rapid.IntRange(0, len(open)-1).Draw(rt, "which")
			o := open[i]
			for range min(len(o.left), rapid.IntRange(1, 20).Draw(rt, "pieces")) {
				frame, outcome := r.Add(start, &o.left[0])
				o.left = o.left[1:]
				beef.CheckReassembler(t, r)
				switch {
				case len(o.left) > 0:
					if outcome != beef.OutcomeHeld {
						rt.Fatalf("object %d: %v", o.fill, outcome)
					}
				case o.bad != (outcome == beef.OutcomeHash) || o.bad == (outcome == beef.OutcomeComplete):
					rt.Fatalf("object %d, bad %v: %v", o.fill, o.bad, outcome)
				case !o.bad:
					whole(o.fill, frame.Payload)
					held[o.fill] = frame.Payload
				}
			}
			if len(o.left) == 0 {
				open = slices.Delete(open, i, i+1)
			}
			for fill := range byte(251) { // in a fixed order
				if payload, ok := held[fill]; ok {
					whole(fill, payload)
					if rapid.Bool().Draw(rt, "give back") {
						r.Recycle(payload)
						delete(held, fill)
						beef.CheckReassembler(t, r)
					}
				}
			}
		}
	})
}
