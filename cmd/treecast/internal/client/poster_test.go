package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"treecast/cmd/treecast/internal/client"
	"treecast/wire/beef"
)

// TestPoster: the object and its topics arrive, a door without room is asked again
// after its time, a duplicate is no error, everything else is.
func TestPoster(t *testing.T) {
	const taken = `{"contentId":"00","topicId":"11","seq":1,"fragments":1}`
	answers := []struct {
		status int
		body   string
	}{
		{202, taken},
		{503, `{"error":"over a bound: backlog"}`},
		{202, taken},
		{409, taken},
		{400, `{"error":"bad_marker"}`},
		{200, "hello"},
		{202, "{}"},
	}
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.String() != "/submit?wait=1" || r.Header.Get("X-Topics") != `["a,b","c"]` || !bytes.Equal(body, object) ||
			r.Header.Get("Authorization") != "Bearer sesame" || r.Header.Get("Content-Type") != "application/octet-stream" {
			t.Errorf("%s %v %q", r.URL, r.Header, body)
		}
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(answers[asked].status)
		io.WriteString(w, answers[asked].body)
		asked++
	}))
	defer s.Close()
	p, err := client.NewPoster(client.PosterConfig{
		To: strings.TrimPrefix(s.URL, "http://"), TokenFile: tokenFile(t), Wait: true, Rate: 1000,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	send := func() error { return p.Send(t.Context(), []string{"a,b", "c"}, object, nil) }
	start := time.Now()
	for range 3 {
		if err := send(); err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(start); took < time.Second {
		t.Errorf("asked again within %v", took)
	}
	for _, want := range []string{"bad_marker", "200 OK", "no answer of an ingress"} {
		if err := send(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if n, size := p.Sent(); n != 3 || size != 3*int64(len(object)) || p.Duplicates() != 1 || asked != len(answers) {
		t.Errorf("sent %d objects, %d bytes, %d duplicates in %d requests", n, size, p.Duplicates(), asked)
	}
	if _, err := client.NewPoster(client.PosterConfig{To: "x", TokenFile: "none"}); err == nil {
		t.Error("a token file that is not there")
	}
}

func TestDatagrams(t *testing.T) {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer pc.Close()
	s, err := client.DialUDP(t.Context(), pc.LocalAddr().String(), 50)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	buf := make([]byte, 1<<16)
	want, _ := beef.AppendRecord(nil, []string{"tm_a"}, object)
	start := time.Now()
	for range 3 {
		if err := s.Send(t.Context(), []string{"tm_a"}, object, nil); err != nil {
			t.Fatal(err)
		}
		pc.SetReadDeadline(time.Now().Add(5 * time.Second))
		if n, _, err := pc.ReadFrom(buf); err != nil || !bytes.Equal(buf[:n], want) {
			t.Errorf("got %x, %v", buf[:n], err)
		}
	}
	if took := time.Since(start); took < 35*time.Millisecond {
		t.Errorf("3 objects at 50/s in %v", took)
	}
	if err := s.Send(t.Context(), []string{"tm_a"}, append(bytes.Clone(object), make([]byte, 65507)...), nil); err == nil {
		t.Error("a record that fits no datagram")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if err := s.Send(ctx, []string{"tm_a"}, object, nil); !errors.Is(err, why) {
		t.Errorf("after the end: %v", err)
	}
	if n, _ := s.Sent(); n != 3 {
		t.Errorf("%d sent", n)
	}
}
