package api_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"treecast/node"
	"treecast/node/api"
	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func start(t *testing.T, cfg node.Config) *node.Node {
	t.Helper()
	cfg.Listen = []string{"/ip4/127.0.0.1/tcp/0"}
	n, err := node.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

func serve(t *testing.T, n *node.Node, cfg api.Config) *api.Server {
	t.Helper()
	if cfg.Addr == "" {
		cfg.Addr = ":0"
	}
	s, err := api.New(n, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// get fetches a path; header pairs follow.
func get(t *testing.T, s *api.Server, path string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequest("GET", "http://"+s.Addr()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// TestTree shows a broker and its child from both ends.
func TestTree(t *testing.T) {
	registry := prometheus.NewRegistry()
	broker, member := start(t, node.Config{Registerer: registry}), start(t, node.Config{})
	key, err := soc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	admin := key.Owner()
	spec := wire.Spec{
		Topic: soc.Keccak256([]byte("api")), Binding: wire.BindingFeedTopic,
		Regime: wire.RegimeExplicitSingle, Admin: admin[:],
	}
	top, err := broker.Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	up, down := serve(t, broker, api.Config{Gatherer: registry}), serve(t, member, api.Config{})
	bottom, err := member.Join(node.CohortOptions{Topic: spec.Topic, Parents: 1})
	if err != nil {
		t.Fatal(err)
	}
	if code, body := get(t, down, "/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "no parent") {
		t.Errorf("without a parent: %d %q", code, body)
	}
	if err := bottom.Close(); err != nil {
		t.Fatal(err)
	}
	bottom, err = member.Join(node.CohortOptions{Topic: spec.Topic, Entries: broker.Addrs()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := bottom.WaitAttached(ctx, 1); err != nil {
		t.Fatal(err)
	}
	pub, err := top.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pub.Publish(ctx, []byte("x")); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*api.Server{up, down} {
		for _, path := range []string{"/healthz", "/readyz"} {
			if code, body := get(t, s, path); code != http.StatusOK {
				t.Errorf("%s: %d %q", path, code, body)
			}
		}
	}
	view := func(s *api.Server) (x api.Tree) {
		code, body := get(t, s, "/tree")
		if err := json.Unmarshal([]byte(body), &x); err != nil || code != http.StatusOK || len(x.Cohorts) != 1 {
			t.Fatalf("%d %v %s", code, err, body)
		}
		return x
	}
	a, b := view(up), view(down)
	if a.Overlay != broker.Overlay().String() || a.PeerID != broker.ID().String() || len(a.Addrs) == 0 {
		t.Errorf("broker %+v", a)
	}
	c, d := a.Cohorts[0], b.Cohorts[0]
	if !c.Broker || c.Band != 1 || len(c.Children) != 1 || c.Children[0].PeerID != member.ID().String() || c.Children[0].Overlay != b.Overlay {
		t.Errorf("broker's cohort %+v", c)
	}
	if d.Topic != spec.Topic.String() || d.Band != 2 || len(d.Parents) != 1 || !d.Parents[0].Broker || d.Parents[0].Overlay != a.Overlay || d.Spec.Binding != "FEED_TOPIC" {
		t.Errorf("member's cohort %+v", d)
	}
	if c.Counters["delivered"] != 1 || len(c.Heads) != 1 || c.Heads[0].Owner != wire.Owner(admin).String() {
		t.Errorf("broker's counters %v, heads %v", c.Counters, c.Heads)
	}
	if code, body := get(t, up, "/metrics"); code != http.StatusOK || !strings.Contains(body, `treecast_cohort_events_total{reason="delivered"} 1`) {
		t.Errorf("metrics: %d, %d bytes", code, len(body))
	}
	_, metrics := get(t, up, "/metrics")
	for k := range len(tree.Counters{}) { // each has a name, and is shown under it
		name := tree.Counter(k).String()
		if _, ok := c.Counters[name]; !ok || !strings.Contains(metrics, `treecast_cohort_events_total{reason="`+name+`"}`) {
			t.Errorf("counter %q is not in /tree or /metrics", name)
		}
	}
	for name := range broker.Stats().Counters {
		if _, ok := a.Counters[name]; !ok || !strings.Contains(metrics, `treecast_node_events_total{reason="`+name+`"}`) {
			t.Errorf("counter %q is not in /tree or /metrics", name)
		}
	}
	if code, _ := get(t, down, "/metrics"); code != http.StatusNotFound {
		t.Errorf("metrics without a gatherer: %d", code)
	}
}

// TestGuard asks for a token where one is set, and for a loopback name elsewhere.
func TestGuard(t *testing.T) {
	n := start(t, node.Config{})
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	closed := serve(t, n, api.Config{TokenFile: path})
	for _, tc := range []struct {
		path, auth string
		want       int
	}{
		{"/healthz", "", http.StatusOK},
		{"/tree", "", http.StatusUnauthorized},
		{"/tree", "Bearer sesam", http.StatusUnauthorized},
		{"/tree", "sesame", http.StatusUnauthorized},
		{"/tree", "Bearer sesame", http.StatusOK},
		{"/readyz", "Bearer sesame", http.StatusOK},
	} {
		if code, body := get(t, closed, tc.path, "Authorization", tc.auth); code != tc.want || strings.Contains(body, "sesame") {
			t.Errorf("%s with %q: %d", tc.path, tc.auth, code)
		}
	}
	open := serve(t, n, api.Config{})
	if code, _ := get(t, open, "/tree", "Host", "example.org"); code != http.StatusForbidden {
		t.Errorf("by another name: %d", code)
	}
	if code, _ := get(t, open, "/tree", "Host", "localhost:80"); code != http.StatusOK {
		t.Errorf("by its name: %d", code)
	}
}

// TestRoutes: a handler of another package is guarded like the server's own, or
// guards itself.
func TestRoutes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("sesame"), 0o600); err != nil {
		t.Fatal(err)
	}
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") })
	s := serve(t, start(t, node.Config{}), api.Config{TokenFile: path, Routes: []api.Route{
		{Pattern: "GET /guarded", Handler: hello}, {Pattern: "GET /own", Handler: hello, OwnToken: true},
	}})
	for _, tc := range []struct {
		path, auth string
		want       int
	}{
		{"/guarded", "", http.StatusUnauthorized},
		{"/guarded", "Bearer sesame", http.StatusOK},
		{"/own", "", http.StatusOK},
	} {
		if code, _ := get(t, s, tc.path, "Authorization", tc.auth); code != tc.want {
			t.Errorf("%s with %q: %d", tc.path, tc.auth, code)
		}
	}
}

// TestRefusals names what is wrong with a configuration.
func TestRefusals(t *testing.T) {
	n := start(t, node.Config{})
	taken := serve(t, n, api.Config{})
	empty := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(empty, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		cfg  api.Config
		want string
	}{
		{api.Config{Addr: taken.Addr()}, taken.Addr()},
		{api.Config{Addr: "nonsense"}, "nonsense"},
		{api.Config{Addr: "0.0.0.0:0"}, "token"},
		{api.Config{Addr: ":0", TokenFile: empty}, empty},
		{api.Config{Addr: ":0", TokenFile: empty + "x"}, empty + "x"},
	} {
		if s, err := api.New(n, tc.cfg); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v, want an error that names %q", tc.cfg, err, tc.want)
			if err == nil {
				s.Close()
			}
		}
	}
}
