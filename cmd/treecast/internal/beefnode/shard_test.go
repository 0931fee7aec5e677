package beefnode_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"treecast/cmd/treecast/internal/beefnode"
	"treecast/cmd/treecast/internal/client"
	"treecast/node/lane"
	"treecast/wire/beef"
)

const bits = 2

// topics are one topic of each group.
func topics(t *testing.T) map[uint32]string {
	t.Helper()
	names := make(map[uint32]string)
	for i := 0; len(names) < 1<<bits; i++ {
		name := fmt.Sprint("tm_", i)
		group, err := beef.GroupIndex(beef.TopicIDOf(name), bits)
		if err != nil {
			t.Fatal(err)
		}
		names[group] = name
	}
	return names
}

// isIn waits until a node is in exactly these groups, and attached in each.
func isIn(t *testing.T, ctx context.Context, r *beefnode.Running, groups ...uint32) {
	t.Helper()
	for {
		cohorts := r.Cohorts()
		same := len(cohorts) == len(groups)
		for i := 0; same && i < len(groups); i++ {
			same = cohorts[i].Topic() == beef.CohortTopic(groups[i])
		}
		if same {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("%d cohorts, want the groups %#x", len(cohorts), groups)
		}
		time.Sleep(time.Millisecond)
	}
	for _, c := range r.Cohorts() {
		if err := c.WaitAttached(ctx, 1); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAShardedPlane: a record goes to the group of its first topic, and an edge is
// in the groups of its consumers' topics alone.
func TestAShardedPlane(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	names := topics(t)
	const a, b, c, d = beef.BaseGroup, beef.BaseGroup + 1, beef.BaseGroup + 2, beef.BaseGroup + 3
	cfg := broker("")
	cfg.ShardBits = bits
	top := start(t, cfg)
	isIn(t, ctx, top, a, b, c, d)

	edge := joiner(top, "", -1)
	edge.ShardBits = bits
	dial, err := lane.ParseDial("sink@127.0.0.1:1=" + names[b])
	if err != nil {
		t.Fatal(err)
	}
	edge.EgressDial = []lane.DialConfig{dial}
	e := start(t, edge)
	isIn(t, ctx, e, b)
	one := records(t, ctx, e, "?topics="+names[d])
	isIn(t, ctx, e, b, d)

	listed := joiner(top, "", -1)
	listed.ShardBits, listed.Groups = bits, []uint32{c, a}
	aggregator := start(t, listed)
	isIn(t, ctx, aggregator, a, c)
	all := records(t, ctx, aggregator, "")

	s, err := client.Dial(ctx, top.Doors()[0].String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for group := a; group <= d; group++ {
		if err := s.Send(ctx, []string{names[group]}, objectOf(names[group]), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	if o := <-one; o != string(objectOf(names[d])) {
		t.Errorf("the edge's consumer got %q", o)
	}
	got := map[string]bool{<-all: true, <-all: true}
	if !got[string(objectOf(names[a]))] || !got[string(objectOf(names[c]))] {
		t.Errorf("the aggregator got %v", got)
	}
	// Each group is a flow of its own.
	if status, answer := post(t, top, "?wait=1", "", names[c], objectOf("more")); status != http.StatusAccepted || answer.Seq != 2 {
		t.Errorf("%d %+v", status, answer)
	}
	tree, err := client.Tree(ctx, e.API(), "")
	if err != nil || len(tree.Cohorts) != 2 {
		t.Fatalf("tree %+v, %v", tree, err)
	}
	for i := range tree.Cohorts {
		if g := tree.Cohorts[i].Group; g != "ff0e::b:1001" && g != "ff0e::b:1003" {
			t.Errorf("cohort of group %q", g)
		}
	}
}
