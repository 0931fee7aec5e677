package beef

import (
	"crypto/sha256"
	"encoding/binary"
	"unicode/utf8"
)

// noBound stands for a reader without a bound on the object.
const noBound int64 = -1

// recordHead is what a record says before its object.
type recordHead struct {
	count     int   // names, 1..MaxTopics
	size      int   // bytes before the object, at most MaxEnvelope
	objectLen int64 // bytes of the object, at least 1
}

// record makes of r the Record of a judged head and bytes that hold all of it.
func (h recordHead) record(r *Record, b []byte) {
	end := h.size + int(h.objectLen)
	r.Object = b[h.size:end:end]
	r.raw = b[:end:end]
	r.names = h.names(b)
	r.count = h.count
}

func (h recordHead) names(b []byte) []byte { return b[4 : h.size-4] }

// total is the length of the whole record.
func (h recordHead) total() int64 { return int64(h.size) + h.objectLen }

// parseRecordHead reads the structure of a record's head; every fault but
// ErrShort is malformed. Its cost is the number of names, not of bytes, so that
// a head that arrives in single bytes can be read again with each of them.
func parseRecordHead(b []byte) (recordHead, fault) {
	for i, c := range b[:min(len(b), len(recordTag))] {
		if c != recordTag[i] {
			return recordHead{}, malformed(0, reasonBadTag, 0)
		}
	}
	switch {
	case len(b) < 2:
		return recordHead{}, truncated(0)
	case len(b) < 3:
		return recordHead{}, truncated(2)
	case b[2] != recordVersion:
		return recordHead{}, malformed(2, reasonRecordVersion, uint64(b[2]))
	case len(b) < 4:
		return recordHead{}, truncated(3)
	case b[3] == 0 || b[3] > MaxTopics:
		return recordHead{}, malformed(3, reasonTopicCount, uint64(b[3]))
	}
	h := recordHead{count: int(b[3])}
	at := 4
	for range h.count {
		if len(b) <= at {
			return h, truncated(at)
		}
		n := int(b[at])
		if n == 0 || n > MaxTopicName {
			return h, malformed(at, reasonNameLen, uint64(n))
		}
		at++
		if len(b) < at+n {
			return h, truncated(at)
		}
		at += n
	}
	if len(b) < at+4 {
		return h, truncated(at)
	}
	h.objectLen = int64(binary.BigEndian.Uint32(b[at:]))
	h.size = at + 4
	if h.objectLen == 0 {
		return h, malformed(at, reasonObjectLen, 0)
	}
	return h, fault{}
}

// judgeRecord judges a record as far as its marker, which is all that is ever
// judged of an object. The order is fixed: structure, an object too long to be
// skipped, names, the bound, the marker; so the same bytes have the same fault
// however they were cut. When the fault is ErrRejected the head is complete and
// says how much there is to skip.
func judgeRecord(b []byte, bound int64) (recordHead, fault) {
	h, f := parseRecordHead(b)
	if !f.none() {
		return h, f
	}
	if bound != noBound && h.objectLen > 2*bound {
		return h, malformed(h.size-4, reasonOversize, uint64(h.objectLen))
	}
	if f := judgeNames(h.names(b)); !f.none() {
		return h, f.at(4)
	}
	if bound != noBound && h.objectLen > bound {
		return h, rejected(h.size-4, reasonOversize, uint64(h.objectLen))
	}
	if _, f := judgeMarker(b[h.size:], h.objectLen); !f.none() {
		return h, f.at(h.size)
	}
	return h, fault{}
}

// judgeNames rejects the first name of a topic list that is not UTF-8. A name's
// length is a byte of ASCII, so the list is UTF-8 as a whole if and only if all of
// its names are.
func judgeNames(list []byte) fault {
	if utf8.Valid(list) {
		return fault{}
	}
	at := 0
	for {
		name, _ := cutName(list[at:])
		if !utf8.Valid(name) {
			return rejected(at+1, reasonUTF8, 0)
		}
		at += 1 + len(name)
	}
}

// topicIDOf is TopicIDOf for a name that is a view.
func topicIDOf(name []byte) TopicID { return sha256.Sum256(name) }
