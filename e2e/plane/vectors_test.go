package plane_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"
)

// hexed is bytes that the vectors write as hexadecimal.
type hexed []byte

func (h *hexed) UnmarshalJSON(b []byte) error {
	var s *string
	if err := json.Unmarshal(b, &s); err != nil || s == nil {
		return err
	}
	d, err := hex.DecodeString(*s)
	*h = d
	return err
}

// vectors is what is used of the vectors of the BEEF plane. Their values were made
// by other software.
type vectors struct {
	Objects struct {
		Items []struct {
			ID  string
			Hex hexed
		}
		Large []struct {
			ID     string
			Size   int
			SHA256 hexed
			Recipe recipe
		}
	}
	Records struct {
		Items []recordVector
		Bare  []struct {
			ID       string
			ObjectID string `json:"object_id"`
			Header   hexed
		} `json:"bare_object_frames"`
		Variants []struct {
			ID    string
			Frame hexed
		} `json:"valid_frame_variants"`
	}
	Detect struct {
		Items []struct {
			ID, Grammar string
			Lead        hexed
		}
	}
	InvalidRecords struct {
		Items       []invalidVector
		Truncations struct {
			Full     hexed `json:"full_record"`
			Prefixes []struct{ Len int }
		}
		Oversize struct {
			Head     hexed
			Bound    int
			Object   string `json:"object_id"`
			AtBound  string `json:"at_bound_object_id"`
			Topics   []string
			Spec     struct{ Stream string }
			Datagram string
		}
	} `json:"invalid_records"`
	InvalidFrames struct {
		Items []invalidVector
	} `json:"invalid_frames"`
	Delivery struct {
		Items   []deliveryVector
		Invalid []struct {
			ID  string
			Hex hexed
		}
		Stream struct {
			Hex    hexed
			Expect []string
		} `json:"stream_two_records"`
	} `json:"delivery_records"`
	Streams struct {
		Items []struct {
			ID, Ends string
			Hex      hexed
			Units    []string
		}
	}
	Fragments struct {
		Sets []setVector
		Bad  []badVector
	}
	HashKey struct {
		Items []struct {
			Sender string
			Group  uint32 `json:"group_idx"`
			Key    hexed  `json:"hash_key"`
		}
	}
}

type recordVector struct {
	ID        string
	Topics    []string
	ObjectID  string `json:"object_id"`
	ObjectAt  int    `json:"object_offset"`
	Record    hexed
	ContentID hexed `json:"content_id"`
	TopicID   hexed `json:"topic_id"`
	Frames    map[string]struct{ Header hexed }
}

// object is what is in the record.
func (r *recordVector) object() []byte { return r.Record[r.ObjectAt:] }

type invalidVector struct {
	ID, Reason string
	Hex        hexed
	Spec       struct{ Stream, Datagram string }
}

// recipe is how a long object is made.
type recipe struct {
	Seed   string `json:"seed_ascii"`
	Len    int    `json:"payload_len"`
	Marker hexed
	PartA  hexed `json:"part_a"`
	PartB  hexed `json:"part_b"`
	PartC  hexed `json:"part_c"`
	TxHead hexed `json:"tx_head"`
	TxTail hexed `json:"tx_tail"`
}

// stream is the vectors' pseudo-random bytes.
func stream(seed string, n int) []byte {
	var out []byte
	for i := uint32(0); len(out) < n; i++ {
		sum := sha256.Sum256(binary.BigEndian.AppendUint32([]byte(seed), i))
		out = append(out, sum[:]...)
	}
	return out[:n]
}

// make follows the recipe.
func (r *recipe) make() []byte {
	body := stream(r.Seed, r.Len)
	if r.Marker != nil {
		return append(bytes.Clone(r.Marker), body...)
	}
	tx := bytes.Join([][]byte{r.TxHead, body, r.TxTail}, nil)
	id := sha256.Sum256(tx)
	id = sha256.Sum256(id[:])
	return bytes.Join([][]byte{r.PartA, id[:], r.PartB, tx, r.PartC}, nil)
}

// object returns an object by its name.
func (v *vectors) object(t *testing.T, id string) []byte {
	t.Helper()
	for i := range v.Objects.Items {
		if o := &v.Objects.Items[i]; o.ID == id {
			return o.Hex
		}
	}
	for i := range v.Objects.Large {
		o := &v.Objects.Large[i]
		if o.ID != id {
			continue
		}
		b := o.Recipe.make()
		if sum := sha256.Sum256(b); !bytes.Equal(sum[:], o.SHA256) || len(b) != o.Size {
			t.Fatalf("object %s does not follow its recipe", id)
		}
		return b
	}
	t.Fatalf("no object %q", id)
	return nil
}

// record returns a record by its name.
func (v *vectors) record(t *testing.T, id string) *recordVector {
	t.Helper()
	for i := range v.Records.Items {
		if v.Records.Items[i].ID == id {
			return &v.Records.Items[i]
		}
	}
	t.Fatalf("no record %q", id)
	return nil
}

const vectorFile = "../../wire/beef/testdata/beef.json"

var loadVectors = sync.OnceValues(func() (*vectors, error) {
	b, err := os.ReadFile(vectorFile)
	if err != nil {
		return nil, err
	}
	v := new(vectors)
	return v, json.Unmarshal(b, v)
})

func theVectors(t *testing.T) *vectors {
	t.Helper()
	v, err := loadVectors()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// ledger is the vectors that went through a socket, each named by its place.
type ledger map[string]bool

func (l ledger) hit(section string, i int) { l[fmt.Sprintf("%s[%d]", section, i)] = true }

// TestVectors takes every vector of the plane through the sockets of the built
// binary: what publishers send at each door, and what consumers get at each lane.
func TestVectors(t *testing.T) {
	v, l := theVectors(t), make(ledger)
	t.Run("records", func(t *testing.T) { testRecords(t, v, l) })
	t.Run("frames", func(t *testing.T) { testFrames(t, v, l) })
	t.Run("large", func(t *testing.T) { testLarge(t, v, l) })
	t.Run("detect", func(t *testing.T) { testDetect(t, v, l) })
	t.Run("invalid_records", func(t *testing.T) { testInvalidRecords(t, v, l) })
	t.Run("truncations", func(t *testing.T) { testTruncations(t, v, l) })
	t.Run("invalid_frames", func(t *testing.T) { testInvalidFrames(t, v, l) })
	t.Run("streams", func(t *testing.T) { testStreams(t, v, l) })
	t.Run("delivery_records", func(t *testing.T) { testDeliveries(t, v, l) })
	t.Run("receive", func(t *testing.T) { testReceive(t, v, l) })
	t.Run("fragments", func(t *testing.T) { testFragments(t, v, l) })
	if !t.Failed() {
		l.check(t)
	}
}

// elsewhere are the sections that no socket can show, and where they are tested.
var elsewhere = map[string]string{
	"meta":    "words",
	"topics":  "values that are no bytes of a stream: tests of wire/beef, and of sharding in cmd/treecast",
	"hashkey": "of all senders and groups: wire/beef; that of these doors is in every frame above",
	"nack":    "not spoken: recovery takes its place (PROTOCOL §8)",
}

// check fails on every vector of the file that did not go through a socket. It reads
// the file by itself, so that one which the types above do not know is missed too.
func (l ledger) check(t *testing.T) {
	t.Helper()
	b, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]map[string]json.RawMessage
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	n := 0
	for section, parts := range file {
		if _, ok := elsewhere[section]; ok {
			continue
		}
		for part, raw := range parts {
			var list []json.RawMessage
			if part == "truncations" {
				var inner map[string]json.RawMessage
				if err := json.Unmarshal(raw, &inner); err != nil {
					t.Fatal(err)
				}
				raw = inner["prefixes"]
			}
			if json.Unmarshal(raw, &list) != nil || part == "notes" {
				continue
			}
			for i := range list {
				if n++; !l[fmt.Sprintf("%s.%s[%d]", section, part, i)] {
					t.Errorf("%s.%s[%d] went through no socket", section, part, i)
				}
			}
		}
		for _, part := range []string{"oversize", "stream_two_records"} {
			if _, ok := parts[part]; ok && !l[fmt.Sprintf("%s.%s[0]", section, part)] {
				t.Errorf("%s.%s went through no socket", section, part)
			}
		}
	}
	if n < 200 {
		t.Errorf("the file has %d vectors only", n)
	}
	t.Logf("%d vectors", n)
}
