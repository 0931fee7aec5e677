package jetstream_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"treecast/e2e/cluster"
	"treecast/wire/beef"
)

// process is one `treecast node` of the built binary.
type process struct {
	*cluster.Process
	PeerID    string   `json:"peer_id"`
	Addrs     []string `json:"addrs"`
	API       string   `json:"api"`
	Ingress   []string `json:"ingress"`
	Publisher string   `json:"publisher"`
	Sink      string   `json:"sink"`
}

func startNode(t *testing.T, name, dir string, args ...string) *process {
	t.Helper()
	args = append([]string{
		"node", "--json", "--data-dir", dir, "--listen", "/ip4/127.0.0.1/tcp/0", "--api", "127.0.0.1:0", "--retain", "256M",
	}, args...)
	p := &process{Process: cluster.Start(t, name, binary, args...)}
	p.AwaitJSON(t, p)
	return p
}

// plainHTTP keeps no connection open, so that a process may end at any time.
var plainHTTP = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func (p *process) get(t *testing.T, path string) (int, string) {
	t.Helper()
	res, err := plainHTTP.Get("http://" + p.API + path)
	if err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	return res.StatusCode, string(b)
}

func (p *process) awaitReady(t *testing.T) {
	t.Helper()
	cluster.Eventually(t, limit, p.Name+" is ready", func() (bool, string) {
		code, body := p.get(t, "/readyz")
		return code == http.StatusOK, body
	})
}

// metric reads one series of the node; false if it is not there.
func (p *process) metric(t *testing.T, series string) (float64, bool) {
	t.Helper()
	_, body := p.get(t, "/metrics")
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\S+)$`).FindStringSubmatch(body)
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v, true
}

func (p *process) awaitMetric(t *testing.T, series string, want float64) {
	t.Helper()
	cluster.Eventually(t, limit, fmt.Sprintf("%s: %s is %v", p.Name, series, want), func() (bool, string) {
		v, ok := p.metric(t, series)
		return ok && v == want, fmt.Sprint(v, ok)
	})
}

// publisher sends submission records over one TCP connection, as the door takes them.
type publisher struct {
	sent atomic.Int64
	err  error
	done chan struct{}
}

func publish(t *testing.T, addr string, records [][]byte) *publisher {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	p := &publisher{done: make(chan struct{})}
	go func() { // ends with the records or the connection
		defer close(p.done)
		defer conn.Close()
		for _, r := range records {
			if _, p.err = conn.Write(r); p.err != nil {
				return
			}
			p.sent.Add(1)
		}
		// The door closes when all is settled.
		if p.err = conn.(*net.TCPConn).CloseWrite(); p.err == nil {
			_, p.err = io.Copy(io.Discard, conn)
		}
	}()
	t.Cleanup(func() { conn.Close(); <-p.done })
	return p
}

// TestSinkNodeIsKilled: an ingress, a relay and a node with a sink, each a process.
// The third is killed again and again while objects flow, stays away for a while
// each second time, and the NATS server is restarted once too. In the end the
// stream holds exactly what was submitted.
func TestSinkNodeIsKilled(t *testing.T) {
	const objects, kills, secret = 600, 6, "s3cr3t"
	n := startServer(t, func(o *server.Options) {
		o.MaxPayload = 64 << 10
		o.Username, o.Password = "sink", secret
	})
	js := client(t, n, nats.UserInfo("sink", secret))
	broker := startNode(t, "ingress", filepath.Join(t.TempDir(), "b"), "--broker", "--ingress-tcp", "127.0.0.1:0")
	relay := startNode(t, "relay", filepath.Join(t.TempDir(), "r"), "--join", "beef@"+broker.Addrs[0])
	relay.awaitReady(t)
	dir := filepath.Join(t.TempDir(), "s")
	start := func() *process {
		return startNode(t, "sink", dir, "--capacity", "0", "--join", "beef@"+relay.Addrs[0], "--join", "beef@"+broker.Addrs[0],
			"--sink", fmt.Sprintf("nats://sink:%s@%s", secret, n.addr()))
	}
	node := start()
	if want := "nats://" + n.addr() + "/BEEF"; node.Sink != want {
		t.Errorf("the node says that its sink is %q, want %q", node.Sink, want)
	}
	node.awaitReady(t)
	node.awaitMetric(t, "treecast_sink_connected", 1)

	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	want := make(map[string][]byte)
	var records [][]byte
	for i := range objects {
		size := 100 + rng.IntN(3000)
		switch {
		case i%60 == 30:
			size = 300_000 // in fragments, and for the object store
		case i%20 == 10:
			size = 20_000 // in fragments
		}
		r, err := beef.AppendRecord(nil, []string{topics[i%len(topics)]}, cluster.MakeObjects(seed+uint64(i), 1, size)[0])
		if err != nil {
			t.Fatal(err)
		}
		id, topic := beef.ContentID(r), beef.TopicIDOf(topics[i%len(topics)])
		records = append(records, r)
		want[fmt.Sprintf("%x%x", id[:], topic[:])] = r
	}
	in := publish(t, broker.Ingress[0], records)
	awaitStored := func(k int) {
		t.Helper()
		cluster.Eventually(t, limit, fmt.Sprintf("%d objects in the stream", k), func() (bool, string) {
			s, err := js.Stream(t.Context(), "BEEF")
			if err != nil {
				return false, err.Error()
			}
			msgs := s.CachedInfo().State.Msgs
			return msgs >= uint64(k), fmt.Sprint(msgs)
		})
	}
	for i := 1; i <= kills; i++ {
		awaitStored(i * objects / (kills + 2))
		node.Kill()
		if i == kills/2 {
			n.restart(t, nil)
		}
		if i%2 == 0 { // until there is something that only others have
			at := in.sent.Load()
			cluster.Eventually(t, limit, "30 more objects submitted", func() (bool, string) {
				now := in.sent.Load()
				return now >= min(at+30, objects), fmt.Sprint(now)
			})
		}
		node = start()
	}
	awaitStored(objects)
	select {
	case <-in.done:
	case <-time.After(limit):
		t.Fatal("the door does not close")
	}
	if in.err != nil {
		t.Errorf("submitting: %v", in.err)
	}
	node.awaitMetric(t, "treecast_sink_pending", 0)
	node.awaitMetric(t, "treecast_sink_lag_chunks", 0)
	if code, _ := node.get(t, "/readyz"); code != http.StatusOK {
		t.Errorf("not ready: %d", code)
	}
	checkSubmitted(t, js, want)
	for _, p := range []*process{node, relay, broker} {
		if code := p.Stop(t); code != 0 {
			t.Errorf("%s: exit %d: %s", p.Name, code, p.Stderr())
		}
	}
	if bytes.Contains([]byte(node.Stderr()), []byte(secret)) {
		t.Error("the log has the password")
	}
}

// checkSubmitted checks that the stream holds exactly what was submitted.
func checkSubmitted(t *testing.T, js jetstream.JetStream, want map[string][]byte) {
	t.Helper()
	seen, large := make(map[string]int), 0
	for _, m := range readStream(t, js, "BEEF") {
		seen[m.id]++
		switch r, ok := want[m.id]; {
		case !ok:
			t.Errorf("%s was not submitted", m.id)
		case seen[m.id] > 1:
			t.Errorf("%s is there %d times", m.id, seen[m.id])
		case !bytes.Equal(m.payload, r):
			t.Errorf("%s has other bytes", m.id)
		}
		if m.large {
			large++
		}
	}
	if len(seen) != len(want) || large == 0 {
		t.Errorf("%d of %d objects, %d of them in the object store", len(seen), len(want), large)
	}
}
