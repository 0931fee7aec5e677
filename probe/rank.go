package probe

import (
	"bytes"

	"treecast/wire"
)

// StreamID names one (peer, topic) stream; 0 is no stream. The driver gives it
// out and never uses one twice in a cohort.
type StreamID uint64

// Rank orders the nodes of a cohort: by band, then by overlay (PROTOCOL §5
// Rank). A parent's rank is below its child's.
type Rank struct {
	Band    uint32
	Overlay wire.Overlay
}

// Less says whether r is below s.
func (r Rank) Less(s Rank) bool {
	if r.Band != s.Band {
		return r.Band < s.Band
	}
	return bytes.Compare(r.Overlay[:], s.Overlay[:]) < 0
}

// Asker is the node for which a search looks.
type Asker struct {
	Peer wire.Overlay // zero when unknown: a foreign probe names nobody
	Band uint32       // 0 = not placed
	// Childless askers have no bound: whatever they attach to, nobody is below them.
	Childless bool
	// Foreign askers have no rank, and take slots that are open to foreign children.
	Foreign bool
}

// Admits says whether a node of rank r may become the asker's parent.
func (a *Asker) Admits(r Rank) bool {
	return a.Childless || a.Foreign || r.Less(Rank{a.Band, a.Peer})
}

// Unbounded says whether what a foreign child names may be offered to the asker.
func (a *Asker) Unbounded() bool { return a.Childless || a.Foreign }
