package beef

import "fmt"

// Submission is one object as a door took it from a publisher: judged, hashed,
// and ready to be stamped. All of it is a view into the bytes it came from.
type Submission struct {
	// Frame is the frame to send. ContentID and TopicID are right; DeliverCount
	// is 1 and HashKey and SeqNum are 0 whatever the publisher wrote there, for
	// the ingress to set (PROTOCOL §7 Ingress doors).
	Frame Frame
	// Payload is what Frame.Payload holds.
	Payload Payload
	// Framed tells that it came as an object frame, not as a record.
	Framed bool
}

// Allow makes n of the record's leading names deliverable; see Deliverable. It
// is for doors that authenticate their publishers (PROTOCOL §7 Ingress doors).
func (s *Submission) Allow(n int) {
	n = max(0, min(n, MaxTopics))
	s.Frame.DeliverCount = uint8(Deliverable(uint8(n), s.Payload.Record.TopicCount()))
}

// ParseSubmission decodes one record or object frame that fills b: a datagram,
// or the record that an HTTP door built. maxObject is the bound on the object
// in bytes, 0 for DefaultMaxObject (PROTOCOL §7 Ingress doors).
//
// The error is a *FaultError, or says that maxObject is out of range.
func ParseSubmission(b []byte, maxObject int) (s Submission, err error) {
	bound, err := objectBound(maxObject)
	if err != nil {
		return Submission{}, err
	}
	// It is written where the caller has it: a Submission is large enough for a copy
	// to show beside the hash of a small object.
	if f := parseSubmission(&s, b, bound, nil); !f.none() {
		return Submission{}, f.raise()
	}
	return s, nil
}

// parseSubmission is ParseSubmission in the terms of this package.
func parseSubmission(s *Submission, b []byte, bound int64, names *lastName) fault {
	size, f := judgeSubmission(s, Detect(b), b, bound, names)
	if f.none() && size < int64(len(b)) {
		f = malformed(int(size), reasonTrailing, 0)
	}
	return f
}

// maxBound keeps every length that a bound is compared with far from overflow.
const maxBound = 1 << 30

// objectBound checks a configured bound on an object.
func objectBound(configured int) (int64, error) {
	switch {
	case configured == 0:
		return DefaultMaxObject, nil
	case configured < markerSize || configured > maxBound:
		return 0, fmt.Errorf("beef: max object %d", configured)
	}
	return int64(configured), nil
}

// judgeSubmission judges the unit at the start of b and, when all of it is there
// and without a fault, writes the submission to s. size is the unit's length as soon as it is
// known: with no fault, with ErrRejected, and with ErrShort where only bytes of
// a judged unit are missing; else 0. names may be nil.
func judgeSubmission(s *Submission, g Grammar, b []byte, bound int64, names *lastName) (size int64, f fault) {
	switch g {
	case GrammarRecord:
		return judgeRecordUnit(s, b, bound, names)
	case GrammarFrame:
		return judgeFrameUnit(s, b, bound, names)
	case GrammarBareTx:
		return 0, malformed(0, reasonBareTx, 0)
	}
	return 0, truncated(0)
}

func judgeRecordUnit(s *Submission, b []byte, bound int64, names *lastName) (size int64, f fault) {
	h, f := judgeRecord(b, bound)
	if f.kind == short || f.kind == broken {
		return 0, f
	}
	size = h.total()
	if !f.none() {
		return size, f
	}
	if int64(len(b)) < size {
		return size, truncated(h.size)
	}
	rec := &s.Payload.Record
	h.record(rec, b)
	s.Payload.Object = rec.Object
	s.Payload.Version, _ = MarkerOf(rec.Object)
	s.unstamped(rec.raw)
	s.Frame.ContentID = ContentID(rec.raw)
	s.Frame.TopicID = names.topicID(rec.Topic(0))
	s.Framed = false
	return size, f
}

// unstamped gives the frame its payload and what the ingress has not set yet.
func (s *Submission) unstamped(payload []byte) {
	h := &s.Frame.Header
	h.DeliverCount, h.HashKey, h.SeqNum, h.proto = 1, 0, 0, 0
	s.Frame.Payload = payload
}

// judgeFrameUnit judges a frame in the order in which its bytes come: header,
// the payload's length, its head, the topic, and last, over all of it, the
// hash.
func judgeFrameUnit(s *Submission, b []byte, bound int64, names *lastName) (size int64, f fault) {
	var header Header
	length, f := parseHeader(&header, b, FrameVerObject)
	if !f.none() {
		return 0, f
	}
	n := int64(length)
	if n > 2*bound+MaxEnvelope {
		return 0, malformed(88, reasonOversize, uint64(length))
	}
	size = HeaderSize + n
	if n == 0 {
		return size, rejected(88, reasonPayloadLen, 0)
	}
	if n > bound+MaxEnvelope {
		return size, rejected(88, reasonOversize, uint64(length))
	}
	body := b[HeaderSize:min(int64(len(b)), size)]
	h, f := judgePayload(body, n, bound)
	if f.kind == short {
		return 0, f.at(HeaderSize)
	}
	if !f.none() {
		return size, f.at(HeaderSize)
	}
	if f := judgeTopic(&header, h, body, names); !f.none() {
		return size, f
	}
	if int64(len(body)) < n {
		return size, truncated(HeaderSize)
	}
	body = body[:n:n]
	contentID := ContentID(body)
	if contentID != header.ContentID {
		return size, rejected(8, reasonContentID, 0)
	}
	h.payload(&s.Payload, body)
	s.unstamped(body)
	s.Frame.ContentID = contentID
	s.Frame.TopicID = header.TopicID
	s.Framed = true
	return size, f
}

// judgeTopic rejects a header whose TopicID is not the record's first topic. A
// bare object has no name to compare with, but no name hashes to zeros.
func judgeTopic(header *Header, h payloadHead, body []byte, names *lastName) fault {
	if h.record.count == 0 {
		if header.TopicID == (TopicID{}) {
			return rejected(56, reasonNoTopic, 0)
		}
		return fault{}
	}
	first, _ := cutName(h.record.names(body))
	if names.topicID(first) != header.TopicID {
		return rejected(56, reasonTopicMismatch, 0)
	}
	return fault{}
}
