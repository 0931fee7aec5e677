package beefnode

import (
	"log/slog"
	"testing"
	"time"

	"treecast/node"
	"treecast/wire/beef"
)

// TestGroupsAreLeft: a group that nobody wants any more is kept for a while and then
// left, a fixed one never.
func TestGroupsAreLeft(t *testing.T) {
	n, err := node.New(node.Config{Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	p, err := newPlane(n, &Config{ShardBits: 2, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	const fixed, wanted = beef.BaseGroup, beef.BaseGroup + 2
	if err := p.enter(fixed, true, p.join); err != nil {
		t.Fatal(err)
	}
	now := time.Unix(0, 0)
	for i, step := range []struct {
		after  time.Duration
		wanted []uint32
		again  time.Duration
		in     int
	}{
		{0, []uint32{wanted}, 0, 2},
		{time.Hour, []uint32{fixed, wanted}, 0, 2},
		{time.Second, nil, linger, 2},
		{linger / 2, nil, linger / 2, 2},
		{time.Second, []uint32{wanted}, 0, 2},
		{time.Hour, nil, linger, 2},
		{linger, nil, 0, 1},
		{time.Second, []uint32{wanted}, 0, 2},
	} {
		now = now.Add(step.after)
		if again := p.adjust(now, step.wanted); again != step.again || len(p.cohorts()) != step.in {
			t.Errorf("step %d: look again after %v, want %v; in %d groups, want %d", i, again, step.again, len(p.cohorts()), step.in)
		}
	}
}
