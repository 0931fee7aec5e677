package beef_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"treecast/wire/beef"
)

type setVector struct {
	ID            string
	PayloadLen    int     `json:"payload_len"`
	PayloadSHA256 hexed   `json:"payload_sha256"`
	DataSize      int     `json:"frag_data_size"`
	Total         int     `json:"frag_total"`
	ContentID     hexed   `json:"content_id"`
	TopicID       hexed   `json:"topic_id"`
	DeliverCount  uint8   `json:"deliver_count"`
	SlotKey       hexed   `json:"slot_key"`
	Group         uint32  `json:"group_idx"`
	FirstSeqNum   uint64  `json:"first_seq_num"`
	DatagramSizes []int   `json:"datagram_sizes"`
	SHA256s       []hexed `json:"fragments_sha256"`
	ConcatSHA256  hexed   `json:"fragments_concat_sha256"`
	Headers       []hexed
	Fragments     []hexed
	Reassembled   struct {
		PayloadSHA256D hexed `json:"payload_sha256d"`
		FrameSHA256    hexed `json:"synthetic_frame_sha256"`
		FrameHeader    hexed `json:"synthetic_frame_header"`
	}
}

type badVector struct {
	ID       string
	Sequence []struct {
		Hex hexed
		Set string
		I   int
	}
	Expect string
}

type fragmentVectors struct {
	Legend map[string]string          `json:"expect_legend"`
	Layout map[string]json.RawMessage `json:"layout"`
	Object struct{ SHA256 hexed }     `json:"frag_object_5000"`
	Sets   []setVector
	Bad    []badVector
	Sizes  map[string]json.RawMessage
}

// payload makes the payload that the set's words tell of.
func (v *vectors) payload(t testing.TB, set string) []byte {
	t.Helper()
	record := func(object []byte, topics ...string) []byte {
		b, err := beef.AppendRecord(nil, topics, object)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	exact := slices.Concat(unhex(t, "0200beef"), stream("beefvec frag exact", 2676))
	switch set {
	case "rec5000_1348", "rec5000_3992":
		return record(fragObject(t), "tm_uhrp_files", "tm_ship", "tm_slap")
	case "exact_multiple_1348":
		return record(exact, "tm_ship")
	case "one_over_1348":
		return record(append(exact, 0), "tm_ship")
	case "single_fragment":
		return v.record(t, "one_topic_small").Record
	case "bare_object_1348":
		return v.object(t, "large_20k_v1")
	case "large_20k_3992":
		return record(v.object(t, "large_20k_v1"), "tm_ship")
	case "large_300k_1348", "large_300k_3992":
		return record(v.object(t, "large_300k_v2"), "tm_ship")
	}
	t.Fatalf("no payload for %q", set)
	return nil
}

func fragObject(t testing.TB) []byte {
	return slices.Concat(unhex(t, "0100beef"), stream("beefvec frag 5000", 4996))
}

func testFragments(t *testing.T, v *vectors, l ledger) {
	t.Run("frag_object_5000", func(t *testing.T) {
		if sum := sha256.Sum256(fragObject(t)); !bytes.Equal(sum[:], v.Fragments.Object.SHA256) {
			t.Errorf("sha256 %x", sum)
		}
		l.hit("fragments.frag_object_5000.sha256")
	})
	each(t, l, "fragments.sets", v.Fragments.Sets, func(o *setVector) string { return o.ID },
		func(t *testing.T, o *setVector) { checkSet(t, o, v.payload(t, o.ID)) })
	met := map[string]bool{}
	each(t, l, "fragments.bad", v.Fragments.Bad, func(o *badVector) string { return o.ID },
		func(t *testing.T, o *badVector) {
			met[o.Expect] = true
			checkBad(t, v, o)
		})
	for expect := range v.Fragments.Legend {
		if met[expect] {
			l.hit("fragments.expect_legend." + expect)
		}
	}
	t.Run("layout", func(t *testing.T) { checkFragmentLayout(t, l, v.Fragments.Layout) })
	t.Run("sizes", func(t *testing.T) {
		for name, want := range map[string]int{
			"mtu_1500":         1500 - 40 - 8 - beef.FragmentHeaderSize,
			"mtu_9000":         9000 - 40 - 8 - beef.FragmentHeaderSize,
			"of_4096_datagram": beef.MaxFragmentData,
		} {
			var size int
			if err := json.Unmarshal(v.Fragments.Sizes[name], &size); err != nil || size != want {
				t.Errorf("%s: %d, want %d", name, size, want)
			}
			l.hit("fragments.sizes." + name)
		}
	})
}

// checkSet cuts the payload as the set was cut, compares, and puts it together
// again in several orders.
func checkSet(t *testing.T, o *setVector, payload []byte) {
	if sum := sha256.Sum256(payload); len(payload) != o.PayloadLen || !bytes.Equal(sum[:], o.PayloadSHA256) {
		t.Fatalf("payload of %d bytes with hash %x", len(payload), sum)
	}
	f := beef.Frame{Payload: payload}
	f.DeliverCount = o.DeliverCount
	f.ContentID = beef.ContentID(payload)
	f.TopicID = beef.TopicID(o.TopicID.id())
	f.HashKey = beef.HashKey([16]byte{0xFD, 14: 0x12, 15: 0x34}, o.Group)
	f.SeqNum = o.FirstSeqNum
	if !bytes.Equal(f.ContentID[:], o.ContentID) || !bytes.Equal(f.ContentID[:], o.Reassembled.PayloadSHA256D) {
		t.Fatalf("ContentID %x", f.ContentID)
	}
	if key := beef.PairKey(f.ContentID, f.TopicID); !bytes.Equal(key[:], o.SlotKey) {
		t.Errorf("PairKey %x, want %x", key, o.SlotKey)
	}
	cut := split(t, &f, o.DataSize)
	checkCut(t, o, cut)

	whole := beef.AppendFrame(nil, &f)
	if sum := sha256.Sum256(whole); !bytes.Equal(sum[:], o.Reassembled.FrameSHA256) ||
		!bytes.Equal(whole[:beef.HeaderSize], o.Reassembled.FrameHeader) {
		t.Errorf("the frame is another one: header %x", whole[:beef.HeaderSize])
	}
	if got := assemble(t, cut); !bytes.Equal(beef.AppendFrame(nil, got), whole) {
		t.Error("in order: another frame")
	}
	order := slices.Clone(cut)
	slices.Reverse(order)
	if got := assemble(t, order); !bytes.Equal(got.Payload, payload) || got.SeqNum != f.SeqNum+uint64(len(cut)-1) {
		t.Errorf("in reverse: SeqNum %d, or other bytes", got.SeqNum)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	if got := assemble(t, order); !bytes.Equal(got.Payload, payload) {
		t.Error("shuffled: other bytes")
	}
}

func checkCut(t *testing.T, o *setVector, cut [][]byte) {
	t.Helper()
	if len(cut) != o.Total || len(cut) != len(o.DatagramSizes) {
		t.Fatalf("%d fragments, want %d", len(cut), o.Total)
	}
	concat := sha256.New()
	for i, b := range cut {
		concat.Write(b)
		if len(b) != o.DatagramSizes[i] {
			t.Errorf("fragment %d has %d bytes, want %d", i, len(b), o.DatagramSizes[i])
		}
		if sum := sha256.Sum256(b); o.SHA256s != nil && !bytes.Equal(sum[:], o.SHA256s[i]) {
			t.Errorf("fragment %d is another one", i)
		}
		if o.Fragments != nil && !bytes.Equal(b, o.Fragments[i]) {
			t.Errorf("fragment %d differs", i)
		}
		frag, err := beef.ParseFragment(b)
		if err != nil || !bytes.Equal(beef.AppendFragment(nil, &frag), b) {
			t.Errorf("fragment %d: %v, or not encoded to itself", i, err)
		}
	}
	if !bytes.Equal(concat.Sum(nil), o.ConcatSHA256) {
		t.Error("the fragments together are others")
	}
	first, last := cut[0][:beef.FragmentHeaderSize], cut[len(cut)-1][:beef.FragmentHeaderSize]
	if !bytes.Equal(first, o.Headers[0]) || !bytes.Equal(last, o.Headers[len(o.Headers)-1]) {
		t.Errorf("headers\n%x\n%x", first, last)
	}
}

// split returns the encoded fragments of a frame.
func split(t testing.TB, f *beef.Frame, size int) [][]byte {
	t.Helper()
	fragments, err := beef.Split(f, size)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for frag := range fragments {
		out = append(out, beef.AppendFragment(nil, &frag))
	}
	return out
}

// assemble adds encoded fragments and returns the frame, which the last of them
// must complete.
func assemble(t testing.TB, cut [][]byte) *beef.Frame {
	t.Helper()
	r, err := beef.NewReassembler(beef.ReassemblerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	var frame beef.Frame
	for i, b := range cut {
		frag, err := beef.ParseFragment(b)
		if err != nil {
			t.Fatal(err)
		}
		got, outcome := r.Add(start, &frag)
		if (outcome == beef.OutcomeComplete) != (i == len(cut)-1) {
			t.Fatalf("fragment %d of %d: %v", i, len(cut), outcome)
		}
		beef.CheckReassembler(t, r)
		frame = got
	}
	return &frame
}

// start is when the tests' clocks start.
var start = time.Unix(1_700_000_000, 0)

// badReasons says, per vector of a fragment to drop, why it is dropped.
var badReasons = map[string]string{
	"index_eq_total":                beef.ReasonFragIndex,
	"index_65535":                   beef.ReasonFragIndex,
	"total_0":                       beef.ReasonFragTotal,
	"orig_len_0":                    beef.ReasonOrigLen,
	"total_exceeds_orig_len_plus_1": beef.ReasonFragTotal,
	"orig_len_over_bound":           beef.ReasonFragSize,
	"payload_len_exceeds_datagram":  beef.ReasonTruncated,
	"short_header_103":              beef.ReasonTruncated,
	"bad_magic":                     beef.ReasonMagic,
	"orig_frame_ver_02":             beef.ReasonOrigVersion,
	"orig_frame_ver_00":             beef.ReasonOrigVersion,
}

func checkBad(t *testing.T, v *vectors, o *badVector) {
	r, err := beef.NewReassembler(beef.ReassemblerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	var frames []beef.Frame
	uneven := uint64(0) // fragments that contradict themselves
	for _, step := range o.Sequence {
		b := []byte(step.Hex)
		if step.Set != "" {
			b = v.fragment(t, step.Set, step.I)
		}
		frag, err := beef.ParseFragment(b)
		if reason, bad := badReasons[o.ID]; bad {
			sentinel := beef.ErrMalformed
			if reason == beef.ReasonTruncated {
				sentinel = beef.ErrShort
			}
			wantFault(t, err, sentinel, reason, -1)
			continue
		}
		if err != nil {
			wantFault(t, err, beef.ErrMalformed, beef.ReasonFragSize, 88)
			uneven++
			continue
		}
		if f, outcome := r.Add(start, &frag); outcome == beef.OutcomeComplete {
			frames = append(frames, f)
		}
		beef.CheckReassembler(t, r)
	}
	want := 0
	if strings.HasPrefix(o.Expect, "deliver") || o.Expect == "not_stated" {
		want = 1
	}
	if len(frames) != want {
		t.Fatalf("%d frames, want %d (%s)", len(frames), want, o.Expect)
	}
	if want == 1 && !bytes.Equal(frames[0].Payload, v.payload(t, "rec5000_1348")) {
		t.Error("other bytes")
	}
	checkBadOutcome(t, v, o, r, frames, uneven)
}

func checkBadOutcome(t *testing.T, v *vectors, o *badVector, r *beef.Reassembler, frames []beef.Frame, uneven uint64) {
	t.Helper()
	wantCount := func(outcome beef.Outcome, n uint64) {
		t.Helper()
		if got := r.Count(outcome); got != n {
			t.Errorf("%v counted %d times, want %d", outcome, got, n)
		}
	}
	switch o.Expect {
	case "drop_fragment", "not_delivered_as_beef":
		if r.Slots() != 0 {
			t.Errorf("%d slots", r.Slots())
		}
	case "drop_slot_no_delivery":
		wantCount(beef.OutcomeHash, 1)
		if r.Slots() != 0 || r.Bytes() != 0 {
			t.Errorf("%d slots of %d bytes left", r.Slots(), r.Bytes())
		}
	case "no_delivery_until_good_fragment_1", "no_delivery":
		wantCount(beef.OutcomeDisagrees, 1-uneven)
	case "no_delivery_ttl_10s":
		r.Expire(r.Deadline())
		wantCount(beef.OutcomeAge, 1)
	case "deliver_once":
		wantCount(beef.OutcomeLate, 1)
	case "deliver_only_slot_of_header_topic":
		set := v.set(t, "rec5000_1348")
		if id := frames[0].TopicID; !bytes.Equal(id[:], set.TopicID) || r.Slots() != 1 {
			t.Errorf("TopicID %v, %d slots left", id, r.Slots())
		}
	case "not_stated":
		// The highest DeliverCount holds: each was set by an ingress, and no
		// consumer may miss an object that one of them let through to it.
		if frames[0].DeliverCount != 3 {
			t.Errorf("DeliverCount %d", frames[0].DeliverCount)
		}
	}
}

func (v *vectors) set(t testing.TB, id string) *setVector {
	t.Helper()
	for i := range v.Fragments.Sets {
		if v.Fragments.Sets[i].ID == id {
			return &v.Fragments.Sets[i]
		}
	}
	t.Fatalf("no set %q", id)
	return nil
}

func (v *vectors) fragment(t testing.TB, set string, i int) []byte {
	return v.set(t, set).Fragments[i]
}

// checkFragmentLayout finds each field of a fragment at its offset.
func checkFragmentLayout(t *testing.T, l ledger, layout map[string]json.RawMessage) {
	f := beef.Fragment{OrigLen: 0x11223344, Index: 0x5566, Total: 0x7788, Data: []byte{0xEE, 0xEF}}
	f.DeliverCount, f.HashKey, f.SeqNum = 0xA1, 0xB1B2B3B4B5B6B7B8, 0xC1C2C3C4C5C6C7C8
	f.ContentID, f.TopicID = [32]byte{0xD1, 31: 0xD2}, beef.TopicID{0xD3, 31: 0xD4}
	b := beef.AppendFragment(nil, &f)
	want := map[string][]byte{
		"orig_payload_len": binary.BigEndian.AppendUint32(nil, f.OrigLen),
		"frag_index":       binary.BigEndian.AppendUint16(nil, f.Index),
		"frag_total":       binary.BigEndian.AppendUint16(nil, f.Total),
		"orig_frame_ver":   {beef.FrameVerObject},
		"reserved2":        {0, 0, 0},
		"data":             f.Data,
		"content_id":       f.ContentID[:],
		"hash_key":         binary.BigEndian.AppendUint64(nil, f.HashKey),
		"seq_num":          binary.BigEndian.AppendUint64(nil, f.SeqNum),
		"topic_id":         f.TopicID[:],
	}
	for name, bytesWanted := range want {
		var at []*int
		if err := json.Unmarshal(layout[name], &at); err != nil {
			t.Fatal(err)
		}
		if got := b[*at[0]:][:len(bytesWanted)]; !bytes.Equal(got, bytesWanted) {
			t.Errorf("%s is %x, want %x", name, got, bytesWanted)
		}
		l.hit("fragments.layout." + name)
	}
	var size int
	if err := json.Unmarshal(layout["header_len"], &size); err != nil || size != beef.FragmentHeaderSize {
		t.Errorf("header of %d bytes", size)
	}
	if string(layout["frame_ver_byte6"]) != `"03"` || b[6] != beef.FrameVerFragment {
		t.Errorf("FrameVer %#x", b[6])
	}
	if b[7] != f.DeliverCount {
		t.Errorf("byte 7 is %#x", b[7])
	}
	l.hit("fragments.layout.header_len", "fragments.layout.frame_ver_byte6", "fragments.layout.byte7")
}
