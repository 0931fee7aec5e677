package cluster

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"treecast/node/api"
)

// readyLimit is how long a node may take to find its parents.
const readyLimit = 30 * time.Second

// Started is the line that `treecast node --json` prints when it is up.
type Started struct {
	PeerID     string   `json:"peer_id"`
	Overlay    string   `json:"overlay"`
	Addrs      []string `json:"addrs"`
	API        string   `json:"api"`
	Ingress    []string `json:"ingress"`
	IngressUDP string   `json:"ingress_udp"`
	Submit     string   `json:"submit"`
	Deliver    string   `json:"deliver"`
	Egress     string   `json:"egress"`
	Publisher  string   `json:"publisher"`
}

// Daemon is one `treecast node` process.
type Daemon struct {
	*Process
	Started
}

// StartNode runs `treecast node` with an API, in a data directory of its own unless
// args name one, and waits until it is up.
func StartNode(t testing.TB, binary, name string, args ...string) *Daemon {
	t.Helper()
	args = append([]string{
		"node", "--json", "--data-dir", filepath.Join(t.TempDir(), name),
		"--listen", "/ip4/127.0.0.1/tcp/0", "--api", "127.0.0.1:0",
	}, args...)
	n := &Daemon{Process: Start(t, name, binary, args...)}
	n.AwaitJSON(t, &n.Started)
	return n
}

// plainHTTP keeps no connection open, so that a process may end at any time.
var plainHTTP = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// View reads the node's view from its API. The node has one cohort.
func (n *Daemon) View(t testing.TB) (tree api.Tree) {
	t.Helper()
	res, err := plainHTTP.Get("http://" + n.API + "/tree")
	if err != nil {
		t.Fatalf("%s: %v", n.Name, err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&tree); err != nil || len(tree.Cohorts) != 1 {
		t.Fatalf("%s: %d cohorts, %v", n.Name, len(tree.Cohorts), err)
	}
	return tree
}

// AwaitReady waits until the node has the parents it wants.
func (n *Daemon) AwaitReady(t testing.TB) {
	t.Helper()
	Eventually(t, readyLimit, n.Name+" is ready", func() (bool, string) {
		c := n.View(t).Cohorts[0]
		return c.Settled, fmt.Sprintf("%d parents", len(c.Parents))
	})
}

// Metric is one figure of the node's /metrics, its labels spelt as there; 0 where
// there is none, as a counter that has not counted yet is not shown.
func (n *Daemon) Metric(t testing.TB, series string) float64 {
	t.Helper()
	return n.Metrics(t)[series]
}

// Metrics are all of them.
func (n *Daemon) Metrics(t testing.TB) map[string]float64 {
	t.Helper()
	res, err := plainHTTP.Get("http://" + n.API + "/metrics")
	if err != nil {
		t.Fatalf("%s: %v", n.Name, err)
	}
	defer res.Body.Close()
	all := make(map[string]float64)
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		at := strings.LastIndexByte(lines.Text(), ' ')
		if at < 0 || lines.Text()[0] == '#' {
			continue
		}
		if v, err := strconv.ParseFloat(lines.Text()[at+1:], 64); err == nil {
			all[lines.Text()[:at]] = v
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("%s: %v", n.Name, err)
	}
	return all
}

// FreePort is a loopback address that was free a moment ago.
func FreePort(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}
