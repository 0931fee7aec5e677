package client_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"treecast/cmd/treecast/internal/client"
	"treecast/node/lane"
	"treecast/wire/beef"
)

// startLane serves a lane by HTTP that wants a token.
func startLane(t *testing.T, limits lane.EgressLimits) (*lane.Egress, string) {
	t.Helper()
	e, err := lane.NewEgress(lane.EgressConfig{MaxObject: 1 << 20, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /deliver", e.Handler())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sesame" {
			http.Error(w, "no token", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		e.Close()
		s.Close()
	})
	return e, strings.TrimPrefix(s.URL, "http")
}

func tokenFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// frameOf is the chunk that carries an object.
func frameOf(t *testing.T, topic string, object []byte) lane.Message {
	t.Helper()
	record, err := beef.AppendRecord(nil, []string{topic}, object)
	if err != nil {
		t.Fatal(err)
	}
	sub, err := beef.ParseSubmission(record, 0)
	if err != nil {
		t.Fatal(err)
	}
	return lane.Message{Payload: beef.AppendFrame(nil, &sub.Frame)}
}

func TestFetchURL(t *testing.T) {
	for _, scheme := range []string{"ws", "http"} {
		t.Run(scheme, func(t *testing.T) {
			e, addr := startLane(t, lane.EgressLimits{})
			token := tokenFile(t)
			got := make(chan string, 1)
			c := &client.Consumer{Handle: func(remote net.Addr, d beef.Delivery) error {
				p, err := beef.ParsePayload(d.Payload)
				got <- string(p.Object)
				return err
			}}
			done := make(chan error, 1)
			go func() { // ends when the egress closes
				done <- c.FetchURL(t.Context(), scheme+addr, token, client.Election{Topics: []string{"a,b"}, Versions: []string{"beef"}})
			}()
			for len(e.Counters().Consumers) == 0 {
				time.Sleep(time.Millisecond)
			}
			e.Handle(frameOf(t, "a,b", object))
			e.Handle(frameOf(t, "a", object))
			if o := <-got; o != string(object) {
				t.Errorf("got %q", o)
			}
			e.Close()
			if err := <-done; err != nil {
				t.Errorf("a node that closes: %v", err)
			}
			for addr, want := range map[string]string{
				scheme + addr + "?format=json": "400",
				scheme + addr:                  "503", // it is closed
				"ftp" + addr:                   "want ws, wss, http or https",
			} {
				if err := c.FetchURL(t.Context(), addr, token, client.Election{}); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %q", addr, err, want)
				}
			}
			if err := c.FetchURL(t.Context(), scheme+addr, "", client.Election{}); err == nil || !strings.Contains(err.Error(), "401") {
				t.Errorf("without the token: %v", err)
			}
		})
	}
}

// TestFetchURLTooSlow: a lane that was closed on a slow consumer is no good end.
func TestFetchURLTooSlow(t *testing.T) {
	for _, scheme := range []string{"ws", "http"} {
		t.Run(scheme, func(t *testing.T) {
			e, addr := startLane(t, lane.EgressLimits{Queue: 1<<20 + 4096})
			hold := make(chan struct{})
			c := &client.Consumer{Handle: func(net.Addr, beef.Delivery) error {
				<-hold
				return nil
			}}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			done := make(chan error, 1)
			token := tokenFile(t)
			go func() { done <- c.FetchURL(ctx, scheme+addr, token, client.Election{}) }() // ends with the lane
			for len(e.Counters().Consumers) == 0 {
				time.Sleep(time.Millisecond)
			}
			for i := 0; e.Counters().Closed["slow"] == 0 && i < 100_000; i++ {
				e.Handle(frameOf(t, "a", append([]byte{1, 0, 0xBE, 0xEF, byte(i >> 16), byte(i >> 8), byte(i)}, make([]byte, 3900)...)))
			}
			close(hold)
			if err := <-done; err == nil || !strings.Contains(err.Error(), "too slow") {
				t.Errorf("ended with %v", err)
			}
		})
	}
}
