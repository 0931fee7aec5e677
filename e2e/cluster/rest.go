package cluster

import (
	"bytes"
	"fmt"

	"treecast/tree"
	"treecast/wire"
)

// CheckRest checks the invariants of a cohort at rest from the views of all of
// its nodes, none of them foreign (ARCHITECTURE, Invariants 1 and 2): parents
// are distinct and ranked below their child, nobody has more children than
// slots, and everybody is reached from the broker.
func CheckRest(views []tree.View) error {
	at := make(map[wire.Overlay]*tree.View)
	for i := range views {
		at[views[i].Self] = &views[i]
	}
	reached := make(map[wire.Overlay]bool)
	for i := range views {
		v := &views[i]
		if v.Broker {
			reached[v.Self] = true
		}
		if slots := max(0, v.Capacity); len(v.Children) > slots {
			return fmt.Errorf("cluster: %v has %d children in %d slots", v.Self, len(v.Children), slots)
		}
		seen := make(map[wire.Overlay]bool)
		for _, p := range v.Parents {
			switch parent := at[p.Peer]; {
			case parent == nil:
				return fmt.Errorf("cluster: %v has a parent %v that is no node", v.Self, p.Peer)
			case seen[p.Peer]:
				return fmt.Errorf("cluster: %v has the parent %v twice", v.Self, p.Peer)
			case !below(parent, v):
				return fmt.Errorf("cluster: %v in band %d has the parent %v in band %d", v.Self, v.Band, p.Peer, parent.Band)
			}
			seen[p.Peer] = true
		}
	}
	for range views { // a path is no longer than there are nodes
		for i := range views {
			for _, p := range views[i].Parents {
				if reached[p.Peer] {
					reached[views[i].Self] = true
				}
			}
		}
	}
	for i := range views {
		if !reached[views[i].Self] {
			return fmt.Errorf("cluster: %v is not reached from the broker", views[i].Self)
		}
	}
	return nil
}

// below compares ranks (PROTOCOL §5 Rank).
func below(a, b *tree.View) bool {
	if a.Band != b.Band {
		return a.Band < b.Band
	}
	return bytes.Compare(a.Self[:], b.Self[:]) < 0
}
