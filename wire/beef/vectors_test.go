package beef_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

func (h hexed) id() (id [32]byte) {
	copy(id[:], h)
	return id
}

// vectors is testdata/beef.json, as far as it holds values.
type vectors struct {
	Objects struct {
		Items []objectVector
		Large []largeVector
	}
	Topics struct {
		Items         []topicVector
		Params        map[string]string
		OtherPrefixes map[string]hexed `json:"other_prefixes"`
	}
	Records struct {
		Items              []recordVector
		BareObjectFrames   []bareVector    `json:"bare_object_frames"`
		ValidFrameVariants []variantVector `json:"valid_frame_variants"`
	}
	Detect struct {
		Items []detectVector
	}
	InvalidRecords struct {
		Items       []invalidVector
		Truncations truncationVectors
		Oversize    oversizeVector
	} `json:"invalid_records"`
	InvalidFrames struct {
		Items    []invalidVector
		Oversize oversizeVector
	} `json:"invalid_frames"`
	DeliveryRecords struct {
		Items            []deliveryVector
		Invalid          []invalidVector
		StreamTwoRecords struct {
			Hex    hexed
			Expect []string
		} `json:"stream_two_records"`
		Layout map[string][]*int
	} `json:"delivery_records"`
	Streams struct {
		Items []streamVector
	}
	Fragments fragmentVectors
	HashKey   struct {
		Items      []hashKeyVector
		MustDiffer map[string]string `json:"must_differ"`
		KAT        map[string]string `json:"xxh64_kat"`
	}
	Nack struct {
		Request, Replies struct{ Items []nackVector }
		Bad              []nackVector
	}
}

const vectorFile = "testdata/beef.json"

var loadVectors = sync.OnceValues(func() (*vectors, error) {
	b, err := os.ReadFile(vectorFile)
	if err != nil {
		return nil, err
	}
	v := new(vectors)
	return v, json.Unmarshal(b, v)
})

func theVectors(t testing.TB) *vectors {
	t.Helper()
	v, err := loadVectors()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// ledger is the set of vectors that a test exercised, each named by its path.
type ledger map[string]bool

func (l ledger) hit(paths ...string) {
	for _, p := range paths {
		l[p] = true
	}
}

// each runs a subtest per vector of a list and enters it in the ledger.
func each[T any](t *testing.T, l ledger, path string, items []T, id func(*T) string, run func(*testing.T, *T)) {
	t.Helper()
	for i := range items {
		t.Run(id(&items[i]), func(t *testing.T) {
			l.hit(fmt.Sprintf("%s[%d]", path, i))
			run(t, &items[i])
		})
	}
}

// prose are the parts of the file that hold words, not values, and why none of
// them is run.
var prose = map[string]string{
	"meta":                                     "where the vectors come from",
	"objects.stream":                           "the formula of stream, which the recipes prove",
	"topics.params.scope":                      "a part of group_addr",
	"topics.params.mode":                       "a part of group_addr",
	"topics.params.group_id":                   "a part of group_addr",
	"topics.params.formula":                    "the formula of idx, which the items prove",
	"topics.notes":                             "words",
	"records.notes":                            "words",
	"detect.notes":                             "words",
	"invalid_records.legend":                   "words",
	"invalid_frames.legend":                    "words",
	"invalid_records.oversize.spec.datagram":   "no datagram is that long",
	"invalid_records.oversize.note":            "words",
	"invalid_frames.oversize.note":             "words",
	"delivery_records.stream_two_records.note": "words",
	"streams.note":                             "words: both ways of feeding are what the scanner's tests do",
	"hashkey.formula":                          "the formula of hash_key, which the items prove",
	"hashkey.must_differ.note":                 "words",
	"hashkey.ipv4_note":                        "words",
	"invalid_records.truncations.rule":         "words",
	"fragments.layout.orig_frame_ver_source":   "words",
	"fragments.layout.payload_len_is":          "words",
	"fragments.frag_object_5000.recipe":        "its digest is what is compared",
	"fragments.sizes.rule":                     "words",

	// PROTOCOL §7 says that section 8 takes the place of BRC-126's NACK. Its
	// messages are no input of this package; the test below is that none of
	// them is taken for a frame. Layouts, cache key and timings have no
	// counterpart.
	"nack.request.size":    "no NACK is decoded",
	"nack.request.offsets": "no NACK is decoded",
	"nack.replies.size":    "no NACK is decoded",
	"nack.replies.offsets": "no NACK is decoded",
	"nack.cache_key":       "no NACK is answered",
	"nack.defaults":        "no NACK is sent",
	"nack.checked":         "words",
}

func isProse(path string) bool {
	for p := range prose {
		if path == p || strings.HasPrefix(path, p+".") {
			return true
		}
	}
	return strings.Contains(path, ".lightwebinc") // what another implementation does
}

// leaves counts what is in a part of the file: each object of a list, and each
// value outside of one.
func leaves(path string, v any, out map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, sub := range v {
			leaves(strings.TrimPrefix(path+"."+k, "."), sub, out)
		}
	case []any:
		objects := 0
		for i, sub := range v {
			if _, ok := sub.(map[string]any); ok {
				out[fmt.Sprintf("%s[%d]", path, i)] = true
				objects++
			}
		}
		if objects == 0 {
			out[path] = true
		}
	default:
		out[path] = true
	}
}

// TestVectors runs every vector of the file by name, and fails on one that no
// section exercised.
func TestVectors(t *testing.T) {
	v, l := theVectors(t), ledger{}
	for _, section := range []struct {
		name string
		run  func(*testing.T, *vectors, ledger)
	}{
		{"objects", testObjects},
		{"topics", testTopics},
		{"records", testRecords},
		{"detect", testDetect},
		{"invalid_records", testInvalidRecords},
		{"invalid_frames", testInvalidFrames},
		{"delivery_records", testDeliveryRecords},
		{"streams", testStreams},
		{"fragments", testFragments},
		{"hashkey", testHashKey},
		{"nack", testNack},
	} {
		t.Run(section.name, func(t *testing.T) { section.run(t, v, l) })
	}
	if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return // only some were asked for
	}
	b, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	total, known := 0, map[string]bool{}
	for name, section := range file {
		want, done := map[string]bool{}, 0
		leaves(name, section, want)
		for path := range want {
			known[path] = true
			switch {
			case l[path]:
				done++
			case !isProse(path):
				t.Errorf("vector %s was not exercised", path)
			}
		}
		t.Logf("%-17s %3d of %3d exercised, the rest is prose", name, done, len(want))
		total += done
	}
	for path := range l {
		if !known[path] {
			t.Errorf("%s is in no vector file", path)
		}
	}
	if total == 0 {
		t.Error("no vector was exercised")
	}
}

// TestVectorsAreShared compares the copy with the file that it was taken from,
// where that is at hand.
func TestVectorsAreShared(t *testing.T) {
	shared, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "vectors", "beef.json"))
	if os.IsNotExist(err) {
		t.Log("no shared folder beside the module")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(own, shared) {
		t.Errorf("%s differs from the shared vectors", vectorFile)
	}
}

// stream is the vectors' source of bytes for large objects.
func stream(seed string, n int) []byte {
	out := make([]byte, 0, n+sha256.Size)
	for i := uint32(0); len(out) < n; i++ {
		block := sha256.Sum256(binary.BigEndian.AppendUint32([]byte(seed), i))
		out = append(out, block[:]...)
	}
	return out[:n]
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
