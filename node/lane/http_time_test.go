package lane_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"treecast/node/lane"
)

// hurried serves a handler with the timeouts of a server whose requests end soon.
func hurried(t *testing.T, h http.Handler, wait time.Duration) string {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ReadTimeout, s.Config.WriteTimeout = wait, wait
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// TestHTTPOutlivesTheServer: a lane, and a submission that waits, last longer than
// the server in front lets others.
func TestHTTPOutlivesTheServer(t *testing.T) {
	const wait = 100 * time.Millisecond
	e := startEgress(t, lane.EgressConfig{})
	at := egressAt{e, hurried(t, e.Handler(), wait)}
	var lanes []httpLane
	for kind := range openers {
		lanes = append(lanes, at.open(t, kind, url.Values{}))
	}
	c := newCohort(t, nil)
	in := startIngress(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited, HTTP: &lane.HTTPDoor{}, Doors: []lane.Door{}})
	door := hurried(t, in.Handler(), wait)
	open := c.shut(t, &c.receipts)
	answer := make(chan answered, 1)
	go func() { answer <- post(t, door+"?wait=1", "a", bytes.NewReader(object("hurry", 100))) }() // ends once the gate is open
	time.Sleep(3 * wait)
	open()
	if a := <-answer; a.status != http.StatusAccepted {
		t.Errorf("%+v", a)
	}
	rec := submission(t, "hurry", 100, "a")
	handle(e, chunksOf(t, rec, 1, 1)...)
	want := record("a", rec)
	for _, l := range lanes {
		got := make([]byte, len(want))
		if _, err := io.ReadFull(l, got); err != nil || !bytes.Equal(got, want) {
			t.Errorf("got %x, %v", got, err)
		}
		l.hangUp()
	}
	for method, at := range map[string]string{http.MethodHead: at.url, http.MethodGet: door} {
		req, err := http.NewRequest(method, at, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, res.StatusCode)
		}
	}
}
