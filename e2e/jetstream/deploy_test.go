package jetstream_test

import (
	"bytes"
	"context"
	endian "encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"treecast/e2e/cluster"
)

// deployDir has the files of docs/deploy.md.
const deployDir = "../../docs/deploy"

// hosts are the nodes of the worked deployment, in the order in which they start.
var hosts = []string{"ingress", "relay-1", "relay-2", "edge-1", "edge-2", "sink"}

// deployment runs the files of docs/deploy on loopback, where each host is an
// address of its own. Nothing else of them is changed.
type deployment struct {
	dir  string
	swap *strings.Replacer
	env  []string
}

func addressOf(host string) string { return fmt.Sprintf("127.0.0.%d", 21+slices.Index(hosts, host)) }

// settings copies a file into the test's directory with addresses that are here.
func (d *deployment) settings(t *testing.T, name, host string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(deployDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(d.swap.Replace(string(b)), "0.0.0.0", addressOf(host))
}

// start runs what the unit of a host starts.
func (d *deployment) start(t *testing.T, host string) *process {
	t.Helper()
	unit := "treecast@.service"
	if host == "ingress" {
		unit = "treecast-ingress.service"
	}
	path := filepath.Join(d.dir, host+".yaml")
	if err := os.WriteFile(path, []byte(d.settings(t, host+".yaml", host)), 0o600); err != nil {
		t.Fatal(err)
	}
	var args []string
	env := false
	for line := range strings.Lines(d.settings(t, unit, host)) {
		if rest, ok := strings.CutPrefix(line, "ExecStart=/usr/local/bin/treecast "); ok {
			args = strings.Fields(strings.ReplaceAll(rest, "%i", host))
		}
		env = env || strings.HasPrefix(line, "EnvironmentFile="+filepath.Join(d.dir, "cohort.env"))
	}
	if env {
		for _, assignment := range d.env {
			name, value, _ := strings.Cut(assignment, "=")
			t.Setenv(name, value)
		}
	}
	p := &process{Process: cluster.Start(t, host, binary, append(args, "--json")...)}
	p.AwaitJSON(t, p)
	return p
}

// join fills in the file that all but the ingress share.
func (d *deployment) join(t *testing.T, peers map[string]string) {
	t.Helper()
	fill := []string{}
	for placeholder, value := range peers {
		fill = append(fill, placeholder, value)
	}
	for _, host := range hosts {
		fill = append(fill, "/dns4/"+host+"/", "/ip4/"+addressOf(host)+"/")
	}
	d.env = nil
	for line := range strings.Lines(strings.NewReplacer(fill...).Replace(d.settings(t, "cohort.env", "ingress"))) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			d.env = append(d.env, line)
		}
	}
}

// consumer is a host that only listens, as edge-1 dials it.
type consumer struct {
	net.Listener
	mu  sync.Mutex
	got map[string]int // payloads
}

func newConsumer(t *testing.T) *consumer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &consumer{Listener: ln, got: make(map[string]int)}
	t.Cleanup(func() { ln.Close() })
	go func() { // ends with the listener
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			go c.read(nc) // ends with the connection
		}
	}()
	return c
}

func (c *consumer) read(nc net.Conn) {
	defer nc.Close()
	for {
		var head [36]byte
		if _, err := io.ReadFull(nc, head[:]); err != nil {
			return
		}
		payload := make([]byte, endian.BigEndian.Uint32(head[32:]))
		if _, err := io.ReadFull(nc, payload); err != nil {
			return
		}
		c.mu.Lock()
		c.got[string(payload)]++
		c.mu.Unlock()
	}
}

func (c *consumer) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.got)
}

// times is how often a payload came.
func (c *consumer) times(payload []byte) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.got[string(payload)]
}

// TestWorkedDeployment runs docs/deploy.md: an ingress, two relays, two edges and a
// sink. A relay dies; a dialled consumer, one that connects and the stream have
// every object all the same.
func TestWorkedDeployment(t *testing.T) {
	const objects = 60
	n := startServer(t, nil)
	dialled := newConsumer(t)
	d := &deployment{dir: t.TempDir()}
	d.swap = strings.NewReplacer(
		"/etc/treecast", d.dir, "/var/lib/treecast", filepath.Join(d.dir, "data"),
		"nats:4222", n.addr(), "overlay-host:9100", dialled.Addr().String(),
	)
	for _, name := range []string{"api.token", "submit.token"} {
		if err := os.WriteFile(filepath.Join(d.dir, name), []byte("secret-of-"+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ingress := d.start(t, "ingress")
	peers := map[string]string{
		"INGRESS_PEER_ID": ingress.PeerID, "PUBLISHER_ADDRESS": ingress.Publisher,
		" beef@/dns4/relay-1/tcp/9001/p2p/RELAY_1_PEER_ID": "", // left out at first
	}
	d.join(t, peers)
	relay := d.start(t, "relay-1")
	peers[" beef@/dns4/relay-1/tcp/9001/p2p/RELAY_1_PEER_ID"] = " beef@/ip4/" + addressOf("relay-1") + "/tcp/9001/p2p/" + relay.PeerID
	d.join(t, peers)
	nodes := map[string]*process{"ingress": ingress, "relay-1": relay}
	for _, host := range hosts[2:] {
		nodes[host] = d.start(t, host)
	}
	for _, host := range hosts {
		cluster.Eventually(t, limit, host+" is ready", func() (bool, string) {
			code, body := ask(t, http.MethodGet, "http://"+nodes[host].API+"/readyz", "secret-of-api.token", nil)
			return code == http.StatusOK, body
		})
	}
	out := t.TempDir()
	received := cluster.Start(t, "receive", binary, "receive", "--from", addressOf("edge-2")+":8729", "--topics", "tm_ship",
		"--resume", "me", "--out", out, "--json")
	cluster.Eventually(t, limit, "the consumers are there", func() (bool, string) {
		_, body := ask(t, http.MethodGet, "http://"+nodes["edge-2"].API+"/metrics", "secret-of-api.token", nil)
		return strings.Contains(body, "\ntreecast_egress_consumers 1\n"), ""
	})
	for i := range objects {
		if i == objects/2 {
			relay.Kill()
		}
		url := "http://" + nodes["ingress"].API + "/submit?wait=1"
		code, body := ask(t, http.MethodPost, url, "secret-of-submit.token", cluster.MakeObjects(uint64(i), 1, 100+200*i)[0])
		if code != http.StatusAccepted {
			t.Fatalf("object %d: %d %s", i, code, body)
		}
	}
	cluster.Eventually(t, limit, "all at the dialled consumer", func() (bool, string) { return dialled.count() == objects, fmt.Sprint(dialled.count()) })
	cluster.Eventually(t, limit, "all at the one that connected", func() (bool, string) {
		files, err := os.ReadDir(out)
		return err == nil && len(files) == objects, fmt.Sprint(len(files), received.Stderr())
	})
	js := client(t, n)
	cluster.Eventually(t, limit, "all in the stream", func() (bool, string) {
		s, err := js.Stream(context.Background(), "BEEF")
		if err != nil {
			return false, err.Error()
		}
		return s.CachedInfo().State.Msgs == objects, fmt.Sprint(s.CachedInfo().State.Msgs)
	})
	for _, m := range readStream(t, js, "BEEF") {
		if k := dialled.times(m.payload); k != 1 {
			t.Errorf("%s is in the stream and %d times at the consumer", m.id, k)
		}
	}
}

// ask makes one request with a bearer token.
func ask(t *testing.T, method, url, token string, body []byte) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("X-Topics", "tm_ship")
	res, err := plainHTTP.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(b)
}

// TestComposeRunsTheSameFiles: the compose file has a service for each host, which
// runs that host's settings.
func TestComposeRunsTheSameFiles(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(deployDir, "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Command []string
			EnvFile string `yaml:"env_file"`
			Volumes []string
		}
		Volumes map[string]any
	}
	if err := yaml.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	for _, host := range hosts {
		s := file.Services[host]
		want := []string{"node", "--config", "/etc/treecast/" + host + ".yaml", "--data-dir", "/var/lib/treecast"}
		if !slices.Equal(s.Command, want) {
			t.Errorf("%s runs %q, want %q", host, s.Command, want)
		}
		if (s.EnvFile == "cohort.env") != (host != "ingress") {
			t.Errorf("%s has the environment of %q", host, s.EnvFile)
		}
		if _, ok := file.Volumes[host]; !ok || !slices.Contains(s.Volumes, host+":/var/lib/treecast") {
			t.Errorf("%s keeps nothing", host)
		}
	}
	if len(file.Services) != len(hosts)+1 {
		t.Errorf("%d services, want the nodes and nats", len(file.Services))
	}
}
