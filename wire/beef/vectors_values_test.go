package beef_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/cespare/xxhash/v2"

	"treecast/wire/beef"
)

type objectVector struct {
	ID      string
	Marker  hexed
	Size    int
	SHA256  hexed
	SHA256D hexed
	Hex     hexed
}

type largeVector struct {
	ID      string
	Size    int
	SHA256  hexed
	SHA256D hexed
	Recipe  struct {
		Marker     hexed
		Seed       string `json:"seed_ascii"`
		PayloadLen int    `json:"payload_len"`
		TxHead     hexed  `json:"tx_head"`
		TxTail     hexed  `json:"tx_tail"`
		A          hexed  `json:"part_a"`
		B          hexed  `json:"part_b"`
		C          hexed  `json:"part_c"`
	}
}

// make follows the vector's recipe.
func (v *largeVector) make() []byte {
	r := &v.Recipe
	payload := stream(r.Seed, r.PayloadLen)
	if r.Marker != nil {
		return slices.Concat(r.Marker, payload)
	}
	tx := slices.Concat(r.TxHead, payload, r.TxTail)
	id := beef.ContentID(tx) // a transaction's hash is the same double SHA-256
	return slices.Concat(r.A, id[:], r.B, tx, r.C)
}

// object returns the bytes of the object that the vectors call id.
func (v *vectors) object(t testing.TB, id string) []byte {
	t.Helper()
	for i := range v.Objects.Items {
		if v.Objects.Items[i].ID == id {
			return v.Objects.Items[i].Hex
		}
	}
	for i := range v.Objects.Large {
		if v.Objects.Large[i].ID == id {
			return v.Objects.Large[i].make()
		}
	}
	t.Fatalf("no object %q", id)
	return nil
}

func testObjects(t *testing.T, v *vectors, l ledger) {
	each(t, l, "objects.items", v.Objects.Items, func(o *objectVector) string { return o.ID },
		func(t *testing.T, o *objectVector) {
			checkObject(t, o.Hex, o.Size, o.SHA256, o.SHA256D)
			if !bytes.Equal(o.Hex[:4], o.Marker) {
				t.Errorf("marker %x, want %x", o.Hex[:4], o.Marker)
			}
		})
	each(t, l, "objects.large", v.Objects.Large, func(o *largeVector) string { return o.ID },
		func(t *testing.T, o *largeVector) { checkObject(t, o.make(), o.Size, o.SHA256, o.SHA256D) })
}

func checkObject(t *testing.T, b []byte, size int, single, double []byte) {
	t.Helper()
	if len(b) != size {
		t.Errorf("%d bytes, want %d", len(b), size)
	}
	if sum := sha256.Sum256(b); !bytes.Equal(sum[:], single) {
		t.Errorf("sha256 %x, want %x", sum, single)
	}
	if id := beef.ContentID(b); !bytes.Equal(id[:], double) {
		t.Errorf("ContentID %x, want %x", id, double)
	}
	ver, ok := beef.MarkerOf(b)
	if !ok {
		t.Errorf("no marker in %x", b[:4])
	}
	p, err := beef.ParsePayload(b)
	if err != nil || p.IsRecord() || p.Version != ver || !bytes.Equal(p.Object, b) {
		t.Errorf("ParsePayload: record %v, version %v, %v", p.IsRecord(), p.Version, err)
	}
}

type topicVector struct {
	Name    string
	NameHex hexed `json:"name_hex"`
	NameLen int   `json:"name_len"`
	TopicID hexed `json:"topic_id"`
	Groups  map[string]struct {
		Index uint32 `json:"idx"`
		Addr  hexed  `json:"group_addr"`
	}
}

func testTopics(t *testing.T, v *vectors, l ledger) {
	each(t, l, "topics.items", v.Topics.Items, func(o *topicVector) string { return strconv.QuoteToASCII(o.Name) },
		func(t *testing.T, o *topicVector) {
			if o.Name != string(o.NameHex) || len(o.Name) != o.NameLen {
				t.Fatalf("name %q is not %x", o.Name, o.NameHex)
			}
			id := beef.TopicIDOf(o.Name)
			if id.String() != hex.EncodeToString(o.TopicID) {
				t.Errorf("TopicID %v, want %x", id, o.TopicID)
			}
			for bits, want := range o.Groups {
				n, err := strconv.Atoi(bits)
				if err != nil {
					t.Fatal(err)
				}
				group, err := beef.GroupIndex(id, n)
				if err != nil || group != want.Index {
					t.Errorf("group at %d bits: %#x, %v, want %#x", n, group, err, want.Index)
				}
				if addr := beef.GroupAddress(group); !bytes.Equal(addr[:], want.Addr) {
					t.Errorf("address %x, want %x", addr, want.Addr)
				}
			}
		})
	if base := v.Topics.Params["plane_base"]; base != fmt.Sprintf("%#x", beef.BaseGroup) {
		t.Errorf("plane base %s", base)
	}
	l.hit("topics.params.plane_base")
	addr := beef.GroupAddress(beef.BaseGroup)
	for name, other := range v.Topics.OtherPrefixes {
		l.hit("topics.other_prefixes." + name)
		if same := bytes.Equal(addr[:], other); same != (name == "asm_global") {
			t.Errorf("address %x against that of %s, %x", addr, name, other)
		}
	}
}

type hashKeyVector struct {
	Sender    string
	SenderHex hexed  `json:"sender_hex"`
	Group     uint32 `json:"group_idx"`
	Input     hexed
	HashKey   string `json:"hash_key"`
}

func testHashKey(t *testing.T, v *vectors, l ledger) {
	name := func(o *hashKeyVector) string { return fmt.Sprintf("%s group %#x", o.Sender, o.Group) }
	each(t, l, "hashkey.items", v.HashKey.Items, name, func(t *testing.T, o *hashKeyVector) {
		key := beef.HashKey([16]byte(o.SenderHex), o.Group)
		if got := fmt.Sprintf("%016x", key); got != o.HashKey {
			t.Errorf("HashKey %s, want %s", got, o.HashKey)
		}
		if key != xxhash.Sum64(o.Input) {
			t.Error("the input is another one")
		}
	})
	right := fmt.Sprintf("%016x", beef.HashKey([16]byte{0xFD, 14: 0x12, 15: 0x34}, beef.BaseGroup))
	for mistake, value := range v.HashKey.MustDiffer {
		if mistake == "note" {
			continue
		}
		t.Run("must_differ "+mistake, func(t *testing.T) {
			l.hit("hashkey.must_differ." + mistake)
			if value == right {
				t.Errorf("HashKey %s is the mistaken one", right)
			}
		})
	}
	for in, want := range v.HashKey.KAT {
		t.Run("xxh64_kat "+in, func(t *testing.T) {
			l.hit("hashkey.xxh64_kat." + in)
			if got := fmt.Sprintf("%016x", xxhash.Sum64(unhex(t, in))); got != want {
				t.Errorf("XXH64 %s, want %s", got, want)
			}
		})
	}
}

type nackVector struct {
	ID  string
	Hex hexed
}

// testNack is all that this plane has to do with BRC-126: the recovery of
// PROTOCOL §8 takes its place, so its messages, which share the frames' magic,
// are refused as frames of another version, and close a connection.
func testNack(t *testing.T, v *vectors, l ledger) {
	id := func(o *nackVector) string { return o.ID }
	refuse := func(t *testing.T, o *nackVector) {
		want := beef.ReasonVersion
		if beef.Detect(o.Hex) == beef.GrammarBareTx {
			want = beef.ReasonBareTx
		}
		_, err := beef.ParseSubmission(o.Hex, 0)
		wantFault(t, err, beef.ErrMalformed, want, -1)
		if _, err := beef.FrameVersion(o.Hex); err == nil {
			t.Error("FrameVersion takes it")
		}
	}
	each(t, l, "nack.request.items", v.Nack.Request.Items, id, refuse)
	each(t, l, "nack.replies.items", v.Nack.Replies.Items, id, refuse)
	each(t, l, "nack.bad", v.Nack.Bad, id, refuse)
}
