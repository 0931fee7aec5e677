package soc_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"treecast/wire/soc"
)

const (
	vectorFile   = "testdata/swarm.json"
	vectorOrigin = "../../../shared/vectors/swarm.json"
)

// hexBytes is a byte string in lower case hex.
type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

type cacVector struct {
	Name                   string
	Span, Payload, Address hexBytes
}

type socVector struct {
	Name       string
	PrivateKey hexBytes `json:"private_key"`
	Owner, ID  hexBytes
	Span       hexBytes
	Payload    hexBytes
	CACAddress hexBytes `json:"cac_address"`
	ToSign     hexBytes `json:"to_sign"`
	Digest     hexBytes
	Signature  hexBytes
	RFC6979    hexBytes `json:"signature_rfc6979"`
	Address    hexBytes
	Data       hexBytes
}

func (v *socVector) chunk(sig []byte) *soc.Chunk {
	return &soc.Chunk{ID: v.ID, Owner: v.Owner, Signature: sig, Span: v.Span, Payload: v.Payload}
}

type feedVector struct {
	TopicName          string `json:"topic_name"`
	Topic              hexBytes
	Index              uint64   `json:",string"`
	IndexBytes         hexBytes `json:"index_bytes"`
	ID, Owner, Address hexBytes
}

type overlayVector struct {
	Key        string
	PrivateKey hexBytes `json:"private_key"`
	PublicKey  hexBytes `json:"public_key_compressed"`
	EthAddress hexBytes `json:"eth_address"`
	NetworkID  uint64   `json:"network_id"`
	Nonce      hexBytes
	Overlay    hexBytes
}

// caseVector is a pair (address, data) with the verdict of other clients: an
// entry of the sections invalid and edge.
type caseVector struct {
	Name, Reason, Stage string
	RecoveredOwner      hexBytes `json:"recovered_owner"`
	Address, Data       hexBytes
}

// chunk cuts the data id || signature || span || payload, as far as it goes.
func (v *caseVector) chunk(owner []byte) *soc.Chunk {
	rest := []byte(v.Data)
	cut := func(n int) []byte {
		n = min(n, len(rest))
		part := rest[:n:n]
		rest = rest[n:]
		return part
	}
	c := &soc.Chunk{Owner: owner}
	c.ID, c.Signature, c.Span = cut(soc.IDSize), cut(soc.SigSize), cut(soc.SpanSize)
	c.Payload = rest
	return c
}

type vectorSet struct {
	CAC     []cacVector
	SOC     []socVector
	Feed    []feedVector
	Overlay []overlayVector
	Invalid []caseVector
	Edge    []caseVector
}

func loadVectors(tb testing.TB) *vectorSet {
	tb.Helper()
	raw, err := os.ReadFile(vectorFile)
	if err != nil {
		tb.Fatal(err)
	}
	set := new(vectorSet)
	if err := json.Unmarshal(raw, set); err != nil {
		tb.Fatal(err)
	}
	return set
}

// tally notes which vectors ran, by section, for the count at the end.
type tally map[string]map[string]bool

func (ta tally) run(t *testing.T, section, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) {
		if ta[section] == nil {
			ta[section] = make(map[string]bool)
		}
		if ta[section][name] {
			t.Fatalf("a second vector named %s", name)
		}
		ta[section][name] = true
		f(t)
	})
}

// TestVectors runs every vector of every section and then counts them against
// the file.
func TestVectors(t *testing.T) {
	set, ran := loadVectors(t), make(tally)
	t.Run("cac", func(t *testing.T) { testCAC(t, ran, set) })
	t.Run("soc", func(t *testing.T) { testSOC(t, ran, set) })
	t.Run("feed", func(t *testing.T) { testFeed(t, ran, set) })
	t.Run("overlay", func(t *testing.T) { testOverlay(t, ran, set) })
	t.Run("invalid", func(t *testing.T) { testInvalid(t, ran, set) })
	t.Run("edge", func(t *testing.T) { testEdge(t, ran, set) })
	t.Run("count", func(t *testing.T) {
		raw, err := os.ReadFile(vectorFile)
		if err != nil {
			t.Fatal(err)
		}
		var sections map[string]json.RawMessage
		if err := json.Unmarshal(raw, &sections); err != nil {
			t.Fatal(err)
		}
		delete(sections, "about") // prose
		for section, body := range sections {
			var entries []json.RawMessage
			if err := json.Unmarshal(body, &entries); err != nil {
				t.Fatalf("section %s: %v", section, err)
			}
			if len(ran[section]) != len(entries) {
				t.Errorf("section %s: %d of %d vectors ran", section, len(ran[section]), len(entries))
			}
		}
	})
}

// TestVectorsCopy holds the package's copy of the vectors against the original
// where that is at hand.
func TestVectorsCopy(t *testing.T) {
	origin, err := os.ReadFile(vectorOrigin)
	if os.IsNotExist(err) {
		t.Logf("%s is not here, nothing to compare with", vectorOrigin)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	copied, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(origin, copied) {
		t.Errorf("%s differs from %s", vectorFile, vectorOrigin)
	}
}

func equal(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("%s = %x, want %x", what, got, want)
	}
}
