package tree

import (
	"fmt"
	"slices"

	"treecast/wire"
)

// valid checks the invariants of Cohort; tests call it after each Step.
func (c *Cohort) valid() error {
	peers := []wire.Overlay{c.cfg.Self}
	streams := []StreamID{}
	for i := range c.parents {
		p := &c.parents[i]
		if slices.Contains(peers, p.peer) {
			return fmt.Errorf("tree: parent %v twice, or this node", p.peer)
		}
		if !p.foreign && p.drop.IsZero() && !(Rank{Band: p.band, Overlay: p.peer}).Less(c.rank()) {
			return fmt.Errorf("tree: parent %v of band %d is not below band %d", p.peer, p.band, c.band)
		}
		peers, streams = append(peers, p.peer), append(streams, p.stream)
	}
	if over := len(c.children) - c.capacity(); over > 0 && over > len(c.moves.list) {
		return fmt.Errorf("tree: %d children in %d slots, %d moving", len(c.children), c.capacity(), len(c.moves.list))
	}
	for i := range c.children {
		ch := &c.children[i]
		if slices.Contains(peers, ch.peer) {
			return fmt.Errorf("tree: child %v twice, or a parent, or this node", ch.peer)
		}
		if i > 0 && c.children[i-1].stream >= ch.stream {
			return fmt.Errorf("tree: children out of order at %d", i)
		}
		peers, streams = append(peers, ch.peer), append(streams, ch.stream)
	}
	for i := range c.pending {
		streams = append(streams, c.pending[i].stream)
	}
	slices.Sort(streams)
	if len(slices.Compact(slices.Clone(streams))) != len(streams) {
		return fmt.Errorf("tree: a stream has two parts: %v", streams)
	}
	for _, b := range []struct {
		name      string
		have, max int
	}{
		{"pending joins", len(c.pending), c.cfg.PendingJoins},
		{"asker rounds", len(c.rounds), c.cfg.PendingJoins},
		{"bans", len(c.slow.bans), maxBans},
		{"publications", c.pub.checking + len(c.pub.waiting), c.cfg.Publishing},
		{"dials", len(c.seek.dials), 2},
		{"moves", len(c.moves.list), maxMoves},
		{"avoided", len(c.avoid), maxAvoided},
		{"sent up", len(c.data.sent), maxSentUp},
		{"owners", len(c.data.feeds.list), c.cfg.Owners},
		{"window", len(c.data.seen.ring), c.cfg.Window},
		{"entries", len(c.seek.entries), MaxEntries},
	} {
		if b.have > b.max {
			return fmt.Errorf("tree: %d %s, at most %d", b.have, b.name, b.max)
		}
	}
	return nil
}
