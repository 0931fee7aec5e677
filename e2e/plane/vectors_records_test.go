package plane_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// doubleSHA is SHA-256 of SHA-256.
func doubleSHA(b []byte) []byte {
	sum := sha256.Sum256(b)
	sum = sha256.Sum256(sum[:])
	return sum[:]
}

// testRecords sends every record through every door, over IPv4 and IPv6, by
// publishers that get one name made deliverable and by those that get three.
func testRecords(t *testing.T, v *vectors, l ledger) {
	allow := []string{"--ingress-allow", "127.0.0.0/8", "--deliver-cap", "3"}
	for _, tc := range []struct {
		name, host, door, count string
		args                    []string
	}{
		{"shared", "127.0.0.1", shared, "1", nil},
		{"shared ipv6", "[::1]", shared, "1", nil},
		{"record", "127.0.0.1", record, "1", nil},
		{"udp", "127.0.0.1", udp, "1", nil},
		{"shared allowed", "127.0.0.1", shared, "3", allow},
		{"record allowed", "127.0.0.1", record, "3", allow},
		{"udp is never allowed", "127.0.0.1", udp, "1", allow},
		{"shared of others", "[::1]", shared, "1", allow},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := newDoorway(t, v, tc.host, tc.args...)
			nc := d.dial(t, tc.door)
			for i := range v.Records.Items {
				r := &v.Records.Items[i]
				write(t, nc, r.Record)
				d.expect(t, unit{r.Frames[tc.count].Header, r.Record})
				l.hit("records.items", i)
			}
			d.counted(t, nil)
		})
	}
	t.Run("http", func(t *testing.T) { testPosts(t, v, "1", "") })
	t.Run("http with token", func(t *testing.T) {
		token := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(token, []byte("open sesame\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		testPosts(t, v, "3", "open sesame", "--ingress-token-file", token, "--deliver-cap", "3")
	})
}

// testPosts posts the objects, of which the door makes the records.
func testPosts(t *testing.T, v *vectors, count, token string, args ...string) {
	d := newDoorway(t, v, "127.0.0.1", args...)
	for i := range v.Records.Items {
		r := &v.Records.Items[i]
		seq := d.next
		req, err := http.NewRequest(http.MethodPost, d.Submit+"?wait=1", bytes.NewReader(r.object()))
		if err != nil {
			t.Fatal(err)
		}
		req.Close = true
		req.Header.Set("X-Topics", asciiJSON(t, r.Topics))
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		var a struct {
			ContentID, TopicID string
			Seq                uint64
			Fragments          int
		}
		if err := json.Unmarshal(body, &a); err != nil || res.StatusCode != http.StatusAccepted {
			t.Fatalf("%s: %s, %s", r.ID, res.Status, body)
		}
		if a.ContentID != hex.EncodeToString(r.ContentID) || a.TopicID != hex.EncodeToString(r.TopicID) || a.Seq != seq || a.Fragments != 1 {
			t.Errorf("%s: answered %+v", r.ID, a)
		}
		d.expect(t, unit{r.Frames[count].Header, r.Record})
	}
}

// asciiJSON is a JSON array that fits a header: what is not ASCII is escaped.
func asciiJSON(t *testing.T, list []string) string {
	t.Helper()
	b, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	text := strconv.QuoteToASCII(string(b))
	var out []byte
	for i := 1; i < len(text)-1; i++ { // what Go quotes as \" and \\ stands in the JSON itself
		if text[i] == '\\' && (text[i+1] == '"' || text[i+1] == '\\') {
			i++
		} else if text[i] == '\\' && text[i+1] == 'U' { // JSON has no long escape
			n, err := strconv.ParseUint(text[i+2:i+10], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			n -= 0x10000
			for _, half := range []uint64{0xD800 + n>>10, 0xDC00 + n&0x3FF} {
				out = append(append(out, `\u`...), strconv.FormatUint(half, 16)...)
			}
			i += 9
			continue
		}
		out = append(out, text[i])
	}
	return string(out)
}

// testFrames sends pre-framed records and bare objects: hash key and number are
// overwritten, and the deliver count as the door's policy is.
func testFrames(t *testing.T, v *vectors, l ledger) {
	for _, door := range []string{shared, udp} {
		t.Run(door, func(t *testing.T) {
			d := newDoorway(t, v, "127.0.0.1")
			send := func(header, payload []byte) {
				t.Helper()
				d.fresh(t, payload)
				nc := d.dial(t, door)
				write(t, nc, append(bytes.Clone(header), payload...))
				out := bytes.Clone(header)
				copy(out, []byte{0xE3, 0xE1, 0xF3, 0xE8, 0x02, 0xBF})
				out[7] = 1
				d.expect(t, unit{out, payload})
			}
			for i := range v.Records.Items {
				r := &v.Records.Items[i]
				send(r.Frames["3"].Header, r.Record)
			}
			for i := range v.Records.Bare {
				b := &v.Records.Bare[i]
				send(b.Header, v.object(t, b.ObjectID))
				l.hit("records.bare_object_frames", i)
			}
			for i := range v.Records.Variants {
				f := v.Records.Variants[i].Frame
				send(f[:92], f[92:])
				l.hit("records.valid_frame_variants", i)
			}
		})
	}
}

// testLarge sends the long objects; the one over the bound is skipped and its
// connection kept, one far over it closes.
func testLarge(t *testing.T, v *vectors, l ledger) {
	d := newDoorway(t, v, "127.0.0.1")
	for i := range v.Objects.Items { // each is in a record, bare, or sent here
		d.submit(t, v.Objects.Items[i].Hex)
		l.hit("objects.items", i)
	}
	over := &v.InvalidRecords.Oversize
	if over.Bound != 1048576 {
		t.Fatalf("the vectors' bound is %d", over.Bound)
	}
	for i := range v.Objects.Large {
		o := &v.Objects.Large[i]
		l.hit("objects.large", i)
		if o.ID != over.Object {
			d.submit(t, v.object(t, o.ID))
			continue
		}
		before := d.counts(t)
		nc := d.dial(t, shared)
		write(t, nc, append(bytes.Clone(over.Head[:len(over.Head)-4]), v.object(t, o.ID)...))
		b, out := d.sentinel(t, false)
		write(t, nc, b)
		d.expect(t, out)
		d.counted(t, before, "rejected/oversize")
		l.hit("invalid_records.oversize", 0)
	}
	framed := append(bytes.Clone(v.record(t, "one_topic_small").Frames["1"].Header[:88]), 0, 0x20, 0x04, 0) // over twice the bound and an envelope
	before := d.counts(t)
	nc := d.dial(t, shared)
	write(t, nc, framed)
	awaitClose(t, nc)
	d.counted(t, before, "closed/oversize")
	l.hit("invalid_frames.oversize", 0)
}

// submit sends an object under tm_ship and expects it.
func (d *doorway) submit(t *testing.T, object []byte) {
	t.Helper()
	small := d.v.record(t, "one_topic_small")
	rec := append(bytes.Clone(small.Record[:small.ObjectAt-4]), byte(len(object)>>24), byte(len(object)>>16), byte(len(object)>>8), byte(len(object)))
	rec = append(rec, object...)
	header := bytes.Clone(small.Frames["1"].Header)
	copy(header[8:40], doubleSHA(rec))
	copy(header[88:], []byte{byte(len(rec) >> 24), byte(len(rec) >> 16), byte(len(rec) >> 8), byte(len(rec))})
	nc := d.dial(t, shared)
	write(t, nc, rec)
	d.expect(t, unit{header, rec})
	nc.Close()
}
