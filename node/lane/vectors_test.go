package lane_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"sync"
	"testing"

	"treecast/wire/beef"
)

// vectors is what these tests use of wire/beef/testdata/beef.json.
type vectors struct {
	Objects struct {
		Items []struct {
			ID  string `json:"id"`
			Hex string `json:"hex"`
		} `json:"items"`
		Large []struct {
			ID     string `json:"id"`
			SHA256 string `json:"sha256"`
			Size   int    `json:"size"`
			Recipe recipe `json:"recipe"`
		} `json:"large"`
	} `json:"objects"`
	Records struct {
		Items []recordVector `json:"items"`
		Bare  []struct {
			ID       string `json:"id"`
			ObjectID string `json:"object_id"`
			Topic    string `json:"topic"`
			Header   string `json:"header"`
		} `json:"bare_object_frames"`
		Variants []struct {
			ID    string `json:"id"`
			Frame string `json:"frame"`
		} `json:"valid_frame_variants"`
	} `json:"records"`
	Detect struct {
		Items []struct {
			ID      string `json:"id"`
			Lead    string `json:"lead"`
			Grammar string `json:"grammar"`
		} `json:"items"`
	} `json:"detect"`
	InvalidRecords struct {
		Items []struct {
			ID   string `json:"id"`
			Hex  string `json:"hex"`
			Spec struct {
				Stream   string `json:"stream"`
				Datagram string `json:"datagram"`
			} `json:"spec"`
		} `json:"items"`
		Oversize struct {
			Bound int `json:"bound"`
		} `json:"oversize"`
	} `json:"invalid_records"`
	InvalidFrames struct {
		Items []struct {
			ID   string `json:"id"`
			Hex  string `json:"hex"`
			Spec struct {
				Stream   string `json:"stream"`
				Datagram string `json:"datagram"`
			} `json:"spec"`
		} `json:"items"`
	} `json:"invalid_frames"`
	Delivery struct {
		Items []struct {
			ID              string   `json:"id"`
			PayloadRef      string   `json:"payload_ref"`
			HeaderTopicID   string   `json:"header_topic_id"`
			DeliverCount    uint8    `json:"deliver_count"`
			ElectedTopics   []string `json:"elected_topics"`
			ElectedVersions []string `json:"elected_versions"`
			Delivered       bool     `json:"delivered"`
			Record          string   `json:"record"`
		} `json:"items"`
		Stream struct {
			Hex string `json:"hex"`
		} `json:"stream_two_records"`
	} `json:"delivery_records"`
	Streams struct {
		Items []struct {
			ID    string   `json:"id"`
			Hex   string   `json:"hex"`
			Units []string `json:"units"`
			Ends  string   `json:"ends"`
		} `json:"items"`
	} `json:"streams"`
	Fragments struct {
		Sets []struct {
			ID            string   `json:"id"`
			TopicID       string   `json:"topic_id"`
			PayloadSHA256 string   `json:"payload_sha256"`
			Fragments     []string `json:"fragments"`
		} `json:"sets"`
		Bad []struct {
			ID       string `json:"id"`
			Expect   string `json:"expect"`
			Sequence []struct {
				Set string `json:"set"`
				I   int    `json:"i"`
				Hex string `json:"hex"`
			} `json:"sequence"`
		} `json:"bad"`
	} `json:"fragments"`
}

type recordVector struct {
	ID     string   `json:"id"`
	Topics []string `json:"topics"`
	Record string   `json:"record"`
	Frames map[string]struct {
		OnWire uint8  `json:"deliver_count_on_wire"`
		Header string `json:"header"`
	} `json:"frames"`
}

type recipe struct {
	Marker string `json:"marker"`
	Seed   string `json:"seed_ascii"`
}

var loadVectors = sync.OnceValues(func() (*vectors, error) {
	b, err := os.ReadFile("../../wire/beef/testdata/beef.json")
	if err != nil {
		return nil, err
	}
	v := new(vectors)
	return v, json.Unmarshal(b, v)
})

func mustVectors(t *testing.T) *vectors {
	t.Helper()
	v, err := loadVectors()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// record returns the record vector called id.
func (v *vectors) record(t *testing.T, id string) recordVector {
	t.Helper()
	for _, r := range v.Records.Items {
		if r.ID == id {
			return r
		}
	}
	t.Fatalf("no record vector %q", id)
	return recordVector{}
}

// synthetic returns the large synthetic object called id, made from its recipe.
func (v *vectors) synthetic(t *testing.T, id string) []byte {
	t.Helper()
	for _, l := range v.Objects.Large {
		if l.ID != id {
			continue
		}
		obj := unhex(t, l.Recipe.Marker)
		for i := uint32(0); len(obj) < l.Size; i++ {
			sum := sha256.Sum256(binary.BigEndian.AppendUint32([]byte(l.Recipe.Seed), i))
			obj = append(obj, sum[:]...)
		}
		obj = obj[:l.Size]
		if sum := sha256.Sum256(obj); hex.EncodeToString(sum[:]) != l.SHA256 {
			t.Fatalf("object %s does not follow its recipe", id)
		}
		return obj
	}
	t.Fatalf("no large object %q", id)
	return nil
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// numbered is a header of the vectors with the stamps of an ingress in it.
func numbered(t *testing.T, header string, hashKey, seqNum uint64) []byte {
	t.Helper()
	b := unhex(t, header)
	binary.BigEndian.PutUint64(b[40:], hashKey)
	binary.BigEndian.PutUint64(b[48:], seqNum)
	return b
}

// submission is a submission record around an object of size pseudo-random bytes.
func submission(t *testing.T, seed string, size int, topics ...string) []byte {
	t.Helper()
	rec, err := beef.AppendRecord(nil, topics, object(seed, size))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func object(seed string, size int) []byte {
	obj := []byte{0x01, 0x00, 0xBE, 0xEF}
	for i := uint32(0); len(obj) < size; i++ {
		sum := sha256.Sum256(binary.BigEndian.AppendUint32([]byte(seed), i))
		obj = append(obj, sum[:]...)
	}
	return bytes.Clone(obj[:size])
}
