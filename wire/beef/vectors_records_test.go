package beef_test

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"testing"

	"treecast/wire/beef"
)

type frameVector struct {
	Requested   int `json:"deliver_count_requested"`
	OnWire      int `json:"deliver_count_on_wire"`
	Header      hexed
	FrameLen    int     `json:"frame_len"`
	FrameSHA256 hexed   `json:"frame_sha256"`
	Deliverable []hexed `json:"deliverable_topic_ids"`
	Frame       hexed
}

type recordVector struct {
	ID           string
	Topics       []string
	TopicsHex    []hexed `json:"topics_hex"`
	TopicIDs     []hexed `json:"topic_ids"`
	TopicCount   int     `json:"topic_count"`
	ObjectID     string  `json:"object_id"`
	ObjectHex    hexed   `json:"object_hex"`
	ObjectLen    int     `json:"object_len"`
	ObjectOffset int     `json:"object_offset"`
	Record       hexed
	ContentID    hexed `json:"content_id"`
	TopicID      hexed `json:"topic_id"`
	PairKey      hexed `json:"pair_key"`
	Frames       map[string]frameVector
}

func (v *vectors) record(t testing.TB, id string) *recordVector {
	t.Helper()
	for i := range v.Records.Items {
		if v.Records.Items[i].ID == id {
			return &v.Records.Items[i]
		}
	}
	t.Fatalf("no record %q", id)
	return nil
}

func testRecords(t *testing.T, v *vectors, l ledger) {
	each(t, l, "records.items", v.Records.Items, func(o *recordVector) string { return o.ID },
		func(t *testing.T, o *recordVector) {
			object := []byte(o.ObjectHex)
			if o.ObjectID != "" {
				object = v.object(t, o.ObjectID)
			}
			checkRecord(t, o, object)
			for _, f := range o.Frames {
				checkRecordFrame(t, o, &f)
			}
		})
	each(t, l, "records.bare_object_frames", v.Records.BareObjectFrames, func(o *bareVector) string { return o.ID },
		func(t *testing.T, o *bareVector) { checkBareFrame(t, o, v.object(t, o.ObjectID)) })
	each(t, l, "records.valid_frame_variants", v.Records.ValidFrameVariants,
		func(o *variantVector) string { return o.ID }, checkVariant)
}

func checkRecord(t *testing.T, o *recordVector, object []byte) {
	t.Helper()
	built, err := beef.AppendRecord([]byte("before"), o.Topics, object)
	if err != nil || !bytes.Equal(built, append([]byte("before"), o.Record...)) {
		t.Fatalf("AppendRecord: %v", err)
	}
	rec, err := beef.ParseRecord(o.Record)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(rec.Object, object) || len(object) != o.ObjectLen || &rec.Object[0] != &o.Record[o.ObjectOffset] {
		t.Error("the object is not the view expected")
	}
	if !bytes.Equal(rec.Bytes(), o.Record) {
		t.Error("Bytes is not the record")
	}
	if rec.TopicCount() != o.TopicCount {
		t.Errorf("%d topics, want %d", rec.TopicCount(), o.TopicCount)
	}
	i := 0
	for name := range rec.Topics() {
		if !bytes.Equal(name, o.TopicsHex[i]) || !bytes.Equal(rec.Topic(i), name) || string(name) != o.Topics[i] {
			t.Errorf("topic %d is %q, want %q", i, name, o.Topics[i])
		}
		if id := beef.TopicIDOf(string(name)); !bytes.Equal(id[:], o.TopicIDs[i]) {
			t.Errorf("topic %d has the ID %v, want %x", i, id, o.TopicIDs[i])
		}
		i++
	}
	if i != o.TopicCount {
		t.Errorf("%d topics in the iteration, want %d", i, o.TopicCount)
	}
	if id := rec.TopicID(); !bytes.Equal(id[:], o.TopicID) {
		t.Errorf("TopicID %v, want %x", id, o.TopicID)
	}
	content := beef.ContentID(o.Record)
	if !bytes.Equal(content[:], o.ContentID) {
		t.Errorf("ContentID %x, want %x", content, o.ContentID)
	}
	if key := beef.PairKey(content, rec.TopicID()); !bytes.Equal(key[:], o.PairKey) {
		t.Errorf("PairKey %x, want %x", key, o.PairKey)
	}
}

// checkRecordFrame takes the record through a door that allows so many names,
// and the frame that comes of it back.
func checkRecordFrame(t *testing.T, o *recordVector, f *frameVector) {
	t.Helper()
	sub, err := beef.ParseSubmission(o.Record, 0)
	if err != nil {
		t.Fatal(err)
	}
	sub.Allow(f.Requested)
	if int(sub.Frame.DeliverCount) != f.OnWire {
		t.Errorf("DeliverCount %d, want %d", sub.Frame.DeliverCount, f.OnWire)
	}
	if h := beef.AppendHeader(nil, &sub.Frame); !bytes.Equal(h, f.Header) {
		t.Errorf("header\n%x, want\n%x", h, f.Header)
	}
	b := beef.AppendFrame(nil, &sub.Frame)
	if sum := sha256.Sum256(b); len(b) != f.FrameLen || !bytes.Equal(sum[:], f.FrameSHA256) {
		t.Errorf("frame of %d bytes with hash %x, want %d, %x", len(b), sum, f.FrameLen, f.FrameSHA256)
	}
	if f.Frame != nil && !bytes.Equal(b, f.Frame) {
		t.Error("the frame differs")
	}
	offer := reframe(t, b)
	if got := offer.Topics(); !slices.Equal(got, distinct(f.Deliverable)) {
		t.Errorf("deliverable %v, want %x", got, f.Deliverable)
	}
	framed, err := beef.ParseSubmission(b, 0)
	if err != nil || !framed.Framed || framed.Frame.DeliverCount != 1 || framed.Payload.Version != offer.Version {
		t.Errorf("pre-framed: %+v, %v", framed.Frame.Header, err)
	}
}

// reframe decodes a frame, encodes it again and returns its offer.
func reframe(t *testing.T, b []byte) beef.Offer {
	t.Helper()
	if ver, err := beef.FrameVersion(b); err != nil || ver != beef.FrameVerObject {
		t.Fatalf("FrameVersion %#x, %v", ver, err)
	}
	f, err := beef.ParseFrame(b)
	if err != nil {
		t.Fatal(err)
	}
	if again := beef.AppendFrame(nil, &f); !bytes.Equal(again, b) || f.Size() != len(b) {
		t.Error("the frame does not encode to itself")
	}
	offer, err := beef.OfferOf(&f)
	if err != nil {
		t.Fatal(err)
	}
	return offer
}

// distinct leaves each topic once, as an offer does.
func distinct(ids []hexed) []beef.TopicID {
	var out []beef.TopicID
	for _, id := range ids {
		if t := beef.TopicID(id.id()); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

type bareVector struct {
	ID          string
	ObjectID    string `json:"object_id"`
	Topic       string
	OnWire      uint8 `json:"deliver_count_on_wire"`
	ContentID   hexed `json:"content_id"`
	PairKey     hexed `json:"pair_key"`
	Header      hexed
	FrameLen    int   `json:"frame_len"`
	FrameSHA256 hexed `json:"frame_sha256"`
}

func checkBareFrame(t *testing.T, o *bareVector, object []byte) {
	f := beef.Frame{Payload: object}
	f.DeliverCount = o.OnWire
	f.ContentID = beef.ContentID(object)
	f.TopicID = beef.TopicIDOf(o.Topic)
	b := beef.AppendFrame(nil, &f)
	if !bytes.Equal(b[:beef.HeaderSize], o.Header) {
		t.Errorf("header\n%x, want\n%x", b[:beef.HeaderSize], o.Header)
	}
	if sum := sha256.Sum256(b); len(b) != o.FrameLen || !bytes.Equal(sum[:], o.FrameSHA256) {
		t.Errorf("frame of %d bytes with hash %x", len(b), sum)
	}
	if !bytes.Equal(f.ContentID[:], o.ContentID) {
		t.Errorf("ContentID %x, want %x", f.ContentID, o.ContentID)
	}
	if key := beef.PairKey(f.ContentID, f.TopicID); !bytes.Equal(key[:], o.PairKey) {
		t.Errorf("PairKey %x, want %x", key, o.PairKey)
	}
	offer := reframe(t, b)
	if topics := offer.Topics(); len(topics) != 1 || topics[0] != f.TopicID {
		t.Errorf("deliverable %v", topics)
	}
	sub, err := beef.ParseSubmission(b, 0)
	if err != nil || sub.Payload.IsRecord() || sub.Frame.DeliverCount != 1 {
		t.Errorf("pre-framed: %+v, %v", sub.Frame.Header, err)
	}
}

type variantVector struct {
	ID      string
	Frame   hexed
	Accept  bool
	HashKey string `json:"hash_key"`
	SeqNum  uint64 `json:"seq_num"`
	Group   uint32 `json:"group_idx"`
}

func checkVariant(t *testing.T, o *variantVector) {
	reframe(t, o.Frame)
	f, err := beef.ParseFrame(o.Frame)
	if (err == nil) != o.Accept {
		t.Fatal(err)
	}
	if o.HashKey != "" {
		want := beef.HashKey([16]byte{0xFD, 14: 0x12, 15: 0x34}, o.Group)
		if f.HashKey != want || f.SeqNum != o.SeqNum {
			t.Errorf("HashKey %x, SeqNum %d, want %x, %d", f.HashKey, f.SeqNum, want, o.SeqNum)
		}
	}
	sub, err := beef.ParseSubmission(o.Frame, 0)
	if err != nil {
		t.Fatal(err)
	}
	if h := sub.Frame.Header; h.HashKey != 0 || h.SeqNum != 0 || h.DeliverCount != 1 || h.ProtoVer() != 0x02BF {
		t.Errorf("a publisher's values went through: %+v", h)
	}
}

type detectVector struct {
	ID      string
	Lead    hexed
	Grammar string
}

func testDetect(t *testing.T, v *vectors, l ledger) {
	each(t, l, "detect.items", v.Detect.Items, func(o *detectVector) string { return o.ID },
		func(t *testing.T, o *detectVector) {
			if g := beef.Detect(o.Lead); g.String() != o.Grammar {
				t.Errorf("%v, want %s", g, o.Grammar)
			}
			for n := range o.Lead {
				if g := beef.Detect(o.Lead[:n]); g != beef.GrammarUndecided && g.String() != o.Grammar {
					t.Errorf("%v after %d bytes", g, n)
				}
			}
		})
}
