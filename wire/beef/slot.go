package beef

import (
	"crypto/sha256"
	"hash"
	"time"
)

// slotFirst is what a slot allocates at first, or less where the payload is
// shorter. DefaultSlots times it is DefaultReassemblyBytes, so that a fragment
// which only claims a large payload costs no more than the slot it opens.
const slotFirst = 64 << 10

// pendingCost is what a fragment that waits for earlier ones is charged above
// its bytes.
const pendingCost = 64

// pushPiece is how much is copied and hashed at a time: whole blocks of the hash, and
// so little that its way to memory, which the body is not in the cache for, is
// covered by the hash.
const pushPiece = 1 << 10

// slotKey tells objects apart. The topic belongs to it: one content sent under
// two topics is two objects (PROTOCOL §7 Reassembly).
type slotKey struct {
	content [32]byte
	topic   TopicID
}

// slot is one object on its way to being whole, or what is remembered of one.
//
// Invariants of an open slot:
//  1. body is the payload's beginning, all of fragments 0..next-1.
//  2. pending holds fragments above next, never next itself.
//  3. charge is cap(body) and, per pending fragment, its length and pendingCost.
//  4. sum has taken all of body and nothing else; nil before the first fragment.
//
// A closed slot has neither body nor pending nor sum, and charge 0.
type slot struct {
	prev, next *slot // in the list the slot is on
	key        slotKey
	touched    time.Time // of the last new fragment, or of closing
	header     Header    // of the first fragment; DeliverCount the highest seen

	origLen int64
	stride  int64
	total   int

	body    []byte
	sum     hash.Hash
	have    int // fragments in body
	pending map[uint16][]byte
	charge  int64

	closed Outcome // OutcomeLate or OutcomeUnwanted; 0: open
}

func newSlot(key slotKey, f *Fragment, stride int64) *slot {
	return &slot{
		key:     key,
		header:  f.Header,
		origLen: int64(f.OrigLen),
		stride:  stride,
		total:   int(f.Total),
	}
}

// agrees tells whether f is cut from the same payload in the same way.
func (s *slot) agrees(f *Fragment, stride int64) bool {
	return s.origLen == int64(f.OrigLen) && s.total == int(f.Total) && s.stride == stride
}

func (s *slot) has(index uint16) bool {
	_, waits := s.pending[index]
	return waits || int(index) < s.have
}

// store copies the data of a fragment that the slot does not have. Its buffers come
// from free and go back there when they are outgrown.
func (s *slot) store(f *Fragment, free *spares) {
	if int(f.Index) != s.have {
		if s.pending == nil {
			s.pending = make(map[uint16][]byte)
		}
		s.pending[f.Index] = append([]byte(nil), f.Data...)
		s.charge += int64(len(f.Data)) + pendingCost
		return
	}
	s.push(f.Data, free)
	for {
		data, ok := s.pending[uint16(s.have)]
		if !ok {
			return
		}
		delete(s.pending, uint16(s.have))
		s.charge -= int64(len(data)) + pendingCost
		s.push(data, free)
	}
}

// push puts the next fragment's data behind the body, which doubles as it fills, and
// hashes it while it is at hand: an object of many megabytes is then known to be right
// as soon as it is whole, without a pause for all of it at once.
func (s *slot) push(data []byte, free *spares) {
	if need := len(s.body) + len(data); need > cap(s.body) {
		body := append(free.get(int64(need), int64(cap(s.body)), s.origLen), s.body...)
		s.charge += int64(cap(body) - cap(s.body))
		free.put(s.body)
		s.body = body
	}
	if s.sum == nil {
		s.sum = sha256.New()
	}
	for len(data) > 0 {
		n := min(pushPiece-len(s.body)%pushPiece, len(data))
		s.body = append(s.body, data[:n]...)
		s.sum.Write(data[:n]) // a Hash never fails
		data = data[n:]
	}
	s.have++
}

// contentID is ContentID of the body.
func (s *slot) contentID() [32]byte {
	var once [sha256.Size]byte
	s.sum.Sum(once[:0])
	return sha256.Sum256(once[:])
}

func (s *slot) whole() bool { return s.have == s.total }

// close leaves of the slot that it was, and why it takes nothing more.
func (s *slot) close(why Outcome, now time.Time) {
	s.body, s.sum, s.pending, s.charge = nil, nil, nil, 0
	s.closed, s.touched = why, now
}

// slotList is a list of slots, the one touched longest ago first.
type slotList struct {
	first, last *slot
	len         int
}

func (l *slotList) push(s *slot) {
	s.prev, s.next = l.last, nil
	if l.last != nil {
		l.last.next = s
	} else {
		l.first = s
	}
	l.last = s
	l.len++
}

func (l *slotList) remove(s *slot) {
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		l.first = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	} else {
		l.last = s.prev
	}
	s.prev, s.next = nil, nil
	l.len--
}
