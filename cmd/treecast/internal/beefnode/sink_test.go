package beefnode_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"treecast/cmd/treecast/internal/beefnode"
	"treecast/node/sink"
)

// TestASinkNeedsRetention, out of which it reads; with it, a server that is not there
// keeps no node from starting, and from ending with nothing left running.
func TestASinkNeedsRetention(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	target, err := sink.ParseTarget("nats://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	cfg := broker(t.TempDir())
	cfg.Sink = &target
	if _, err := beefnode.Start(cfg); err == nil || !strings.Contains(err.Error(), "retention") {
		t.Fatalf("without retention: %v", err)
	}
	cfg.Node.Retain.Size = 16 << 20
	for range 2 { // the name is free again after the first
		r, err := beefnode.Start(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Sink().Target().String(); got != "nats://127.0.0.1:1/BEEF" {
			t.Errorf("the sink goes to %s", got)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
