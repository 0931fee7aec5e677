package tree

import (
	"time"

	"treecast/wire"
)

// recovered takes a chunk that was asked for.
func (c *Cohort) recovered(now time.Time, ev *Recovered, out []Action) []Action {
	k := check{chunk: ev.Chunk, peer: ev.Peer, size: len(ev.Soc.Payload), recovered: true}
	reason := c.examine(now, ev.Soc, &k)
	if reason == CountDelivered {
		c.data.push(&k)
		return append(out, Action{Kind: ActVerify, Chunk: k.chunk, ID: k.id})
	}
	c.counters[reason]++
	if reason == CountNotAdmitted {
		out = c.forgedAnswer(now, ev.Peer, out)
	}
	return c.release(ev.Chunk, out)
}

// forgedAnswer blames the peer that answered with a forged chunk: a parent loses
// its place at once, as it does for one on its stream.
func (c *Cohort) forgedAnswer(now time.Time, peer wire.Overlay, out []Action) []Action {
	if p := c.parentPeer(peer); p != nil {
		return c.forged(now, p.stream, peer, false, out)
	}
	return append(out, Action{Kind: ActBlame, Peer: peer})
}
