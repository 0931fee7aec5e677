package tree

import (
	"time"

	"treecast/probe"
	"treecast/wire"
)

// probed serves a Probe from a parent or, climbing, from a child.
func (c *Cohort) probed(now time.Time, p *wire.Probe, par *parent, ch *child, out []Action) []Action {
	var from probe.Link
	switch {
	case par != nil && !p.Up:
		from = probe.Link{Stream: par.stream, RTT: par.rtt, Foreign: par.foreign}
	case ch != nil && p.Up && p.ID != 0 && !ch.foreign:
		from = probe.Link{Stream: ch.stream, RTT: ch.rtt}
	default:
		c.counters[CountWrongDirection]++
		return out
	}
	c.counters[CountProbes]++
	q := *p
	if q.ID != 0 && c.band != 0 {
		q.Depth = c.depth()
	}
	var self *wire.Candidate
	if asker := probe.AskerOf(&q); c.takes(&asker) {
		self = &wire.Candidate{Addr: c.cfg.Self, Depth: q.Depth, Underlays: c.self, HasBand: true, Band: c.band}
	} else if c.displaces(now, &asker, true) {
		// A childless asker knows itself whether it relays, and so whether this is for it.
		self = &wire.Candidate{Addr: c.cfg.Self, Depth: q.Depth, Underlays: c.self, HasBand: true, Band: c.band, Displaces: true}
	}
	acts, drop := c.search.Serve(now, &from, &q, self, c.down(), c.up(), c.probeActs[:0])
	c.dropped(drop)
	c.probeActs = acts
	return c.searched(now, acts, out)
}

// found takes what a child, or a parent that was climbed to, has found.
func (c *Cohort) found(now time.Time, stream StreamID, f *wire.Found, out []Action) []Action {
	acts, drop := c.search.Found(now, stream, f, c.down(), c.probeActs[:0])
	c.dropped(drop)
	c.probeActs = acts
	return c.searched(now, acts, out)
}

// probesEnded gives up what was asked over a stream that is gone.
func (c *Cohort) probesEnded(now time.Time, stream StreamID, out []Action) []Action {
	acts := c.search.Ended(now, stream, c.down(), nil)
	return c.searched(now, acts, out)
}

// searched turns the searches' actions into this node's.
func (c *Cohort) searched(now time.Time, acts []probe.Action, out []Action) []Action {
	for i := range acts {
		if a := &acts[i]; a.Stream != 0 {
			out = append(out, Action{Kind: ActSend, Stream: a.Stream, Body: a.Body})
		} else {
			out = c.joined(now, a.Token, a.Found, out)
		}
	}
	return out
}

func (c *Cohort) dropped(d probe.Drop) {
	switch d {
	case probe.DropBound:
		c.counters[CountProbeBound]++
	case probe.DropRate:
		c.counters[CountProbeRate]++
	case probe.DropHops:
		c.counters[CountProbeHops]++
	case probe.DropUnasked:
		c.counters[CountFoundUnasked]++
	}
}
