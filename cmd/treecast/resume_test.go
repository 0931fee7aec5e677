package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"treecast/node/api"
	"treecast/wire/beef"
)

// submitted submits objects from from on, to not included.
func submitted(t *testing.T, to string, from, until int) {
	t.Helper()
	args := []string{"submit", "--to", to, "--topics", "tm_a"}
	for n := from; n < until; n++ {
		name := filepath.Join(t.TempDir(), fmt.Sprint(n))
		if err := os.WriteFile(name, objectOf(n), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	if got := execute(t, t.Context(), nil, nil, args...); got.code != exitOK {
		t.Fatalf("submit: exit %d: %s", got.code, got.stderr)
	}
}

// TestResumeAndSub receives under a name, over each kind of lane and with pauses, and
// follows the cohort through the API: from the oldest that is kept, and from an index.
func TestResumeAndSub(t *testing.T) {
	dir := t.TempDir()
	broker := startNode(t, "--broker", "--data-dir", dir, "--api", "127.0.0.1:0", "--ingress-tcp", "127.0.0.1:0",
		"--egress-listen", "127.0.0.1:0", "--retain", "64M")
	ways := []string{broker.Egress, "ws://" + broker.API, broker.Egress, "http://" + broker.API}
	for round, from := range ways {
		args := []string{"receive", "--from", from, "--topics", "tm_a", "--resume", "shop", "--timeout", "30s", "--json", "--count"}
		if round == 0 { // the name is made by its first lane, and starts there
			got := execute(t, t.Context(), nil, nil, "receive", "--from", from, "--topics", "tm_a", "--resume", "shop", "--timeout", "300ms")
			if got.code != exitOK {
				t.Fatalf("exit %d: %s", got.code, got.stderr)
			}
		}
		submitted(t, broker.Ingress[0], 3*round, 3*round+3)
		got := execute(t, t.Context(), nil, nil, append(args, "3")...)
		lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
		var summary receivedSummary
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &summary); err != nil || got.code != exitOK || summary.Objects != 3 || summary.Duplicates != 0 {
			t.Fatalf("round %d: exit %d, %+v: %s", round, got.code, summary, got.stderr)
		}
	}

	var want []beef.Frame
	all := execute(t, t.Context(), nil, nil, "sub", "beef", "--api", broker.API, "--since", "all", "--count", "12", "--format", "hex")
	if all.code != exitOK || all.stderr != "attached, parents: 0\n" {
		t.Fatalf("sub: exit %d: %s", all.code, all.stderr)
	}
	for i, line := range strings.Fields(all.stdout) {
		b, err := hex.DecodeString(line)
		if err != nil {
			t.Fatal(err)
		}
		f, err := beef.ParseFrame(b)
		if err != nil || f.SeqNum != uint64(i+1) || !bytes.HasSuffix(f.Payload, objectOf(i)) {
			t.Fatalf("chunk %d: %+v, %v", i, f.Header, err)
		}
		want = append(want, f)
	}
	if len(want) != 12 {
		t.Fatalf("%d chunks", len(want))
	}
	some := execute(t, t.Context(), nil, nil, "sub", "beef", "--api", broker.API, "--since", "10", "--count", "2", "--json")
	var got []uint64
	for line := range strings.Lines(some.stdout) {
		var m api.Message
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Index == nil {
			t.Fatalf("%q: %v", line, err)
		}
		got = append(got, *m.Index)
	}
	if some.code != exitOK || !slices.Equal(got, []uint64{10, 11}) {
		t.Errorf("from 10 on: exit %d, %v: %s", some.code, got, some.stderr)
	}
	raw := execute(t, t.Context(), nil, nil, "sub", "beef", "--api", broker.API, "--since", "11", "--count", "1", "--format", "raw")
	if raw.code != exitOK || !strings.HasSuffix(raw.stdout, string(objectOf(11))) {
		t.Errorf("raw: exit %d, %q: %s", raw.code, raw.stdout, raw.stderr)
	}
	if got := execute(t, t.Context(), nil, nil, "sub", "elsewhere", "--api", broker.API); got.code != exitFailure || !strings.Contains(got.stderr, "not in that cohort") {
		t.Errorf("another cohort: exit %d: %s", got.code, got.stderr)
	}
}
