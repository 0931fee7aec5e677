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
	// brokerRound is the asker's round from which on the broker displaces: after
	// one less that found nothing it offers itself.
	brokerRound = 3
)

// A move is a child that was asked to go, for somebody who took its slot.
type move struct {
	stream StreamID
	asked  time.Time
	asker  probe.Asker // who took it
	relays bool
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

// victim is the child to move for the asker: first a luxury, that is a child of
// the broker that did not need to displace anybody, then one without slots, then a childless one, then the highest-ranked above the asker. For a
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
		case ch.band == 2 && !ch.needs && !c.cfg.Broker:
			return 4
		case !ch.relays:
			return 3
		case ch.childless:
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

// childRank is a child's rank as far as it is known here. It may have fallen
// since the child said it; at the broker all come down to the same band.
func (c *Cohort) childRank(ch *child) Rank {
	if c.cfg.Broker {
		return c.lowestRank(ch)
	}
	return Rank{Band: max(ch.band, c.band+1), Overlay: ch.peer}
}

// lowestRank is what a child's rank may have fallen to. Searches go by it, as
// the child knows better.
func (c *Cohort) lowestRank(ch *child) Rank {
	band := c.band + 1
	if ch.band == 2 { // the broker's, and this node a luxury
		band = 2
	}
	return Rank{Band: band, Overlay: ch.peer}
}

// displace asks a child to move for the asker.
func (c *Cohort) displace(now time.Time, a *probe.Asker, relays bool, out []Action) []Action {
	ch := c.victim(a, relays)
	if ch == nil {
		return out
	}
	c.counters[CountDisplaced]++
	c.moves.last = now
	c.moves.list = append(c.moves.list, move{stream: ch.stream, asked: now, asker: *a, relays: relays})
	return append(out, reparent(ch.stream, nil, wire.ReasonDisplaced))
}

func reparent(stream StreamID, to []byte, reason uint32) Action {
	return Action{Kind: ActSend, Stream: stream, Body: wire.AppendReparent(nil, &wire.Reparent{To: to, Reason: reason})}
}

// movesDue asks one more child where one that was asked stays on: the next in
// order for the same asker, else any but that asker, the highest-ranked first.
// Where there is no other, the same one is asked again.
func (c *Cohort) movesDue(now time.Time, out []Action) []Action {
	for i := 0; i < len(c.moves.list); i++ {
		m := &c.moves.list[i]
		if now.Before(m.asked.Add(moveWait)) {
			continue
		}
		if c.free() >= 0 {
			c.moves.list = slices.Delete(c.moves.list, i, i+1)
			i--
			continue
		}
		next := c.victim(&m.asker, m.relays)
		if next == nil {
			next = c.anyVictim(m.asker.Peer)
		}
		if next != nil {
			m.stream = next.stream
		}
		m.asked = now
		c.counters[CountDisplaced]++
		out = append(out, reparent(m.stream, nil, wire.ReasonDisplaced))
	}
	return out
}

// anyVictim is the highest-ranked child of ours that was not asked to move.
func (c *Cohort) anyVictim(except wire.Overlay) (best *child) {
	for i := range c.children {
		ch := &c.children[i]
		if ch.foreign || ch.peer == except || c.moves.moving(ch.stream) {
			continue
		}
		if best == nil || c.childRank(best).Less(c.childRank(ch)) {
			best = ch
		}
	}
	return best
}
