package tree_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// recovered brings the path's next chunk as one that peer answered with.
func (p *path) recovered(t *testing.T, peer wire.Overlay, verdict tree.Verdict) []tree.ActionKind {
	t.Helper()
	p.step(&tree.Recovered{Peer: peer, Chunk: tree.ChunkID(1000 + p.next), Soc: &p.frame.Msg.Soc})
	if len(p.out) != 1 || p.out[0].Kind != tree.ActVerify {
		t.Fatalf("recovered: %v", p.out)
	}
	p.check.Chunk, p.check.Verdict, p.check.CAC = p.out[0].Chunk, verdict, p.id
	p.step(&p.check)
	var kinds []tree.ActionKind
	for _, a := range p.out {
		if n := len(kinds); n == 0 || kinds[n-1] != a.Kind {
			kinds = append(kinds, a.Kind)
		}
	}
	return kinds
}

// later makes the path's chunk the one of the next index.
func (p *path) later() {
	p.frame.Msg.Soc.Index = p.next
	p.id = soc.FeedID(p.topic[:], p.next)
	p.next++
}

// A chunk that was asked for is forwarded and delivered like any other, once.
func TestRecovered(t *testing.T) {
	p := newPath(t)
	p.chunk(t)
	p.later()
	want := []tree.ActionKind{tree.ActForward, tree.ActDeliver, tree.ActRelease}
	if got := p.recovered(t, node("A"), tree.VerdictValid); !slices.Equal(got, want) {
		t.Errorf("recovered: %v", got)
	}
	p.frame.Chunk++
	p.step(&p.frame)
	if len(p.out) != 1 || p.out[0].Kind != tree.ActRelease {
		t.Errorf("its copy from a parent: %v", p.out)
	}
	p.step(&tree.Recovered{Peer: node("A"), Chunk: 77, Soc: &p.frame.Msg.Soc})
	if len(p.out) != 1 || p.out[0].Kind != tree.ActRelease {
		t.Errorf("recovered again: %v", p.out)
	}
	c := p.core.Counters()
	if c[tree.CountRecovered] != 1 || c[tree.CountDelivered] != 2 || c[tree.CountDuplicate] != 3 {
		t.Errorf("counted %s", printCounters(c))
	}
}

// A parent that answers with a forged chunk loses its place; anybody else is
// blamed.
func TestRecoveredForged(t *testing.T) {
	p := newPath(t)
	p.later()
	want := []tree.ActionKind{tree.ActBlame, tree.ActRelease}
	if got := p.recovered(t, node("E"), tree.VerdictForged); !slices.Equal(got, want) || p.out[0].Peer != node("E") {
		t.Errorf("an entry point: %v", got)
	}
	if got := p.recovered(t, node("A"), tree.VerdictForged); !slices.Contains(got, tree.ActBlock) || !slices.Contains(got, tree.ActEnd) {
		t.Errorf("a parent: %v", got)
	}
	stranger := owner("o9")
	p.frame.Msg.Soc.Owner = stranger[:]
	p.step(&tree.Recovered{Peer: node("B"), Chunk: 5, Soc: &p.frame.Msg.Soc})
	if n := len(p.core.View().Parents); n != 0 {
		t.Errorf("%d parents are left", n)
	}
}

// What this node knows itself of heads goes into its Ack.
func TestKnown(t *testing.T) {
	p := newPath(t)
	p.step(tree.Known{Heads: []wire.Head{{Owner: owner("o1"), Index: 41}, {Owner: owner("o9"), Index: 7}}})
	want := []wire.Head{{Owner: owner("o1"), Index: 41}}
	if got := p.core.View().Heads; !slices.Equal(got, want) {
		t.Errorf("heads %v, want %v", got, want)
	}
	core, err := tree.New(tree.Config{Self: node("N"), Topic: p.topic, Rand: rand.New(rand.NewPCG(1, 2))})
	if err != nil {
		t.Fatal(err)
	}
	core.Step(p.now, tree.Known{Heads: want}, nil) // before the spec is known
	if got := core.View().Heads; got != nil {
		t.Errorf("heads %v", got)
	}
}

// A lead whose chunks have to be asked for has failed: the other parent sends at once
// again.
func TestRecoveredInPlaceOfTheLead(t *testing.T) {
	p := newPath(t)
	for range 16 {
		p.chunk(t)
	}
	send := func(kinds []tree.ActionKind) bool { return slices.Contains(kinds, tree.ActSend) }
	p.later()
	if got := p.recovered(t, node("A"), tree.VerdictValid); send(got) {
		t.Errorf("after one: %v", got)
	}
	p.later()
	if got := p.recovered(t, node("A"), tree.VerdictValid); !send(got) {
		t.Errorf("after two: %v", got)
	}
	if n := p.core.Counters()[tree.CountLeadFailed]; n != 1 {
		t.Errorf("a lead failed %d times", n)
	}
	for range 3 {
		p.later()
		if got := p.recovered(t, node("A"), tree.VerdictValid); send(got) {
			t.Errorf("with no lead: %v", got)
		}
	}
}
