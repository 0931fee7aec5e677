package plane_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"treecast/e2e/cluster"
)

type setVector struct {
	ID            string
	PayloadSHA256 hexed `json:"payload_sha256"`
	DataSize      int   `json:"frag_data_size"`
	Headers       []hexed
	Concat        hexed `json:"fragments_concat_sha256"`
	Reassembled   struct {
		FrameHeader hexed `json:"synthetic_frame_header"`
	}
}

type badVector struct {
	ID, Expect string
	Sequence   []struct {
		Hex hexed
		Set string
		I   int
	}
}

// payload is what was cut in a set, made from what the set's words tell of.
func (v *vectors) payload(t *testing.T, set *setVector) []byte {
	t.Helper()
	record := func(object []byte, topics ...string) []byte {
		b := []byte{0xBE, 0xEF, 1, byte(len(topics))}
		for _, name := range topics {
			b = append(append(b, byte(len(name))), name...)
		}
		n := len(object)
		return append(append(b, byte(n>>24), byte(n>>16), byte(n>>8), byte(n)), object...)
	}
	exact := append([]byte{2, 0, 0xBE, 0xEF}, stream("beefvec frag exact", 2676)...)
	var b []byte
	switch set.ID {
	case "rec5000_1348", "rec5000_3992":
		object := append([]byte{1, 0, 0xBE, 0xEF}, stream("beefvec frag 5000", 4996)...)
		b = record(object, "tm_uhrp_files", "tm_ship", "tm_slap")
	case "exact_multiple_1348":
		b = record(exact, "tm_ship")
	case "one_over_1348":
		b = record(append(exact, 0), "tm_ship")
	case "single_fragment":
		b = v.record(t, "one_topic_small").Record
	case "bare_object_1348":
		b = v.object(t, "large_20k_v1")
	case "large_20k_3992":
		b = record(v.object(t, "large_20k_v1"), "tm_ship")
	case "large_300k_1348", "large_300k_3992":
		b = record(v.object(t, "large_300k_v2"), "tm_ship")
	}
	if sum := sha256.Sum256(b); !bytes.Equal(sum[:], set.PayloadSHA256) {
		t.Fatalf("payload of %s: %d bytes, %x", set.ID, len(b), sum)
	}
	return b
}

// fragments are those of a set: the header of the first one, with the number, the
// place and the length of each, and its part of the payload behind it.
func (set *setVector) fragments(t *testing.T, payload []byte) (all [][]byte) {
	t.Helper()
	for i := 0; i*set.DataSize < len(payload); i++ {
		data := payload[i*set.DataSize : min(len(payload), (i+1)*set.DataSize)]
		b := bytes.Clone(set.Headers[0])
		binary.BigEndian.PutUint64(b[48:], binary.BigEndian.Uint64(b[48:])+uint64(i))
		binary.BigEndian.PutUint32(b[88:], uint32(len(data)))
		binary.BigEndian.PutUint16(b[96:], uint16(i))
		all = append(all, append(b, data...))
	}
	if sum := sha256.Sum256(bytes.Join(all, nil)); !bytes.Equal(sum[:], set.Concat) {
		t.Fatalf("the fragments of %s are not the vectors'", set.ID)
	}
	return all
}

// fragmentEdges are edges below one source. An edge remembers what it has put
// together, so each vector has one of its own.
type fragmentEdges struct {
	*source
	v *vectors
}

// run publishes the fragments and compares what an edge makes of them.
func (f *fragmentEdges) run(t *testing.T, fragments [][]byte, want []byte) *cluster.Daemon {
	t.Helper()
	edge := f.edge(t)
	r := lanes["tcp"](t, edge, &election{Format: "frame"})
	for _, b := range fragments {
		f.publish(t, b)
	}
	behind := f.sentinel(t, "0100beef")
	if want != nil {
		got := make([]byte, len(want))
		if _, err := io.ReadFull(r, got); err != nil {
			t.Fatalf("nothing delivered: %v", err)
		}
		copy(got[48:56], want[48:56]) // the number is that of the fragment that came first
		if !bytes.Equal(got, want) {
			t.Fatalf("frame\n got %.200x\nwant %.200x", got, want)
		}
	}
	got := make([]byte, 92+len(behind))
	if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got[92:], behind) {
		t.Fatalf("got %.200x, %v, want the sentinel", got, err)
	}
	return edge
}

func testFragments(t *testing.T, v *vectors, l ledger) {
	f := &fragmentEdges{newSource(t), v}
	sets := make(map[string]*setVector)
	for i := range v.Fragments.Sets {
		set := &v.Fragments.Sets[i]
		sets[set.ID] = set
		t.Run(set.ID, func(t *testing.T) {
			payload := v.payload(t, set)
			f.run(t, set.fragments(t, payload), append(bytes.Clone(set.Reassembled.FrameHeader), payload...))
		})
		l.hit("fragments.sets", i)
	}
	for i := range v.Fragments.Bad {
		x := &v.Fragments.Bad[i]
		t.Run(x.ID, func(t *testing.T) { f.bad(t, sets, x) })
		l.hit("fragments.bad", i)
	}
}

// bad publishes a sequence with something wrong in it.
func (f *fragmentEdges) bad(t *testing.T, sets map[string]*setVector, x *badVector) {
	set := sets["rec5000_1348"]
	payload := f.v.payload(t, set)
	var all [][]byte
	for _, part := range x.Sequence {
		if part.Set != "" {
			set := sets[part.Set]
			all = append(all, set.fragments(t, f.v.payload(t, set))[part.I])
		} else {
			all = append(all, part.Hex)
		}
	}
	var want []byte
	switch x.Expect {
	// not_stated is about deliver counts that differ: the highest holds (PROTOCOL §7
	// has nothing against it), as two ingresses may have put them.
	case "deliver", "deliver_once", "deliver_only_slot_of_header_topic", "not_stated":
		want = append(bytes.Clone(set.Reassembled.FrameHeader), payload...)
	case "drop_fragment", "drop_slot_no_delivery", "no_delivery", "no_delivery_until_good_fragment_1",
		"no_delivery_ttl_10s", "not_delivered_as_beef":
	default:
		t.Fatalf("what does %q mean?", x.Expect)
	}
	edge := f.run(t, all, want)
	var refused float64
	for series, n := range edge.Metrics(t) {
		for _, kind := range []string{"treecast_egress_ignored_total", "treecast_egress_fragments_total"} {
			if strings.HasPrefix(series, kind) && !strings.Contains(series, `"held"`) && !strings.Contains(series, `"complete"`) {
				refused += n
			}
		}
	}
	switch x.Expect {
	case "drop_fragment", "drop_slot_no_delivery", "not_delivered_as_beef":
		if refused == 0 {
			t.Errorf("nothing counted: %v", edge.Metrics(t))
		}
	}
}
