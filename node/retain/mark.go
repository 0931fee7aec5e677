package retain

import (
	"encoding/binary"

	"treecast/wire"
)

// A mark is how far a feed is settled: all below next, but for open.
type mark struct {
	next uint64
	open []wire.IndexRange // what is still being recovered below next; sorted
}

// Mark notes that all of a feed below next was handed over or reported, and that of
// it the ranges of open are still being recovered: it copies them. It is written with
// the messages that Put was given before, or soon; never before these.
func (s *Store) Mark(topic wire.Topic, owner wire.Owner, next uint64, open []wire.IndexRange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.marks) == 0 {
		s.signal()
	}
	k := feedKey{topic, owner}
	s.marks[k] = mark{next, append(s.marks[k].open[:0], open...)}
}

// takeMarks are the marks to be written; called under mu.
func (s *Store) takeMarks() (marks map[feedKey]mark) {
	marks, s.marks = s.marks, make(map[feedKey]mark)
	return marks
}

func (m *mark) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, m.next)
	for _, r := range m.open {
		dst = binary.BigEndian.AppendUint64(dst, r.From)
		dst = binary.BigEndian.AppendUint64(dst, r.To)
	}
	return dst
}

// parseMark reads a mark; false if b is none.
func parseMark(b []byte) (m mark, ok bool) {
	if len(b)%16 != 8 {
		return m, false
	}
	m.next = binary.BigEndian.Uint64(b)
	for b = b[8:]; len(b) > 0; b = b[16:] {
		m.open = append(m.open, wire.IndexRange{From: binary.BigEndian.Uint64(b), To: binary.BigEndian.Uint64(b[8:])})
	}
	return m, true
}
