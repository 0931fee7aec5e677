package tree

import (
	"slices"
	"time"

	"treecast/probe"
	"treecast/wire"
)

// Rank orders the nodes of a cohort (PROTOCOL §5 Rank).
type Rank = probe.Rank

// A parent is a stream that feeds this node.
type parent struct {
	stream  StreamID
	peer    wire.Overlay
	band    uint32 // as its Ack said: never lower than it is now; 0 = foreign
	foreign bool
	broker  bool // the root, or a foreign node that configuration calls so
	since   time.Time
	rtt     time.Duration
	first   uint64
	second  uint64
	ahead   int          // chunks whose first copy came from here since a lead is looked for
	told    wire.Standby // what it knows
	slot    uint8        // its bit in the comparison of what parents bring
	moved   time.Time    // when it last brought a chunk
	// unwanted: it asked this node to move, or lags; it feeds on until there are
	// enough others.
	unwanted bool
	leaving  bool      // it said so
	asked    time.Time // when it last asked this node to move
	named    bool      // and named another, which is being asked
	replaced bool      // that one accepted: this one goes even if there is no third
	keep     time.Time // when its wish is forgotten if nothing came of it; zero = never
	// drop is when it is let go at last: others feed this node already.
	drop time.Time
}

// A child is a stream that this node feeds.
type child struct {
	stream    StreamID
	peer      wire.Overlay
	band      uint32 // as its Subscribe said: never higher than it is now
	relays    bool
	childless bool
	foreign   bool
	needs     bool          // it took its slot by displacing another: no luxury of its
	wait      time.Duration // how long its chunks may, by its own word and within bounds
	since     time.Time
	moved     time.Time // when a frame last went either way
	rtt       time.Duration
	level     QueueLevel
}

func (c *Cohort) parentOf(stream StreamID) *parent {
	for i := range c.parents {
		if c.parents[i].stream == stream {
			return &c.parents[i]
		}
	}
	return nil
}

func (c *Cohort) parentPeer(peer wire.Overlay) *parent {
	for i := range c.parents {
		if c.parents[i].peer == peer {
			return &c.parents[i]
		}
	}
	return nil
}

// childIndex is where stream stands in children, which are sorted by stream.
func (c *Cohort) childIndex(stream StreamID) (int, bool) {
	return slices.BinarySearchFunc(c.children, stream, func(ch child, s StreamID) int {
		switch {
		case ch.stream < s:
			return -1
		case ch.stream > s:
			return 1
		}
		return 0
	})
}

func (c *Cohort) childOf(stream StreamID) *child {
	if i, ok := c.childIndex(stream); ok {
		return &c.children[i]
	}
	return nil
}

func (c *Cohort) childPeer(peer wire.Overlay) *child {
	for i := range c.children {
		if c.children[i].peer == peer {
			return &c.children[i]
		}
	}
	return nil
}

// down are the children as links for a search; the slice is reused.
func (c *Cohort) down() []probe.Link {
	c.downLinks = c.downLinks[:0]
	for i := range c.children {
		ch := &c.children[i]
		c.downLinks = append(c.downLinks, probe.Link{
			Stream: ch.stream, Rank: c.lowestRank(ch),
			Relays: ch.relays, Foreign: ch.foreign, RTT: ch.rtt,
		})
	}
	return c.downLinks
}

// up are the parents as links for a search that climbs; the slice is reused.
func (c *Cohort) up() []probe.Link {
	c.upLinks = c.upLinks[:0]
	for i := range c.parents {
		p := &c.parents[i]
		c.upLinks = append(c.upLinks, probe.Link{
			Stream: p.stream, Rank: Rank{Band: p.band, Overlay: p.peer}, Relays: true, Foreign: p.foreign, RTT: p.rtt,
		})
	}
	return c.upLinks
}
