package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"treecast/cmd/treecast/internal/beefnode"
)

func TestSinkFlags(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		sinkFlags
		retain string
		faults []string
	}{
		{sinkFlags{}, "", nil},
		{sinkFlags{target: "nats://user:hunter2@h:1/S?topics=a"}, "1G", nil},
		{sinkFlags{target: "nats://h"}, "", []string{"node: --sink without --retain: a sink stores what the node keeps, at its own pace"}},
		{sinkFlags{target: "h:4222"}, "1G", []string{"node: --sink: sink: want nats://HOST:PORT or tls://HOST:PORT"}},
		{sinkFlags{creds: "x"}, "1G", []string{"node: --sink-creds and --sink-ca without --sink"}},
		{sinkFlags{target: "nats://h", creds: "missing"}, "1G", []string{"node: --sink-creds: open missing: no such file or directory"}},
		{sinkFlags{target: "nats://h", creds: empty, ca: empty}, "1G", []string{
			"node: --sink-creds: " + empty + ": no user key in it", "node: --sink-ca: " + empty + ": no certificate in it",
		}},
	} {
		var f nodeFlags
		f.stored, f.retained.size = tc.sinkFlags, tc.retain
		p := &nodeParser{nodeFlags: &f}
		var cfg beefnode.Config
		p.sink(&cfg)
		if !slices.Equal(p.faults, tc.faults) {
			t.Errorf("%+v: %q", tc.sinkFlags, p.faults)
		}
		if (cfg.Sink != nil) != (tc.target != "") {
			t.Errorf("%+v became %+v", tc.sinkFlags, cfg.Sink)
		}
	}
}

// TestSinkOfAShardedNode is in the groups of its topics; for all topics it has to be
// told which.
func TestSinkOfAShardedNode(t *testing.T) {
	join := []string{"beef@/ip4/127.0.0.1/tcp/1/p2p/16Uiu2HAmKMiVgnVFqLz6xoXvo31cCzH6E9anNHqmfb9d6Pii1ND7"}
	for target, want := range map[string]string{
		"nats://h":            "a sink for all topics needs --groups",
		"nats://h?topics=a,b": "",
	} {
		f := nodeFlags{
			dataDir: "x", networkID: 1, parents: 2, openPolicy: "api", deliverCap: 1, listen: []string{"/ip4/127.0.0.1/tcp/0"},
			join: join, shardBits: 4,
		}
		f.stored.target, f.retained.size = target, "1G"
		_, err := f.parse(false)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", target, err)
		}
	}
}
