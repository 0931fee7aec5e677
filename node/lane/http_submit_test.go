package lane_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"treecast/node/api/bearer"
	"treecast/node/lane"
	"treecast/wire/beef"
)

// startHTTP serves an ingress with an HTTP door alone.
func startHTTP(t *testing.T, cfg lane.IngressConfig) (*lane.Ingress, string) {
	t.Helper()
	if cfg.HTTP == nil {
		cfg.HTTP = &lane.HTTPDoor{}
	}
	cfg.Doors = []lane.Door{}
	in := startIngress(t, cfg)
	s := httptest.NewServer(in.Handler())
	t.Cleanup(s.Close)
	return in, s.URL
}

// answered is what came back from POST /submit.
type answered struct {
	status int
	header http.Header
	lane.Submitted
	Error string `json:"error"`
}

// post submits an object; header pairs follow.
func post(t *testing.T, url string, topics string, object io.Reader, header ...string) (a answered) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, object)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("X-Topics", topics)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	a.status, a.header = res.StatusCode, res.Header
	if err := json.NewDecoder(res.Body).Decode(&a); err != nil {
		t.Fatalf("status %d: %v", a.status, err)
	}
	return a
}

func array(t *testing.T, names []string) string {
	t.Helper()
	b, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestPostRecordVectors submits the object and the topics of every record vector:
// what is published is the vector's frame, byte for byte.
func TestPostRecordVectors(t *testing.T) {
	v := mustVectors(t)
	token, err := bearer.New("sesame")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		count string // key of the vector's frames
		door  *lane.HTTPDoor
	}{
		{"1", &lane.HTTPDoor{}}, {"3", &lane.HTTPDoor{Token: token, DeliverCap: 3}},
	} {
		c := newCohort(t, nil)
		_, url := startHTTP(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited, HTTP: test.door})
		var want [][]byte
		for i, r := range v.Records.Items {
			b := unhex(t, r.Record)
			rec, err := beef.ParseRecord(b)
			if err != nil {
				t.Fatal(err)
			}
			a := post(t, url+"?wait=1", array(t, r.Topics), bytes.NewReader(rec.Object), "Authorization", "Bearer sesame")
			head := numbered(t, r.Frames[test.count].Header, hashKey(), uint64(i)+1)
			want = append(want, append(head, b...))
			if a.status != http.StatusAccepted || a.Seq != uint64(i)+1 || a.Fragments != 1 ||
				a.ContentID != fmt.Sprintf("%x", head[8:40]) || a.TopicID != fmt.Sprintf("%x", head[56:88]) {
				t.Errorf("%s: %+v", r.ID, a)
			}
		}
		compareChunks(t, c.seen(), want)
	}
}

// TestPostInvalidVectors submits what is invalid: as it is, for it starts with no
// marker, and where the vector has names and an object, these.
func TestPostInvalidVectors(t *testing.T) {
	v := mustVectors(t)
	c := newCohort(t, nil)
	in, url := startHTTP(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited})
	refused := func(id, topics string, body []byte) {
		t.Helper()
		if a := post(t, url, topics, bytes.NewReader(body)); a.status != http.StatusBadRequest || a.Error == "" {
			t.Errorf("%s: %d %q", id, a.status, a.Error)
		}
	}
	for _, r := range v.InvalidRecords.Items {
		b := unhex(t, r.Hex)
		refused(r.ID, "tm_ship", b)
		for _, kind := range []string{"name_", "topic_count", "object_len_0", "marker_", "object_shorter"} {
			if names, object, ok := loosely(b); ok && strings.HasPrefix(r.ID, kind) && r.ID != "object_len_0_with_object_bytes" {
				refused(r.ID+" taken apart", names, object)
			}
		}
	}
	for _, f := range v.InvalidFrames.Items {
		refused(f.ID, "tm_ship", unhex(t, f.Hex))
	}
	for _, s := range v.Streams.Items {
		if s.ID != "bare_object_first" { // an object is what this door takes
			refused(s.ID, "tm_ship", unhex(t, s.Hex))
		}
	}
	for _, s := range v.Fragments.Sets {
		for i, f := range s.Fragments {
			refused(fmt.Sprint(s.ID, i), "tm_ship", unhex(t, f))
		}
	}
	for _, d := range v.Detect.Items {
		lead := unhex(t, d.Lead)
		if _, object := beef.MarkerOf(lead); !object {
			refused(d.ID, "tm_ship", lead)
		}
	}
	if n := len(c.seen()); n != 0 || in.Counters().Objects != 0 {
		t.Errorf("%d chunks published", n)
	}
}

// loosely takes a record apart without judging it. Names become a JSON array with
// the very bytes.
func loosely(b []byte) (names string, object []byte, ok bool) {
	if len(b) < 4 {
		return "", nil, false
	}
	count, rest := int(b[3]), b[4:]
	var list []string
	for range count {
		if len(rest) == 0 || len(rest) < 1+int(rest[0]) {
			return "", nil, false
		}
		end := 1 + int(rest[0])
		list = append(list, `"`+string(rest[1:end])+`"`)
		rest = rest[end:]
	}
	if len(rest) < 4 {
		return "", nil, false
	}
	return "[" + strings.Join(list, ",") + "]", rest[4:], true
}

// TestPostOversizeVectors: an object at the bound passes, one byte more is 413,
// whether its length is announced or not.
func TestPostOversizeVectors(t *testing.T) {
	v := mustVectors(t)
	c := newCohort(t, nil)
	in, url := startHTTP(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited, MaxObject: v.InvalidRecords.Oversize.Bound})
	at, over := v.synthetic(t, "synthetic_1m"), v.synthetic(t, "synthetic_1m_plus_1")
	a := post(t, url, "tm_ship", bytes.NewReader(at))
	if a.status != http.StatusAccepted || a.Fragments != 263 || a.Seq != 1 {
		t.Errorf("at the bound: %+v", a)
	}
	for _, body := range []io.Reader{bytes.NewReader(over), io.MultiReader(bytes.NewReader(over))} {
		if a := post(t, url, "tm_ship", body); a.status != http.StatusRequestEntityTooLarge {
			t.Errorf("over the bound: %+v", a)
		}
	}
	if got := in.Counters().Rejected[beef.ReasonOversize]; got != 2 {
		t.Errorf("%d counted, want 2", got)
	}
}

// TestPostTopics: lists in both spellings, and what is none.
func TestPostTopics(t *testing.T) {
	c := newCohort(t, nil)
	_, url := startHTTP(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited})
	for i, test := range []struct {
		topics string
		want   []string // nil: refused
	}{
		{"a", []string{"a"}},
		{" a , b,", []string{"a", "b"}},
		{`["a,b", "c"]`, []string{"a,b", "c"}},
		{"", nil},
		{"[]", nil},
		{`[""]`, nil},
		{`["a"`, nil},
		{`[1]`, nil},
		{"[\"\xff\"]", nil},
		{strings.Repeat("n", 65), nil},
		{strings.Repeat("n,", 16), nil},
	} {
		obj := object(fmt.Sprint("topics", i), 100)
		before := len(c.seen())
		a := post(t, url+"?wait=1", test.topics, bytes.NewReader(obj))
		if test.want == nil {
			if a.status != http.StatusBadRequest {
				t.Errorf("%q: %+v", test.topics, a)
			}
			continue
		}
		want, err := beef.AppendRecord(nil, test.want, obj)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.seen(); a.status != http.StatusAccepted || len(got) != before+1 || !bytes.Equal(got[before][beef.HeaderSize:], want) {
			t.Errorf("%q: %+v", test.topics, a)
		}
	}
	if a := post(t, url, "a", bytes.NewReader(object("form", 9)), "Content-Type", "text/plain"); a.status != http.StatusBadRequest {
		t.Errorf("another content type: %+v", a)
	}
}

// TestPostDuplicates: 409 has the values of the first, be it published or waiting
// for its number; one that failed may come again; a token's cap passes once more.
func TestPostDuplicates(t *testing.T) {
	c := newCohort(t, nil)
	in, url := startHTTP(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited})
	first := post(t, url, "a", bytes.NewReader(object("other", 5000)))
	obj := object("dup", 9000)
	open := c.shut(t, &c.calls)
	results := make(chan answered, 2)
	submit := func() { results <- post(t, url, "a", bytes.NewReader(object("dup", 9000))) }
	go submit() // ends once the gate is open
	eventually(t, "the first is taken", func() bool { return in.Counters().Objects == 2 })
	go submit() // likewise
	eventually(t, "the second is rejected", func() bool { return in.Counters().Rejected[lane.ReasonDuplicate] == 1 })
	open()
	a, b := <-results, <-results
	if a.status == http.StatusConflict {
		a, b = b, a
	}
	want := a.Submitted
	want.Fragments = 0
	if a.status != http.StatusAccepted || a.Seq != first.Seq+2 || a.Fragments != 3 || b.status != http.StatusConflict || b.Submitted != want {
		t.Errorf("first %+v, second %+v", a, b)
	}
	if again := post(t, url, "a", bytes.NewReader(obj)); again.status != http.StatusConflict || again.Submitted != want {
		t.Errorf("again %+v", again)
	}
	c.set(func(c *cohort) { c.failAt = func(uint64) error { return fmt.Errorf("broken") } })
	if a := post(t, url+"?wait=1", "a", bytes.NewReader(object("lost", 10))); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
		t.Errorf("lost: %+v", a)
	}
	c.set(func(c *cohort) { c.failAt, c.reserveIs = nil, fmt.Errorf("no index") })
	if a := post(t, url, "a", bytes.NewReader(object("lost", 10))); a.status != http.StatusServiceUnavailable {
		t.Errorf("no index: %+v", a)
	}
	c.set(func(c *cohort) { c.reserveIs = nil })
	if a := post(t, url+"?wait=1", "a", bytes.NewReader(object("lost", 10))); a.status != http.StatusAccepted {
		t.Errorf("after it was lost: %+v", a)
	}
}

// TestPostWait: without ?wait=1 the answer does not wait for the receipt, with it
// it does, up to a bound.
func TestPostWait(t *testing.T) {
	c := newCohort(t, nil)
	limits := unlimited
	limits.Confirm = 300 * time.Millisecond
	in, url := startHTTP(t, lane.IngressConfig{Publishers: only(c), Limits: limits})
	open := c.shut(t, &c.receipts)
	if a := post(t, url, "a", bytes.NewReader(object("now", 10))); a.status != http.StatusAccepted || a.Seq != 1 {
		t.Errorf("without waiting: %+v", a)
	}
	if a := post(t, url+"?wait=1", "a", bytes.NewReader(object("late", 10))); a.status != http.StatusServiceUnavailable || in.Counters().Published != 0 {
		t.Errorf("waited in vain: %+v", a)
	}
	open()
	eventually(t, "both published", func() bool { return in.Counters().Published == 2 })
	if a := post(t, url+"?wait=1", "a", bytes.NewReader(object("late", 10))); a.status != http.StatusConflict || a.Seq != 2 {
		t.Errorf("asked again: %+v", a)
	}
}

// TestPostBounds: over a rate or a bound the answer is 503 with Retry-After.
func TestPostBounds(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*lane.IngressLimits)
		reason string
	}{
		{"objects", func(l *lane.IngressLimits) { l.Objects = 2 }, lane.ReasonObjects},
		{"bytes", func(l *lane.IngressLimits) { l.Bytes = 1500 }, lane.ReasonBytes},
		{"node", func(l *lane.IngressLimits) { l.NodeObjects = 2 }, lane.ReasonNode},
		{"backlog", func(l *lane.IngressLimits) { l.Backlog = 2 * beef.MaxChunk }, lane.ReasonBacklog},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCohort(t, nil)
			limits := unlimited
			test.change(&limits)
			in, url := startHTTP(t, lane.IngressConfig{Publishers: only(c), Limits: limits})
			if test.reason == lane.ReasonBacklog {
				c.shut(t, &c.receipts)
			}
			over := 0
			for i := range 6 {
				a := post(t, url, "a", bytes.NewReader(object(fmt.Sprint(i), 1000)))
				if a.status == http.StatusServiceUnavailable {
					over++
					if a.header.Get("Retry-After") == "" || !strings.Contains(a.Error, test.reason) {
						t.Errorf("%+v", a)
					}
				}
			}
			if over == 0 || in.Counters().Throttled[test.reason] != uint64(over) {
				t.Errorf("%d of 6 refused, counted %v", over, in.Counters().Throttled)
			}
		})
	}
}

// TestPostToken: 401 before the body is read.
func TestPostToken(t *testing.T) {
	token, err := bearer.New("sesame")
	if err != nil {
		t.Fatal(err)
	}
	c := newCohort(t, nil)
	in, url := startHTTP(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited, HTTP: &lane.HTTPDoor{Token: token}})
	for _, auth := range []string{"", "sesame", "Bearer open"} {
		a := post(t, url, "a", bytes.NewReader(object("token", 10)), "Authorization", auth)
		if a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%q: %+v", auth, a)
		}
	}
	if a := post(t, url, "a", bytes.NewReader(object("token", 10)), "Authorization", "Bearer sesame"); a.status != http.StatusAccepted {
		t.Errorf("with the token: %+v", a)
	}
	if n := in.Counters().Refused[lane.ReasonToken]; n != 3 {
		t.Errorf("%d counted, want 3", n)
	}
	if in, err := lane.NewIngress(lane.IngressConfig{Publishers: only(c), HTTP: &lane.HTTPDoor{DeliverCap: 2}}); err == nil {
		in.Close()
		t.Error("a cap above 1 without a token")
	}
}

// TestPostSlow: a body that does not come ends the request, and a place among the
// large objects is waited for only a little.
func TestPostSlow(t *testing.T) {
	limits := unlimited
	limits.Stall, limits.LargeObjects, limits.LargeWait = 100*time.Millisecond, 1, 50*time.Millisecond
	in, url := startHTTP(t, lane.IngressConfig{Publishers: only(newCohort(t, nil)), Limits: limits})
	head := "POST / HTTP/1.1\r\nHost: x\r\nX-Topics: a\r\nContent-Length: 200000\r\n\r\n"
	slow := dialURL(t, url)
	write(t, slow, []byte(head))
	if line := firstLine(t, slow); !strings.Contains(line, "408") {
		t.Errorf("a stalled body got %q", line)
	}
	limits.Stall = time.Minute
	in, url = startHTTP(t, lane.IngressConfig{Publishers: only(newCohort(t, nil)), Limits: limits})
	holder := dialURL(t, url)
	write(t, holder, append([]byte(head), make([]byte, 150000)...))
	eventually(t, "the place is taken", func() bool {
		a := post(t, url, "a", bytes.NewReader(object("too early", 100000))) // or early enough to be taken
		return a.status == http.StatusServiceUnavailable && in.Counters().Throttled[lane.ReasonLarge] > 0
	})
	write(t, holder, make([]byte, 50000))
	if line := firstLine(t, holder); !strings.Contains(line, "400") { // of zeros
		t.Errorf("the holder got %q", line)
	}
	if a := post(t, url, "a", bytes.NewReader(object("large", 100000))); a.status != http.StatusAccepted {
		t.Errorf("after it: %+v", a)
	}
}

func dialURL(t *testing.T, url string) net.Conn {
	t.Helper()
	nc, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return nc
}

func firstLine(t *testing.T, nc net.Conn) string {
	t.Helper()
	nc.SetReadDeadline(time.Now().Add(patience))
	b := make([]byte, 64)
	n, err := io.ReadFull(nc, b)
	if n == 0 {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(b[:n]), "\r\n")
	return line
}

// TestPostWhileClosing: Close ends waiting requests, and later ones get 503.
func TestPostWhileClosing(t *testing.T) {
	c := newCohort(t, nil)
	in, url := startHTTP(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited})
	open := c.shut(t, &c.receipts)
	waiting := make(chan answered, 1)
	go func() { waiting <- post(t, url+"?wait=1", "a", bytes.NewReader(object("closing", 10))) }() // Close ends it
	eventually(t, "handed on", func() bool { return in.Counters().Objects == 1 })
	in.Close()
	if a := <-waiting; a.status != http.StatusServiceUnavailable {
		t.Errorf("waiting: %+v", a)
	}
	if a := post(t, url, "a", bytes.NewReader(object("closed", 10))); a.status != http.StatusServiceUnavailable {
		t.Errorf("closed: %+v", a)
	}
	open()
}
