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
		if s.closed == 0 || s.charge != 0 || s.body != nil || s.pending != nil {
			t.Error("a closed slot holds data")
		}
	}
	if closed != r.closed.len || closed > r.cfg.Slots {
		t.Errorf("%d closed slots, counted %d, bound %d", closed, r.closed.len, r.cfg.Slots)
	}
	if bytes != r.bytes || bytes > r.cfg.Bytes {
		t.Errorf("%d bytes held, counted %d, bound %d", bytes, r.bytes, r.cfg.Bytes)
	}
	if len(r.slots) != seen+closed {
		t.Errorf("%d slots known, %d in the lists", len(r.slots), seen+closed)
	}
}

// WindowSize is how many bytes of memory a scanner holds.
func (s *Scanner) WindowSize() int { return len(s.win.buf) }
