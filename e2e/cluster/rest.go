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
// slots, everybody is reached from the broker, and no other node cuts off one
// that has two parents.
func CheckRest(views []tree.View) error {
	at := make(map[wire.Overlay]*tree.View)
	for i := range views {
		at[views[i].Self] = &views[i]
	}
	for i := range views {
		v := &views[i]
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
	all := reached(views, nil)
	for i := range views {
		if !all[views[i].Self] {
			return fmt.Errorf("cluster: %v is not reached from the broker", views[i].Self)
		}
	}
	for i := range views {
		if err := cutsOff(views, &views[i]); err != nil {
			return err
		}
	}
	return nil
}

// reached are the nodes with a path from the broker that does not lead through
// without.
func reached(views []tree.View, without *tree.View) map[wire.Overlay]bool {
	reached := make(map[wire.Overlay]bool)
	for i := range views {
		if views[i].Broker {
			reached[views[i].Self] = true
		}
	}
	for range views { // a path is no longer than there are nodes
		for i := range views {
			v := &views[i]
			for _, p := range v.Parents {
				if v != without && reached[p.Peer] {
					reached[v.Self] = true
				}
			}
		}
	}
	return reached
}

// cutsOff finds a node with two parents that gets nothing without v.
func cutsOff(views []tree.View, v *tree.View) error {
	if v.Broker {
		return nil
	}
	left := reached(views, v)
	for i := range views {
		x := &views[i]
		if x != v && len(x.Parents) >= 2 && !left[x.Self] {
			return fmt.Errorf("cluster: %v alone feeds %v", v.Self, x.Self)
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
