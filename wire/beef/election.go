package beef

import "slices"

// Election is what a consumer wants (PROTOCOL §7 Election).
type Election struct {
	// Topics are the topics wanted; none = all of them, as an aggregator does.
	Topics []TopicID
	// Versions are the versions wanted; none = all.
	Versions []Version
}

// Match tells whether an object is to be delivered, and under which topic: the
// first of its deliverable topics, in record order, that is elected; for an
// aggregator the header's. header and deliverCount are the frame's, payload is
// its payload. A payload that ParsePayload refuses matches nothing.
//
// It reads the payload anew each time and looks the topics up one by one: it is
// for a single consumer. Elections is for many.
func (e *Election) Match(header TopicID, deliverCount uint8, payload []byte) (TopicID, bool) {
	h, fault := judgePayload(payload, int64(len(payload)), noBound)
	if !fault.none() || len(e.Versions) > 0 && !slices.Contains(e.Versions, h.version) {
		return TopicID{}, false
	}
	if len(e.Topics) == 0 || slices.Contains(e.Topics, header) {
		return header, true
	}
	var o Offer
	o.fill(&Header{TopicID: header, DeliverCount: deliverCount}, h, payload)
	for _, t := range o.Topics() {
		if slices.Contains(e.Topics, t) {
			return t, true
		}
	}
	return TopicID{}, false
}

// Offer is what elections look at in an object, worked out once for all of
// them: its version and its deliverable topics. The zero Offer matches nothing.
type Offer struct {
	// Version is the version of the object inside the record.
	Version Version

	topics [MaxTopics]TopicID // distinct, in record order; the first is the header's
	count  int
}

// OfferOf returns the offer of a frame. The error is the payload's.
func OfferOf(f *Frame) (o Offer, err error) {
	h, fault := judgePayload(f.Payload, int64(len(f.Payload)), noBound)
	if !fault.none() {
		return Offer{}, fault.inside(0).raise()
	}
	o.fill(&f.Header, h, f.Payload)
	return o, nil
}

// OfferOfFragment returns the offer of the object that fragment 0 begins, and
// true; or false when f is not fragment 0 or too short to hold all names and
// the marker. A beginning that ParsePayload would refuse gives the zero Offer
// (PROTOCOL §7 Reassembly).
func OfferOfFragment(f *Fragment) (o Offer, ok bool) {
	if f.Index != 0 {
		return Offer{}, false
	}
	h, fault := judgePayload(f.Data, int64(f.OrigLen), noBound)
	if fault.kind == short {
		return Offer{}, false
	}
	if fault.none() {
		o.fill(&f.Header, h, f.Data)
	}
	return o, true
}

// fill makes of a zero Offer that of a payload that begins with b and whose head is
// h. It hashes the deliverable names behind the first, whose hash is the header's
// TopicID; a bare object has none.
func (o *Offer) fill(header *Header, h payloadHead, b []byte) {
	o.Version = h.version
	o.topics[0], o.count = header.TopicID, 1
	if h.record.count == 0 {
		return
	}
	_, rest := cutName(h.record.names(b))
	for range Deliverable(header.DeliverCount, h.record.count) - 1 {
		var name []byte
		name, rest = cutName(rest)
		o.add(topicIDOf(name))
	}
}

// Topics returns the deliverable topics in record order, each once.
func (o *Offer) Topics() []TopicID { return o.topics[:o.count] }

// add appends a topic that is not there yet. There is room: the names behind
// the first and the header's topic are at most MaxTopics.
func (o *Offer) add(t TopicID) {
	if !slices.Contains(o.Topics(), t) {
		o.topics[o.count] = t
		o.count++
	}
}
