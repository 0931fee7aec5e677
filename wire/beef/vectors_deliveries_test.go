package beef_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"treecast/wire/beef"
)

type deliveryVector struct {
	ID              string
	PayloadRef      string   `json:"payload_ref"`
	HeaderTopicID   hexed    `json:"header_topic_id"`
	DeliverCount    uint8    `json:"deliver_count"`
	ElectedTopics   []string `json:"elected_topics"`
	ElectedVersions []hexed  `json:"elected_versions"`
	Deliverable     []hexed  `json:"deliverable_topic_ids"`
	Delivered       bool
	Deliveries      int
	MatchedTopicID  hexed `json:"matched_topic_id"`
	MatchedIsHeader *bool `json:"matched_is_header_topic"`
	RecordLen       int   `json:"record_len"`
	Record          hexed
}

func (o *deliveryVector) election(t *testing.T) beef.Election {
	var e beef.Election
	for _, name := range o.ElectedTopics {
		e.Topics = append(e.Topics, beef.TopicIDOf(name))
	}
	for _, marker := range o.ElectedVersions {
		v, ok := beef.MarkerOf(marker)
		if !ok {
			t.Fatalf("no version %x", marker)
		}
		e.Versions = append(e.Versions, v)
	}
	return e
}

func testDeliveryRecords(t *testing.T, v *vectors, l ledger) {
	each(t, l, "delivery_records.items", v.DeliveryRecords.Items, func(o *deliveryVector) string { return o.ID },
		func(t *testing.T, o *deliveryVector) {
			payload := []byte(nil)
			if id, bare := strings.CutPrefix(o.PayloadRef, "object "); bare {
				payload = v.object(t, id)
			} else {
				payload = v.record(t, o.PayloadRef).Record
			}
			checkDelivery(t, o, payload)
		})
	each(t, l, "delivery_records.invalid", v.DeliveryRecords.Invalid, func(o *invalidVector) string { return o.ID }, checkInvalidDelivery)
	t.Run("stream_two_records", func(t *testing.T) {
		o := &v.DeliveryRecords.StreamTwoRecords
		events, want := receiveBothWays(t, o.Hex), append(slices.Clone(o.Expect), "clean")
		if !slices.Equal(events, want) {
			t.Errorf("events %q, want %q", events, want)
		}
		l.hit("delivery_records.stream_two_records.hex", "delivery_records.stream_two_records.expect")
	})
	t.Run("layout", func(t *testing.T) {
		layout := v.DeliveryRecords.Layout
		if *layout["payload"][0] != beef.DeliveryHeaderSize || *layout["topic_id"][1] != 32 || *layout["payload_len_be"][0] != 32 {
			t.Errorf("layout %v", layout)
		}
		l.hit("delivery_records.layout.topic_id", "delivery_records.layout.payload_len_be", "delivery_records.layout.payload")
	})
}

func checkDelivery(t *testing.T, o *deliveryVector, payload []byte) {
	f := beef.Frame{Payload: payload}
	f.DeliverCount = o.DeliverCount
	f.TopicID = beef.TopicID(o.HeaderTopicID.id())
	offer, err := beef.OfferOf(&f)
	if err != nil {
		t.Fatal(err)
	}
	if got := offer.Topics(); !slices.Equal(got, distinct(o.Deliverable)) {
		t.Errorf("deliverable %v, want %x", got, o.Deliverable)
	}
	e := o.election(t)
	topic, ok := e.Match(f.TopicID, f.DeliverCount, payload)
	if ok != o.Delivered || ok && !bytes.Equal(topic[:], o.MatchedTopicID) {
		t.Fatalf("Match %v, %v, want %x", topic, ok, o.MatchedTopicID)
	}
	var set beef.Elections
	set.Set(7, e)
	matches := set.Match(&offer, nil)
	if len(matches) != o.Deliveries || ok && matches[0] != (beef.Match{Consumer: 7, Topic: topic}) {
		t.Errorf("Elections.Match %v", matches)
	}
	if set.Wants(&offer) != o.Delivered {
		t.Error("Wants says otherwise")
	}
	if !ok {
		return
	}
	if *o.MatchedIsHeader != (topic == f.TopicID) {
		t.Error("matched the other kind of topic")
	}
	d := beef.Delivery{TopicID: topic, Payload: payload}
	b := beef.AppendDelivery(nil, &d)
	if !bytes.Equal(b, o.Record) || len(b) != o.RecordLen {
		t.Errorf("record\n%x, want\n%x", b, o.Record)
	}
	if h := beef.AppendDeliveryHeader(nil, &d); !bytes.Equal(h, b[:beef.DeliveryHeaderSize]) {
		t.Errorf("header %x", h)
	}
	back, err := beef.ParseDelivery(b)
	if err != nil || back.TopicID != topic || !bytes.Equal(back.Payload, payload) {
		t.Errorf("ParseDelivery: %v", err)
	}
	for n := range b {
		if _, err := beef.ParseDelivery(b[:n]); !errors.Is(err, beef.ErrShort) {
			t.Fatalf("prefix of %d bytes: %v", n, err)
		}
	}
}

func checkInvalidDelivery(t *testing.T, o *invalidVector) {
	want := map[string]struct {
		sentinel error
		reason   string
		offset   int
		event    string
	}{
		"zero_len":                     {beef.ErrMalformed, beef.ReasonPayloadLen, 32, "malformed bad_payload_len @32"},
		"truncated_header":             {beef.ErrShort, beef.ReasonTruncated, 32, "short truncated @32"},
		"truncated_payload":            {beef.ErrShort, beef.ReasonTruncated, 36, "short truncated @36"},
		"payload_not_marker_or_record": {beef.ErrRejected, beef.ReasonMarker, 36, "rejected bad_marker @36"},
		"payload_record_trailing":      {beef.ErrRejected, beef.ReasonTrailing, 60, "rejected trailing_bytes @60"},
		"payload_len_ffffffff":         {beef.ErrShort, beef.ReasonTruncated, 36, "malformed oversize @32"},
	}[o.ID]
	_, err := beef.ParseDelivery(o.Hex)
	wantFault(t, err, want.sentinel, want.reason, want.offset)
	if events := receiveBothWays(t, o.Hex); events[0] != want.event {
		t.Errorf("events %q, want %q", events, want.event)
	}
}

// receive is scan for a DeliveryScanner.
func receive(t testing.TB, b []byte, step int) []string {
	t.Helper()
	s, err := beef.NewDeliveryScanner(0)
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for len(b) > 0 {
		b = b[s.Feed(b[:min(step, len(b))]):]
		for {
			d, err := s.Next()
			if err == beef.ErrShort {
				break
			}
			if err == nil {
				events = append(events, fmt.Sprintf("%s under %s", nameOf(t, d.Payload), topicName(d.TopicID)))
				continue
			}
			events = append(events, eventOf(t, nil, err))
			if errors.Is(err, beef.ErrMalformed) {
				return events
			}
		}
	}
	if err := s.End(); err != nil {
		return append(events, eventOf(t, nil, err))
	}
	return append(events, "clean")
}

func topicName(id beef.TopicID) string {
	for _, name := range []string{"tm_ship", "tm_slap", "tm_uhrp_files"} {
		if beef.TopicIDOf(name) == id {
			return name
		}
	}
	return id.String()
}

func receiveBothWays(t testing.TB, b []byte) []string {
	t.Helper()
	once := receive(t, b, len(b)+1)
	for _, step := range []int{1, 5, 37} {
		if cut := receive(t, b, step); !slices.Equal(once, cut) {
			t.Errorf("in one write %q, in pieces of %d %q", once, step, cut)
		}
	}
	return once
}
