package beef

import (
	"encoding/binary"
	"iter"
	"math"
	"unicode/utf8"
)

// Bounds of a record (PROTOCOL §7 Layouts, Ingress doors).
const (
	// MaxEnvelope is the most bytes a record has around its object: the fixed
	// fields and MaxTopics names of MaxTopicName bytes.
	MaxEnvelope = 4 + MaxTopics*(1+MaxTopicName) + 4
	// DefaultMaxObject is the default bound on an object in bytes.
	DefaultMaxObject = 16 << 20
)

const recordVersion = 0x01

var recordTag = [2]byte{0xBE, 0xEF}

// Record is a submission record: an object and the topics it is for, the first
// of them the one it is sent under (PROTOCOL §7 Layouts; integers big endian).
//
//	offset size field
//	     0    2 tag BE EF
//	     2    1 RecordVer 01
//	     3    1 TopicCount, 1..15
//	     4    … per topic: name length 1 (1..64), name (UTF-8)
//	     …    4 ObjectLen, at least 1
//	     …    … object, starting with a marker
//
// A Record is a view into the bytes that were parsed.
type Record struct {
	// Object is the object, marker included.
	Object []byte

	raw   []byte
	names []byte // the topic list, lengths included
	count int
}

// ParseRecord decodes one record that fills b. It puts no bound on the object;
// ParseSubmission and Scanner do.
//
// The error is a *FaultError: ErrShort for a cut record, ErrRejected for a name
// that is not UTF-8 or an object without a marker, ErrMalformed otherwise.
func ParseRecord(b []byte) (r Record, err error) {
	h, f := judgeRecord(b, noBound)
	if !f.none() {
		return Record{}, f.raise()
	}
	switch end := h.total(); {
	case int64(len(b)) < end:
		return Record{}, truncated(h.size).raise()
	case int64(len(b)) > end:
		return Record{}, malformed(int(end), reasonTrailing, 0).raise()
	}
	h.record(&r, b)
	return r, nil
}

// Bytes returns the whole record, which is the payload of its frame.
func (r *Record) Bytes() []byte { return r.raw }

// TopicCount returns how many names the record has, deliverable ones and
// labels: 1..MaxTopics, 0 for the zero Record.
func (r *Record) TopicCount() int { return r.count }

// Topic returns the i-th name, counted from 0. It panics when there is none.
func (r *Record) Topic(i int) []byte {
	if i < 0 || i >= r.count {
		panic("beef: topic index out of range")
	}
	rest := r.names
	for ; i > 0; i-- {
		_, rest = cutName(rest)
	}
	name, _ := cutName(rest)
	return name
}

// Topics returns the names in record order.
func (r *Record) Topics() iter.Seq[[]byte] {
	names := r.names
	return func(yield func([]byte) bool) {
		for rest := names; len(rest) > 0; {
			end := 1 + int(rest[0])
			if !yield(rest[1:end:end]) {
				return
			}
			rest = rest[end:]
		}
	}
}

// TopicID returns the identifier of the first topic.
func (r *Record) TopicID() TopicID { return topicIDOf(r.Topic(0)) }

// cutName takes the first name off a topic list whose lengths were checked.
func cutName(list []byte) (name, rest []byte) {
	end := 1 + int(list[0])
	return list[1:end:end], list[end:]
}

// AppendRecord appends a record of the object for the topics. On error dst comes
// back unchanged; the error is a *FaultError as ParseRecord would give for the
// record, Offset included.
func AppendRecord(dst []byte, topics []string, object []byte) ([]byte, error) {
	if len(topics) == 0 || len(topics) > MaxTopics {
		return dst, malformed(3, reasonTopicCount, uint64(len(topics))).raise()
	}
	at := 4
	for _, name := range topics {
		if len(name) == 0 || len(name) > MaxTopicName {
			return dst, malformed(at, reasonNameLen, uint64(len(name))).raise()
		}
		at += 1 + len(name)
	}
	if len(object) == 0 {
		return dst, malformed(at, reasonObjectLen, 0).raise()
	}
	if uint64(len(object)) > math.MaxUint32 {
		return dst, malformed(at, reasonOversize, uint64(len(object))).raise()
	}
	name := 5
	for _, n := range topics {
		if !utf8.ValidString(n) {
			return dst, rejected(name, reasonUTF8, 0).raise()
		}
		name += len(n) + 1
	}
	if _, f := judgeMarker(object, int64(len(object))); !f.none() {
		return dst, f.at(at + 4).raise()
	}
	dst = append(dst, recordTag[0], recordTag[1], recordVersion, byte(len(topics)))
	for _, n := range topics {
		dst = append(dst, byte(len(n)))
		dst = append(dst, n...)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(object)))
	return append(dst, object...), nil
}
