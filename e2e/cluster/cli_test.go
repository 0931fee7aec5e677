package cluster_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"treecast/e2e/cluster"
)

// execute runs the binary to its end.
func execute(t *testing.T, args ...string) (code int, stdout, stderr []string) {
	t.Helper()
	p := cluster.Start(t, args[0], binary, args...)
	code = p.Wait(t, 20*time.Second)
	if s := strings.TrimSuffix(p.Stderr(), "\n"); s != "" {
		stderr = strings.Split(s, "\n")
	}
	return code, p.Lines(), stderr
}

func TestWrongFlagsExit2WithOneLineAFault(t *testing.T) {
	for _, tc := range []struct {
		args string
		want []string
	}{
		{"node", []string{"neither --broker nor --join"}},
		{"node --broker --capacity 1 --parents 0", []string{"--capacity 1", "--parents 0"}},
		{"node --ingress-tcp 127.0.0.1:1", []string{"neither --broker", "an ingress needs the BEEF cohort"}},
		{"node --broker --colour red", []string{"unknown flag: --colour"}},
		{"nod", []string{`unknown command "nod"`}},
		{"demo --leave -1", []string{"--leave -1"}},
		{"receive", []string{"neither --listen nor --from"}},
		{"tree --svg x.svg --json", []string{"more than one of --dot, --svg and --json"}},
	} {
		code, stdout, stderr := execute(t, strings.Fields(tc.args)...)
		if code != 2 || len(stdout) != 0 || len(stderr) != len(tc.want) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", tc.args, code, stdout, stderr)
			continue
		}
		for i, want := range tc.want {
			if !strings.Contains(stderr[i], want) {
				t.Errorf("%s: line %q, want %q", tc.args, stderr[i], want)
			}
		}
	}
}

func TestPortInUseIsNamed(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	taken := ln.Addr().String()
	_, port, _ := net.SplitHostPort(taken)
	free := []string{"--listen", "/ip4/127.0.0.1/tcp/0"}
	for name, flags := range map[string][]string{
		"listen":         {"--listen", "/ip4/127.0.0.1/tcp/" + port},
		"second listen":  {"--listen", "/ip4/127.0.0.1/tcp/0", "--listen", "/ip4/127.0.0.1/tcp/" + port},
		"api":            append([]string{"--api", taken}, free...),
		"ingress-tcp":    append([]string{"--ingress-tcp", taken}, free...),
		"ingress-record": append([]string{"--ingress-record", taken}, free...),
		"egress-listen":  append([]string{"--ingress-tcp", "127.0.0.1:0", "--egress-listen", taken}, free...),
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"node", "--broker", "--log-level", "error", "--data-dir", t.TempDir()}, flags...)
			code, stdout, stderr := execute(t, args...)
			if code != 1 || len(stdout) != 0 || len(stderr) != 1 {
				t.Fatalf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
			}
			if !strings.Contains(stderr[0], port) || !strings.Contains(stderr[0], "in use") {
				t.Errorf("%q does not name the port %s", stderr[0], port)
			}
		})
	}
}

func TestIdentityAndCohortSurviveARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "broker")
	args := []string{
		"node", "--json", "--broker", "--data-dir", dir, "--listen", "/ip4/127.0.0.1/tcp/0",
		"--api", "127.0.0.1:0", "--ingress-tcp", "127.0.0.1:0",
	}
	var ids [2]started
	for i := range ids {
		p := cluster.Start(t, "broker", binary, args...)
		p.AwaitJSON(t, &ids[i])
		get(t, ids[i].API, "/healthz", http.StatusOK)
		get(t, ids[i].API, "/readyz", http.StatusOK)
		var id started
		if code, out, _ := execute(t, "id", "--json", "--api", ids[i].API); code != 0 || json.Unmarshal([]byte(out[0]), &id) != nil || id.PeerID != ids[i].PeerID {
			t.Errorf("id: exit %d, %q", code, out)
		}
		if code := p.Stop(t); code != 0 {
			t.Fatalf("exit %d: %s", code, p.Stderr())
		}
	}
	if ids[0].PeerID != ids[1].PeerID || ids[0].Overlay != ids[1].Overlay {
		t.Errorf("identity %+v became %+v", ids[0], ids[1])
	}
	var id started
	if code, out, errs := execute(t, "id", "--json", "--data-dir", dir); code != 0 {
		t.Errorf("id: exit %d, %q", code, errs)
	} else if err := json.Unmarshal([]byte(out[0]), &id); err != nil || id.Overlay != ids[0].Overlay {
		t.Errorf("id %q: %v", out, err)
	}
	code, _, errs := execute(t, append(args, "--admin", strings.Repeat("12", 20), "--publishers", strings.Repeat("34", 20))...)
	if code != 2 || len(errs) == 0 || !strings.Contains(errs[len(errs)-1], "publisher key") {
		t.Errorf("an ingress whose key may not publish: exit %d, %q", code, errs)
	}
}

func get(t *testing.T, addr, path string, want int) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get("http://" + addr + path)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != want {
		t.Errorf("%s: %s", path, res.Status)
	}
}

// TestListeningLane takes the other way out: the consumer connects to the edge
// and elects one of two topics. The node is broker and edge at once.
func TestListeningLane(t *testing.T) {
	broker := startNode(t, "broker", "--broker", "--ingress-record", "127.0.0.1:0", "--egress-listen", "127.0.0.1:0")
	files, objects := writeObjects(t, 20)
	out := filepath.Join(t.TempDir(), "out")
	receive := cluster.Start(t, "receive", binary, "receive", "--json", "--from", broker.Egress,
		"--topics", "tm_wanted", "--out", out, "--count", fmt.Sprint(len(objects)), "--timeout", "20s")
	cluster.Eventually(t, 10*time.Second, "the lane has its consumer", func() (bool, string) {
		return strings.Contains(broker.Stderr(), "lane open"), broker.Stderr()
	})
	others, _ := writeObjects(t, 5)
	for topic, files := range map[string][]string{"tm_other": others, "tm_wanted": files} {
		code, lines, errs := execute(t, append([]string{"submit", "--to", broker.Ingress[0], "--topics", topic}, files...)...)
		if code != 0 || len(lines) != 1 || !strings.Contains(lines[0], fmt.Sprintf("%d objects", len(files))) {
			t.Fatalf("submit: exit %d, %q, %q", code, lines, errs)
		}
	}
	if code := receive.Wait(t, 20*time.Second); code != 0 {
		t.Fatalf("receive: exit %d: %s", code, receive.Stderr())
	}
	if err := cluster.CompareDir(out, objects); err != nil {
		t.Error(err)
	}
	code, text, _ := execute(t, "tree", "--api", broker.API)
	if code != 0 || !strings.Contains(strings.Join(text, "\n"), "broker") {
		t.Errorf("tree: exit %d, %q", code, text)
	}
	svg := filepath.Join(t.TempDir(), "tree.svg")
	if code, out, errs := execute(t, "tree", "--svg", svg, "--api", broker.API); code != 0 || len(out) != 0 {
		t.Errorf("tree --svg: exit %d, %q, %q", code, out, errs)
	}
	if drawing, err := os.ReadFile(svg); err != nil || !strings.HasPrefix(string(drawing), "<svg ") || !strings.Contains(string(drawing), "the broker") {
		t.Errorf("tree --svg wrote %.80q, %v", drawing, err)
	}
	if code, dot, _ := execute(t, "tree", "--dot", "--api", broker.API); code != 0 || dot[0] != "digraph treecast {" {
		t.Errorf("tree --dot: exit %d, %q", code, dot)
	}
}

// TestDemo runs the demo of the built binary, small.
func TestDemo(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	code, lines, errs := execute(t, "demo", "--nodes", "14", "--capacity", "4", "--consumers", "3", "--objects", "120",
		"--object-bytes", "9000", "--rate", "120", "--leave", "1", "--out", out)
	last := lines[max(0, len(lines)-1)]
	if code != 0 || !strings.HasPrefix(last, "120 of 120 objects delivered, ") {
		t.Errorf("exit %d, last line %q, %q", code, last, errs)
	}
	for n := 1; n <= 3; n++ {
		files, _ := filepath.Glob(filepath.Join(out, fmt.Sprintf("consumer-%d", n), "*"))
		if len(files) != 120 {
			t.Errorf("consumer %d kept %d files", n, len(files))
		}
	}
}

// TestSecondSignalEndsAtOnce has a broker whose child has nowhere else to go:
// leaving takes its time, and a second signal does not wait for that.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	broker := startNode(t, "broker", "--broker", "--capacity", "3", "--ingress-tcp", "127.0.0.1:0")
	startNode(t, "child", "--join", "beef@"+broker.Addrs[0]).AwaitReady(t)
	broker.Signal(syscall.SIGTERM)
	cluster.Eventually(t, 5*time.Second, "the broker leaves", func() (bool, string) {
		return strings.Contains(broker.Stderr(), "msg=leaving"), broker.Stderr()
	})
	since := time.Now()
	broker.Signal(syscall.SIGTERM)
	if code := broker.Wait(t, 5*time.Second); code == 0 || time.Since(since) > 2*time.Second {
		t.Errorf("exit %d after %v", code, time.Since(since))
	}
}
