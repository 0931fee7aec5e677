package probe_test

import (
	"testing"

	"treecast/probe"
	"treecast/wire"
)

func TestRank(t *testing.T) {
	low, high := probe.Rank{Band: 2, Overlay: node("B")}, probe.Rank{Band: 2, Overlay: node("C")}
	for _, c := range []struct {
		a, b probe.Rank
		want bool
	}{
		{low, high, true}, {high, low, false}, {low, low, false},
		{probe.Rank{Band: 1, Overlay: node("Z")}, low, true},
		{high, probe.Rank{Band: 3, Overlay: node("A")}, true},
	} {
		if got := c.a.Less(c.b); got != c.want {
			t.Errorf("%v below %v: %v", c.a, c.b, got)
		}
	}
}

func TestAskerAdmits(t *testing.T) {
	r := probe.Rank{Band: 3, Overlay: node("M")}
	for _, c := range []struct {
		asker probe.Asker
		want  bool
	}{
		{probe.Asker{Peer: node("N"), Band: 3}, true},
		{probe.Asker{Peer: node("L"), Band: 3}, false},
		{probe.Asker{Peer: node("M"), Band: 3}, false},
		{probe.Asker{Peer: node("A"), Band: 4}, true},
		{probe.Asker{Peer: node("Z"), Band: 2}, false},
		{probe.Asker{Peer: node("Z")}, false}, // not placed, yet somebody is below it
		{probe.Asker{Peer: node("A"), Childless: true}, true},
		{probe.Asker{Peer: node("A"), Foreign: true}, true},
	} {
		if got := c.asker.Admits(r); got != c.want {
			t.Errorf("%+v admits band 3 M: %v", c.asker, got)
		}
	}
}

func TestAskerOf(t *testing.T) {
	for _, c := range []struct {
		p    wire.Probe
		want probe.Asker
	}{
		{wire.Probe{}, probe.Asker{Foreign: true}},
		{wire.Probe{ID: 1}, probe.Asker{Foreign: true}},
		{wire.Probe{ID: 1, HasAsker: true, Asker: node("A"), BoundBand: 3}, probe.Asker{Peer: node("A"), Band: 3}},
		{wire.Probe{ID: 1, HasAsker: true, Asker: node("A"), Childless: true}, probe.Asker{Peer: node("A"), Childless: true}},
	} {
		if got := probe.AskerOf(&c.p); got != c.want {
			t.Errorf("asker of %+v: %+v", c.p, got)
		}
	}
}
