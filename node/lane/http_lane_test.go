package lane_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"treecast/node/lane"
	"treecast/wire/beef"
)

// httpLane is a consumer over HTTP: what it reads, and how its lane ended.
type httpLane struct {
	io.Reader
	closed func(error) string // of the error that ended the reading
	hangUp func()
}

// openers connect over each kind of HTTP lane.
var openers = map[string]func(*testing.T, string, url.Values) httpLane{
	"websocket": openWebSocket, "stream": openStream,
}

func openWebSocket(t *testing.T, base string, q url.Values) httpLane {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	t.Cleanup(cancel)
	conn, _, err := websocket.Dial(ctx, base+"?"+q.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	conn.SetReadLimit(-1)
	return httpLane{
		&messages{ctx: ctx, conn: conn},
		func(err error) string {
			var e websocket.CloseError
			errors.As(err, &e)
			return e.Code.String()
		},
		func() { conn.Close(websocket.StatusNormalClosure, "enough") },
	}
}

// messages reads binary messages one after the other, as a stream of bytes.
type messages struct {
	ctx  context.Context
	conn *websocket.Conn
	rest io.Reader
}

func (m *messages) Read(b []byte) (int, error) {
	for {
		if m.rest != nil {
			n, err := m.rest.Read(b)
			if n > 0 || !errors.Is(err, io.EOF) {
				return n, err
			}
		}
		kind, r, err := m.conn.Reader(m.ctx)
		if err != nil {
			return 0, err
		}
		if kind != websocket.MessageBinary {
			return 0, errors.New("a message that is not binary")
		}
		m.rest = r
	}
}

func openStream(t *testing.T, base string, q url.Values) httpLane {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"?"+q.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		t.Fatalf("status %d", res.StatusCode)
	}
	return httpLane{
		res.Body,
		func(err error) string {
			if !errors.Is(err, io.EOF) {
				return "cut"
			}
			return res.Trailer.Get(lane.ClosedTrailer)
		},
		cancel,
	}
}

// startHTTPEgress serves an egress without a listening lane.
func startHTTPEgress(t *testing.T, cfg lane.EgressConfig) (*lane.Egress, string) {
	t.Helper()
	e := startEgress(t, cfg)
	s := httptest.NewServer(e.Handler())
	t.Cleanup(s.Close)
	return e, s.URL
}

// open connects and waits until the lane is there.
func (e egressAt) open(t *testing.T, kind string, q url.Values) httpLane {
	t.Helper()
	before := len(e.Counters().Consumers)
	l := openers[kind](t, e.url, q)
	eventually(t, "lane open", func() bool { return len(e.Counters().Consumers) == before+1 })
	return l
}

type egressAt struct {
	*lane.Egress
	url string
}

// TestHTTPDeliveryVectors delivers each vector over a WebSocket and over a stream.
func TestHTTPDeliveryVectors(t *testing.T) {
	v := mustVectors(t)
	versions := map[string]string{"0100beef": "beef", "0200beef": "beefv2", "01010101": "atomic"}
	for kind := range openers {
		for _, d := range v.Delivery.Items {
			t.Run(kind+"/"+d.ID, func(t *testing.T) {
				payload := v.payload(t, d.PayloadRef)
				f := beef.Frame{Payload: payload}
				f.DeliverCount, f.ContentID = d.DeliverCount, beef.ContentID(payload)
				copy(f.TopicID[:], unhex(t, d.HeaderTopicID))
				q := url.Values{}
				if len(d.ElectedTopics) > 0 {
					q.Set("topics", strings.Join(d.ElectedTopics, ","))
				}
				for _, word := range d.ElectedVersions {
					q.Add("versions", versions[word])
				}
				server, base := startHTTPEgress(t, lane.EgressConfig{})
				e := egressAt{server, base}
				l := e.open(t, kind, q)
				handle(e.Egress, beef.AppendFrame(nil, &f))
				read := make(chan []byte, 1)
				var end error
				go func() { // ends with the lane
					var b []byte
					b, end = readAll(l)
					read <- b
				}()
				if d.Delivered {
					eventually(t, "record written", func() bool { return e.Counters().Records == 1 })
				}
				e.Close()
				want := unhex(t, d.Record)
				if !d.Delivered {
					want = nil
				}
				if b := <-read; !bytes.Equal(b, want) {
					t.Errorf("got %x\nwant %x", b, want)
				}
				if got := l.closed(end); got != "StatusGoingAway" && got != lane.ClosedWell {
					t.Errorf("closed with %q", got)
				}
			})
		}
	}
}

// readAll is io.ReadAll that keeps io.EOF.
func readAll(r io.Reader) ([]byte, error) {
	var all []byte
	b := make([]byte, 32<<10)
	for {
		n, err := r.Read(b)
		all = append(all, b[:n]...)
		if err != nil {
			return all, err
		}
	}
}

// TestHTTPFragmentVectors puts the vectors' sets together for HTTP consumers, small
// and large ones side by side, as records and as frames.
func TestHTTPFragmentVectors(t *testing.T) {
	v := mustVectors(t)
	server, base := startHTTPEgress(t, lane.EgressConfig{})
	e := egressAt{server, base}
	for _, s := range v.Fragments.Sets {
		if len(s.Fragments) == 0 {
			continue
		}
		for kind := range openers {
			l := e.open(t, kind, url.Values{"topics": {s.TopicID}})
			for _, f := range s.Fragments {
				handle(e.Egress, unhex(t, f))
			}
			d := readRecord(t, l)
			if sum := sha256.Sum256(d.Payload); hex.EncodeToString(sum[:]) != s.PayloadSHA256 {
				t.Errorf("%s over %s: the payload is another", s.ID, kind)
			}
			l.hangUp()
			eventually(t, "lane gone", func() bool { return len(e.Counters().Consumers) == 0 })
			server, base = startHTTPEgress(t, lane.EgressConfig{}) // which has not seen the object
			e = egressAt{server, base}
		}
	}
	for kind := range openers {
		rec, frame := e.open(t, kind, nil), e.open(t, kind, url.Values{"format": {"frame"}, "topics": {`["a"]`}})
		payload := submission(t, kind, 3<<20, "a")
		chunks := chunksOf(t, payload, 1, 7)
		handle(e.Egress, chunks...)
		want := record("a", payload)
		got := make([]byte, len(want))
		if _, err := io.ReadFull(rec, got); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: record: %v", kind, err)
		}
		got = make([]byte, beef.HeaderSize+len(payload))
		if _, err := io.ReadFull(frame, got); err != nil {
			t.Errorf("%s: frame: %v", kind, err)
		} else if f, err := beef.ParseFrame(got); err != nil || f.SeqNum != 7 || !bytes.Equal(f.Payload, payload) {
			t.Errorf("%s: frame %+v, %v", kind, f.Header, err)
		}
		rec.hangUp()
		frame.hangUp()
		eventually(t, "lanes gone", func() bool { return len(e.Counters().Consumers) == 0 })
	}
}

// TestHTTPRefusals: a bad query is 400, one consumer too many 503, with the reason.
func TestHTTPRefusals(t *testing.T) {
	e, base := startHTTPEgress(t, lane.EgressConfig{Limits: lane.EgressLimits{Consumers: 1}})
	refused := func(query, want string, status int) {
		t.Helper()
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
		res, err := client.Get(base + query)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if b, _ := io.ReadAll(res.Body); res.StatusCode != status || !strings.Contains(string(b), want) {
			t.Errorf("%q: %d %s, want %d and %q", query, res.StatusCode, b, status, want)
		}
	}
	for query, want := range map[string]string{
		"?topics=" + strings.Repeat("n", 65): "topic",
		"?topics=[1]":                        "JSON array",
		"?versions=beefv3":                   "beefv3",
		"?format=json":                       "json",
		"?format=frame&format=record":        "want one",
		"?resume=me":                         "no retention",
		"?since=3":                           "unknown",
	} {
		refused(query, want, http.StatusBadRequest)
	}
	egressAt{e, base}.open(t, "stream", nil)
	refused("", "1 consumers", http.StatusServiceUnavailable)
	if _, _, err := websocket.Dial(t.Context(), base, nil); err == nil {
		t.Error("a second consumer over WebSocket")
	}
	if _, _, err := websocket.Dial(t.Context(), base+"?format=json", nil); err == nil {
		t.Error("a bad election over WebSocket")
	}
	foreign := &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"https://example.org"}}}
	fresh, other := startHTTPEgress(t, lane.EgressConfig{})
	if _, _, err := websocket.Dial(t.Context(), other, foreign); err == nil || len(fresh.Counters().Consumers) != 0 {
		t.Error("a page of another origin was let in")
	}
}

// TestHTTPSlowConsumer: one that stops reading loses its lane, is told why when it
// reads on, and delays nobody.
func TestHTTPSlowConsumer(t *testing.T) {
	for kind, want := range map[string]string{"websocket": "StatusTryAgainLater", "stream": "too slow: the queue is full"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			const size = 1 << 20
			server, base := startHTTPEgress(t, lane.EgressConfig{
				MaxObject: size, Limits: lane.EgressLimits{Queue: size + 4096},
			})
			e := egressAt{server, base}
			slow := e.open(t, kind, nil)
			for i := 0; e.Counters().Closed["slow"] == 0; i++ {
				if i == 200 {
					t.Fatal("200 MiB were taken by nobody")
				}
				payload := submission(t, kind+string(rune(i)), size-64, "a")
				handle(e.Egress, chunksOf(t, payload, 1, uint64(i)*1000+1)...)
			}
			_, err := readAll(slow)
			if got := slow.closed(err); got != want {
				t.Errorf("closed with %q (%v), want %q", got, err, want)
			}
			eventually(t, "lane gone", func() bool { return len(e.Counters().Consumers) == 0 })
		})
	}
}

// TestHTTPStuckConsumer: one that takes nothing for EgressLimits.Write is cut off,
// and Close does not wait for one either.
func TestHTTPStuckConsumer(t *testing.T) {
	var chunks [][]byte // more than the sockets in between hold
	for i := range 16 {
		chunks = append(chunks, chunksOf(t, submission(t, string(rune('A'+i)), 1<<20, "a"), 1, uint64(i)*1000+1)...)
	}
	for kind := range openers {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			server, base := startHTTPEgress(t, lane.EgressConfig{Limits: lane.EgressLimits{Write: 100 * time.Millisecond}})
			e := egressAt{server, base}
			e.open(t, kind, nil)
			handle(e.Egress, chunks...)
			eventually(t, "stuck", func() bool { return e.Counters().Closed["stuck"] == 1 })
			server, base = startHTTPEgress(t, lane.EgressConfig{Limits: lane.EgressLimits{Flush: 100 * time.Millisecond}})
			e = egressAt{server, base}
			e.open(t, kind, nil)
			handle(e.Egress, chunks...)
			start := time.Now()
			e.Close()
			if took := time.Since(start); took > 4*time.Second {
				t.Errorf("Close took %v", took)
			}
		})
	}
}

// TestHTTPGone: a consumer that hangs up frees its place, and after Close nobody
// gets one.
func TestHTTPGone(t *testing.T) {
	for kind := range openers {
		server, base := startHTTPEgress(t, lane.EgressConfig{})
		e := egressAt{server, base}
		l := e.open(t, kind, nil)
		l.hangUp()
		eventually(t, kind+" gone", func() bool { c := e.Counters(); return len(c.Consumers) == 0 && c.Closed["gone"] == 1 })
		e.Close()
		res, err := http.Get(base)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		http.DefaultClient.CloseIdleConnections()
		if res.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("after Close: %d", res.StatusCode)
		}
	}
}

// payload is what a delivery vector delivers.
func (v *vectors) payload(t *testing.T, ref string) []byte {
	t.Helper()
	id, ok := strings.CutPrefix(ref, "object ")
	if !ok {
		return unhex(t, v.record(t, ref).Record)
	}
	for _, o := range v.Objects.Items {
		if o.ID == id {
			return unhex(t, o.Hex)
		}
	}
	t.Fatalf("no object vector %q", id)
	return nil
}
