package tree

import (
	"slices"
	"time"

	"treecast/probe"
	"treecast/wire"
)

// Limits of displacement (PROTOCOL §5 Displacement).
const (
	maxMoves  = 2
	moveEvery = time.Second
	moveWait  = 10 * time.Second
	// brokerRound is the asker's round from which on the broker displaces.
	brokerRound = 3
)

// A move is a child that was asked to go, for somebody who took its slot.
type move struct {
	stream StreamID
	asked  time.Time
}

// moves are the displacements under way at this node.
type moves struct {
	list []move
	last time.Time
}

func (m *moves) deadline() (d time.Time) {
	for i := range m.list {
		d = earlier(d, m.list[i].asked.Add(moveWait))
	}
	return d
}

func (m *moves) moving(stream StreamID) bool {
	return slices.ContainsFunc(m.list, func(v move) bool { return v.stream == stream })
}

// displaces says whether this node, full as it is, would make room for the asker.
func (c *Cohort) displaces(now time.Time, a *probe.Asker, relays bool) bool {
	switch {
	case !c.mayAccept() || c.free() > 0 || c.spent || a.Foreign:
		return false
	case a.Peer == c.cfg.Self || c.childPeer(a.Peer) != nil || c.parentPeer(a.Peer) != nil || !a.Admits(c.rank()):
		return false
	case len(c.moves.list) >= maxMoves || !c.moves.last.IsZero() && now.Sub(c.moves.last) < moveEvery:
		return false
	case c.cfg.Broker && c.emptyRounds(now, a.Peer) < brokerRound-1:
		return false
	}
	return c.victim(a, relays) != nil
}

// victim is the child to move for the asker: a luxury first, then one without
// slots, then a childless one, then the highest-ranked above the asker. For a
// childless asker it is one without slots, and only if the asker has some.
func (c *Cohort) victim(a *probe.Asker, relays bool) *child {
	asker := Rank{Band: a.Band, Overlay: a.Peer}
	class := func(ch *child) int {
		switch {
		case ch.foreign || ch.peer == a.Peer || c.moves.moving(ch.stream):
			return 0
		case a.Childless:
			if relays && !ch.relays {
				return 3
			}
			return 0
		case ch.band == 2 && !c.cfg.Broker:
			return 4
		case !ch.relays:
			return 3
		case ch.childless && asker.Less(c.childRank(ch)):
			return 2
		case asker.Less(c.childRank(ch)):
			return 1
		}
		return 0
	}
	var best *child
	high := 0
	for i := range c.children {
		ch := &c.children[i]
		switch k := class(ch); {
		case k == 0 || k < high:
		case k > high || c.childRank(best).Less(c.childRank(ch)):
			best, high = ch, k
		}
	}
	return best
}

// childRank is a child's rank as far as it is known here: never too high.
func (c *Cohort) childRank(ch *child) Rank {
	return Rank{Band: max(ch.band, c.band+1), Overlay: ch.peer}
}

// displace asks a child to move for the asker.
func (c *Cohort) displace(now time.Time, a *probe.Asker, relays bool, out []Action) []Action {
	ch := c.victim(a, relays)
	if ch == nil {
		return out
	}
	c.counters[CountDisplaced]++
	c.moves.last = now
	c.moves.list = append(c.moves.list, move{ch.stream, now})
	return append(out, reparent(ch.stream, nil, wire.ReasonDisplaced))
}

func reparent(stream StreamID, to []byte, reason uint32) Action {
	return Action{Kind: ActSend, Stream: stream, Body: wire.AppendReparent(nil, &wire.Reparent{To: to, Reason: reason})}
}

// movesDue asks one more child where one that was asked stays on.
func (c *Cohort) movesDue(now time.Time, out []Action) []Action {
	for i := 0; i < len(c.moves.list); i++ {
		if now.Before(c.moves.list[i].asked.Add(moveWait)) {
			continue
		}
		c.moves.list = slices.Delete(c.moves.list, i, i+1)
		i--
		if c.free() >= 0 {
			continue
		}
		// Anybody but a foreign child will do now, the highest-ranked first.
		var next *child
		for j := range c.children {
			if ch := &c.children[j]; !ch.foreign && (next == nil || c.childRank(next).Less(c.childRank(ch))) && !c.moves.moving(ch.stream) {
				next = ch
			}
		}
		if next != nil {
			c.moves.list = append(c.moves.list, move{next.stream, now})
			out = append(out, reparent(next.stream, nil, wire.ReasonDisplaced))
		}
	}
	return out
}
