package beef

import "testing"

// CheckReassembler checks what the comments of slot and Reassembler promise.
func CheckReassembler(t testing.TB, r *Reassembler) {
	t.Helper()
	bytes, seen := int64(0), 0
	for s := r.open.first; s != nil; s = s.next {
		seen++
		charge := int64(cap(s.body))
		for index, data := range s.pending {
			charge += int64(len(data)) + pendingCost
			if int(index) <= s.have {
				t.Errorf("fragment %d waits behind %d", index, s.have)
			}
		}
		if charge != s.charge {
			t.Errorf("slot charged %d, holds %d", s.charge, charge)
		}
		if len(s.body) > 0 && s.contentID() != ContentID(s.body) {
			t.Error("the hash is not that of what is there")
		}
		if s.closed != 0 || s.whole() || int64(len(s.body)) > s.origLen {
			t.Errorf("slot is open but closed %v, %d of %d fragments", s.closed, s.have, s.total)
		}
		if s.next != nil && s.next.touched.Before(s.touched) {
			t.Error("open slots are not in the order of their age")
		}
		bytes += charge
	}
	if seen != r.open.len || seen > r.cfg.Slots {
		t.Errorf("%d open slots, counted %d, bound %d", seen, r.open.len, r.cfg.Slots)
	}
	closed := 0
	for s := r.closed.first; s != nil; s = s.next {
		closed++
		if s.closed == 0 || s.charge != 0 || s.body != nil || s.sum != nil || s.pending != nil {
			t.Error("a closed slot holds data")
		}
	}
	if closed != r.closed.len || closed > r.cfg.Slots {
		t.Errorf("%d closed slots, counted %d, bound %d", closed, r.closed.len, r.cfg.Slots)
	}
	if bytes != r.bytes || bytes+r.spares.bytes > r.cfg.Bytes {
		t.Errorf("%d bytes held, counted %d, and %d spare, bound %d", bytes, r.bytes, r.spares.bytes, r.cfg.Bytes)
	}
	spare := int64(0)
	for _, b := range r.spares.list {
		spare += int64(cap(b))
		if len(b) != 0 || cap(b) < spareLeast {
			t.Errorf("a spare buffer of %d bytes, %d in use", cap(b), len(b))
		}
	}
	if spare != r.spares.bytes || spare > r.spares.limit || len(r.spares.list) > sparesMost {
		t.Errorf("%d buffers of %d bytes spare, counted %d, bound %d", len(r.spares.list), spare, r.spares.bytes, r.spares.limit)
	}
	if len(r.slots) != seen+closed {
		t.Errorf("%d slots known, %d in the lists", len(r.slots), seen+closed)
	}
}

// WindowSize is how many bytes of memory a scanner holds.
func (s *Scanner) WindowSize() int { return len(s.win.buf) }

// SpareBytes is how much memory a Reassembler keeps for objects to come.
func (r *Reassembler) SpareBytes() int64 { return r.spares.bytes }

// The bounds of spare buffers.
const (
	SpareLeast = spareLeast
	SparesMost = sparesMost
)
