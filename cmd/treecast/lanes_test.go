package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// startNode runs `treecast node` with these flags until the test ends, and returns
// the line that it prints when it is up.
func startNode(t *testing.T, args ...string) startedNode {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan int, 1)
	var stderr strings.Builder // read after the end
	go func() {                // ends with ctx
		done <- run(ctx, append([]string{"node", "--json", "--log-level", "error", "--listen", "/ip4/127.0.0.1/tcp/0"}, args...),
			environment{stdin: strings.NewReader(""), stdout: in, stderr: &stderr, environ: func() []string { return nil }})
		in.Close()
	}()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	t.Cleanup(func() {
		cancel()
		go io.Copy(io.Discard, out) // ends with the node
		if code := <-done; code != exitOK {
			t.Errorf("node: exit %d: %s", code, stderr.String())
		}
	})
	var s startedNode
	if err == nil {
		err = json.Unmarshal(line, &s)
	}
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return s
}

// TestAllDoorsAndLanes starts a broker with every door and an edge with every lane
// from their flags, and sends and receives over each with the commands.
func TestAllDoorsAndLanes(t *testing.T) {
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("sesame"), 0o600); err != nil {
		t.Fatal(err)
	}
	broker := startNode(t, "--broker", "--data-dir", filepath.Join(dir, "b"), "--api", "127.0.0.1:0", "--shard-bits", "1",
		"--ingress-tcp", "127.0.0.1:0", "--ingress-udp", "127.0.0.1:0", "--ingress-record", "127.0.0.1:0",
		"--ingress-token-file", token, "--ingress-allow", "127.0.0.1", "--deliver-cap", "2")
	edge := startNode(t, "--join", "beef@"+broker.Addrs[0], "--data-dir", filepath.Join(dir, "e"), "--capacity", "0",
		"--api", "127.0.0.1:0", "--api-token-file", token, "--shard-bits", "1", "--groups", "all", "--egress-listen", "127.0.0.1:0")
	if len(broker.Ingress) != 2 || broker.IngressUDP == "" || broker.Submit != "http://"+broker.API+"/submit" || edge.Deliver != "http://"+edge.API+"/deliver" {
		t.Fatalf("broker %+v, edge %+v", broker, edge)
	}

	received := make(map[string]chan outcome)
	for name, from := range map[string][]string{
		"tcp":       {"--from", edge.Egress},
		"websocket": {"--from", "ws://" + edge.API, "--token-file", token},
		"stream":    {"--from", "http://" + edge.API, "--token-file", token},
	} {
		ch := make(chan outcome, 1)
		received[name] = ch
		args := append([]string{"receive", "--topics", "tm_b", "--count", "4", "--timeout", "30s", "--json"}, from...)
		go func() { ch <- execute(t, t.Context(), nil, nil, args...) }() // ends when all are there
	}
	awaitConsumers(t, edge.API, token, 3)

	var files []string
	for n := range 4 {
		name := filepath.Join(dir, fmt.Sprint(n))
		if err := os.WriteFile(name, objectOf(n), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	for i, args := range [][]string{
		{"--to", broker.Ingress[0], "--topics", "tm_a,tm_b"},
		{"--to", broker.Ingress[1], "--topics", "tm_a,tm_b"},
		{"--to", broker.IngressUDP, "--proto", "udp", "--topics", "tm_b"},
		{"--to", broker.API, "--proto", "http", "--token-file", token, "--wait", "--topics", "tm_a,tm_b"},
		{"--to", broker.Submit, "--proto", "http", "--token-file", token, "--topics", "tm_a,tm_b"}, // a duplicate
	} {
		got := execute(t, t.Context(), nil, nil, append(append([]string{"submit", "--json"}, args...), files[min(i, 3)])...)
		var summary submitSummary
		if err := json.Unmarshal([]byte(got.stdout), &summary); err != nil || got.code != exitOK || summary.Objects != 1 || summary.Duplicates != i/4 {
			t.Errorf("%v: exit %d, %s%s", args, got.code, got.stdout, got.stderr)
		}
	}
	for name, ch := range received {
		got := <-ch
		lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
		var summary receivedSummary
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &summary); err != nil || got.code != exitOK || summary.Objects != 4 || summary.Duplicates != 0 {
			t.Errorf("%s: exit %d, %+v: %s", name, got.code, summary, got.stderr)
		}
	}
	if got := execute(t, t.Context(), nil, nil, "submit", "--to", broker.API, "--proto", "http", "--topics", "tm_a", files[0]); got.code != exitFailure || !strings.Contains(got.stderr, "401") {
		t.Errorf("without the token: exit %d, %s", got.code, got.stderr)
	}
	if got := execute(t, t.Context(), nil, nil, "tree", "--api", broker.API); !strings.Contains(got.stdout, "group ff0e::b:1001") {
		t.Errorf("tree: %s%s", got.stdout, got.stderr)
	}
}

// awaitConsumers waits until a node is ready and has that many.
func awaitConsumers(t *testing.T, api, token string, n int) {
	t.Helper()
	want := fmt.Sprintf("treecast_egress_consumers %d\n", n)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		ready, _ := ask(t, "http://"+api+"/readyz", token)
		if _, text := ask(t, "http://"+api+"/metrics", token); ready == http.StatusOK && strings.Contains(text, want) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not ready with %d consumers", n)
		}
	}
}

// ask fetches a URL with the token in a file.
func ask(t *testing.T, url, token string) (status int, text string) {
	t.Helper()
	secret, err := os.ReadFile(token)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+string(secret))
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}
