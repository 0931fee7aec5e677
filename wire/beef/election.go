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
	p, err := ParsePayload(payload)
	if err != nil || len(e.Versions) > 0 && !slices.Contains(e.Versions, p.Version) {
		return TopicID{}, false
	}
	if len(e.Topics) == 0 || slices.Contains(e.Topics, header) {
		return header, true
	}
	o := newOffer(header, deliverCount, &p.Record, p.Version)
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
func OfferOf(f *Frame) (Offer, error) {
	p, err := ParsePayload(f.Payload)
	if err != nil {
		return Offer{}, err
	}
	return newOffer(f.TopicID, f.DeliverCount, &p.Record, p.Version), nil
}

// OfferOfFragment returns the offer of the object that fragment 0 begins, and
// true; or false when f is not fragment 0 or too short to hold all names and
// the marker. A beginning that ParsePayload would refuse gives the zero Offer
// (PROTOCOL §7 Reassembly).
func OfferOfFragment(f *Fragment) (Offer, bool) {
	if f.Index != 0 {
		return Offer{}, false
	}
	h, fault := judgePayload(f.Data, int64(f.OrigLen), noBound)
	if fault.kind == short {
		return Offer{}, false
	}
	if !fault.none() {
		return Offer{}, true
	}
	rec := Record{count: h.record.count}
	if rec.count > 0 {
		rec.names = h.record.names(f.Data)
	}
	return newOffer(f.TopicID, f.DeliverCount, &rec, h.version), true
}

// newOffer hashes the deliverable names behind the first, whose hash is the
// header's TopicID. A bare object has none.
func newOffer(header TopicID, deliverCount uint8, rec *Record, v Version) Offer {
	o := Offer{Version: v, count: 1}
	o.topics[0] = header
	n, i := Deliverable(deliverCount, rec.count), 0
	for name := range rec.Topics() {
		if i == n {
			break
		}
		if i > 0 {
			o.add(topicIDOf(name))
		}
		i++
	}
	return o
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
