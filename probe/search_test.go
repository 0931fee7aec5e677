package probe_test

import (
	"testing"

	"treecast/probe"
)

// Of all that was named the best two of distinct addresses are kept: free slots
// before displacements, then the smallest depths, then the first named.
func TestBestTwo(t *testing.T) {
	bounded := probe.Asker{Peer: node("N"), Band: 4}
	for _, c := range []struct {
		what  string
		asker probe.Asker
		named []string
		want  string
	}{
		{"nothing", childless, nil, ""},
		{"one", childless, []string{"A:3:4"}, " A:3"},
		{"smallest depth first", childless, []string{"A:3:4 B:2:3"}, " B:2 A:3"},
		{"third best goes", childless, []string{"A:3:4 B:2:3", "C:1:2"}, " C:1 B:2"},
		{"worse than both", childless, []string{"A:3:4 B:2:3", "C:4:5"}, " B:2 A:3"},
		{"ties stay in order of arrival", childless, []string{"A:3:4", "B:3:4 C:3:4"}, " A:3 B:3"},
		{"same address, better", childless, []string{"A:3:4 B:2:3", "A:1:2"}, " A:1 B:2"},
		{"same address, worse", childless, []string{"A:3:4", "A:5:6"}, " A:3"},
		{"free before displacing", childless, []string{"A:1:2! B:9:9"}, " B:9 A:1"},
		{"a free slot replaces a displacement", childless, []string{"A:1:2! B:2:3!", "C:9:9"}, " C:9 A:1"},
		{"same address, free after all", childless, []string{"A:1:2!", "A:4:5"}, " A:4"},
		{"the asker itself", childless, []string{"Z:1:2 A:3:4"}, " A:3"},
		{"no rank, but nobody is below", childless, []string{"A:3"}, " A:3"},
		{"no rank for a bounded asker", bounded, []string{"A:3 B:3:3"}, " B:3"},
		{"too high for a bounded asker", bounded, []string{"A:4:5 O:3:4 M:3:4"}, " M:3"},
		{"a foreign asker takes all", probe.Asker{Foreign: true}, []string{"A:3 B:4:9"}, " A:3 B:4"},
	} {
		b := newBench(t, probe.Config{})
		b.down = []probe.Link{child(1, "K"), child(2, "L"), child(3, "J")}
		for i := range b.down {
			b.down[i].Rank.Band = 2
		}
		b.begin(probe.Origin{Token: 1, Asker: c.asker})
		var got string
		for id := uint64(1); id <= 3; id++ {
			named := ""
			if int(id) <= len(c.named) {
				named = c.named[id-1]
			}
			for stream := probe.StreamID(1); stream <= 3; stream++ { // only one of them was asked that
				got += b.answer(stream, id, named)
			}
		}
		if got != "1:"+c.want {
			t.Errorf("%s: %q, want %q", c.what, got, "1:"+c.want)
		}
	}
}

// answer is found without the complaint about streams that were not asked that.
func (b *bench) answer(stream probe.StreamID, id uint64, named string) string {
	if got := b.found(stream, id, named); got != "drop 4" {
		return got
	}
	return ""
}
