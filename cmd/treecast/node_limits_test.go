package main

import (
	"slices"
	"testing"

	"treecast/cmd/treecast/internal/beefnode"
	"treecast/node/lane"
)

func TestLimitFlags(t *testing.T) {
	doors := []lane.Door{{Addr: "127.0.0.1:0"}}
	for _, tc := range []struct {
		limitFlags
		doors     []lane.Door
		objectMax int
		queue     int64
		fault     string
	}{
		{limitFlags{}, nil, 0, 0, ""},
		{limitFlags{objects: -1, bytes: -1, nodeObjects: -1}, doors, 0, 0, ""},
		{limitFlags{objects: 5, bytes: 1 << 20, nodeObjects: 50, queue: "17M"}, doors, 0, 17 << 20, ""},
		{limitFlags{queue: "1M"}, nil, 64 << 10, 1 << 20, ""},
		{limitFlags{nodeObjects: 5}, nil, 0, 0, "node: --ingress-rate: there is no ingress to limit"},
		{limitFlags{queue: "-4M"}, nil, 0, 0, `node: --egress-queue "-4M": want a number with K, M, G or T`},
		{limitFlags{queue: "16M"}, nil, 0, 16 << 20, `node: --egress-queue "16M": want at least the largest record, 16778291 bytes`},
	} {
		p := &nodeParser{nodeFlags: &nodeFlags{objectMax: tc.objectMax, limited: tc.limitFlags}}
		cfg := beefnode.Config{Doors: tc.doors}
		p.limits(&cfg)
		if tc.fault == "" && len(p.faults) > 0 || tc.fault != "" && !slices.Equal(p.faults, []string{tc.fault}) {
			t.Errorf("%+v: %q", tc.limitFlags, p.faults)
		}
		l := cfg.IngressLimits
		if l.Objects != tc.objects || l.Bytes != tc.bytes || l.NodeObjects != tc.nodeObjects || cfg.EgressLimits.Queue != tc.queue {
			t.Errorf("%+v became %+v and a queue of %d", tc.limitFlags, l, cfg.EgressLimits.Queue)
		}
	}
}
