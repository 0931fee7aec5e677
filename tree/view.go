package tree

import (
	"slices"
	"time"

	"treecast/wire"
)

// View is a copy of what a cohort's state is, for operators and tests.
type View struct {
	Topic    wire.Topic
	Self     wire.Overlay
	Broker   bool
	Spec     *wire.Spec // nil until known; shared, read-only
	Pinned   bool       // the spec was given or checked against what was configured
	Band     uint32     // 0 = not placed yet
	Attached bool       // the broker, or a node with a parent
	// Settled says that this node has the parents it wants: two, one by choice,
	// or the broker among them (PROTOCOL §5 Two parents).
	Settled      bool
	Capacity     int // child slots; 0 = never relays
	Parents      []ParentView
	Children     []ChildView
	Entries      []wire.Overlay
	PendingJoins int
	Heads        []wire.Head // highest known feed index per owner
	Hold         bool        // publications are held back (PROTOCOL §5 Pace)
}

// ParentView is one parent.
type ParentView struct {
	Stream  StreamID
	Peer    wire.Overlay
	Band    uint32 // 0 = foreign
	Foreign bool
	Broker  bool
	Since   time.Time
	RTT     time.Duration // 0 = not measured
	First   uint64        // chunks whose first copy came from here
	Second  uint64        // copies that came second
}

// ChildView is one child.
type ChildView struct {
	Stream    StreamID
	Peer      wire.Overlay
	Band      uint32
	Relays    bool
	Childless bool
	Foreign   bool
	Since     time.Time
	RTT       time.Duration
	Level     QueueLevel
}

// View copies the cohort's state.
func (c *Cohort) View() View {
	v := View{
		Topic: c.cfg.Topic, Self: c.cfg.Self, Broker: c.cfg.Broker, Spec: c.spec, Pinned: c.pinned,
		Band: c.band, Attached: c.cfg.Broker || len(c.parents) > 0, Settled: c.cfg.Broker || c.fed() || c.wanted() == 0,
		Capacity: c.capacity(), Entries: slices.Clone(c.seek.entries), PendingJoins: len(c.pending),
		Heads: c.data.heads(), Hold: c.pace.held,
	}
	for i := range c.parents {
		p := &c.parents[i]
		v.Parents = append(v.Parents, ParentView{
			Stream: p.stream, Peer: p.peer, Band: p.band, Foreign: p.foreign, Broker: p.broker,
			Since: p.since, RTT: p.rtt, First: p.first, Second: p.second,
		})
	}
	for i := range c.children {
		ch := &c.children[i]
		v.Children = append(v.Children, ChildView{
			Stream: ch.stream, Peer: ch.peer, Band: ch.band, Relays: ch.relays, Childless: ch.childless,
			Foreign: ch.foreign, Since: ch.since, RTT: ch.rtt, Level: ch.level,
		})
	}
	return v
}
