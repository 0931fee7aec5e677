package cluster_test

import (
	"strings"
	"testing"

	"treecast/e2e/cluster"
	"treecast/tree"
	"treecast/wire"
)

// TestCheckRestFindsFaults shows the check networks that break one invariant each.
func TestCheckRestFindsFaults(t *testing.T) {
	self := func(n byte) wire.Overlay { return wire.Overlay{n} }
	view := func(n byte, band uint32, parents ...byte) tree.View {
		v := tree.View{Self: self(n), Band: band, Broker: n == 0, Capacity: 3}
		for _, p := range parents {
			v.Parents = append(v.Parents, tree.ParentView{Peer: self(p)})
		}
		return v
	}
	crowded := view(1, 2, 0)
	crowded.Children = make([]tree.ChildView, 4)
	for want, views := range map[string][]tree.View{
		"":                {view(0, 1), view(1, 2, 0), view(2, 2, 0), view(3, 3, 1, 2), view(4, 4, 3)},
		"alone feeds":     {view(0, 1), view(1, 2, 0), view(2, 3, 1), view(3, 3, 1), view(4, 4, 2, 3)},
		"not reached":     {view(0, 1), view(1, 2, 0), view(2, 3), view(3, 4, 2)},
		"that is no node": {view(0, 1), view(1, 2, 9)},
		"twice":           {view(0, 1), view(1, 2, 0, 0)},
		"in band 3":       {view(0, 1), view(1, 2, 2, 0), view(2, 3, 0)},
		"4 children in 3": {view(0, 1), crowded},
	} {
		err := cluster.CheckRest(views)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
