package tree

import (
	"slices"
	"time"
)

// rank is this node's own. While it is not placed its band is 0.
func (c *Cohort) rank() Rank { return Rank{Band: c.band, Overlay: c.cfg.Self} }

// depth is this node's distance from the root along its longest path.
func (c *Cohort) depth() uint32 {
	if c.band == 0 {
		return 0
	}
	return c.band - 1
}

// fed says whether the broker itself is a parent, and wants to stay one.
func (c *Cohort) fed() bool {
	return slices.ContainsFunc(c.parents, func(p parent) bool { return p.broker && !p.unwanted })
}

// luxury says whether a peer of that rank may be a second parent beside the
// broker: ranked below this node's place there, so that it costs no band.
func (c *Cohort) luxury(r Rank) bool { return r.Less(Rank{Band: 2, Overlay: c.cfg.Self}) }

// mayKeep says whether a parent of that rank is allowed now: below the own rank,
// or anything below MaxBand for a node that nobody is below (PROTOCOL §5 Rank).
// A foreign parent has no rank, so only a childless node may take one.
func (c *Cohort) mayKeep(r Rank, foreign bool) bool {
	switch {
	case c.fed():
		return !foreign && r.Band != 0 && c.luxury(r)
	case foreign:
		return len(c.children) == 0
	case r.Band == 0 || r.Band >= MaxBand:
		return false
	case len(c.children) == 0:
		return true
	}
	return r.Less(c.rank())
}

// rerank sets the band from the parents: 1 + the highest among those that
// count. A node with children never raises it, and a node that lost all its
// parents keeps it.
func (c *Cohort) rerank() {
	if c.cfg.Broker || c.leave.on || len(c.parents) == 0 {
		return
	}
	band := uint32(0)
	fed := c.fed()
	for i := range c.parents {
		p := &c.parents[i]
		switch {
		case p.broker:
			band = max(band, 1)
		case p.foreign:
			band = MaxBand - 1
		case fed && c.luxury(Rank{Band: p.band, Overlay: p.peer}):
		default:
			band = max(band, p.band)
		}
	}
	if band++; len(c.children) == 0 || band < c.band {
		c.band = band
	}
}

// shed sets the time for parents that are superfluous to be let go: all but a
// luxury where the broker feeds this node, and unwanted ones where there are
// enough others or the one that they named. They feed on for a while, as what they still carry may not come
// from the others any more, and only then does this node move up (PROTOCOL §5
// Two parents). What is needed again, as another was lost, stays.
func (c *Cohort) shed(now time.Time) {
	fed := c.fed()
	wanted := c.wantedParents()
	enough := fed || wanted >= c.target()
	for i := range c.parents {
		p := &c.parents[i]
		luxury := !p.foreign && c.luxury(Rank{Band: p.band, Overlay: p.peer})
		gone := p.unwanted && (enough || p.replaced && wanted > 0)
		switch superfluous := gone || fed && !p.broker && !luxury; {
		case !superfluous:
			p.drop = time.Time{}
		case p.drop.IsZero():
			p.drop = now.Add(c.cfg.Timing.Overlap)
		}
	}
}

// dropShed ends the parents whose time has come.
func (c *Cohort) dropShed(now time.Time, out []Action) []Action {
	for i := 0; i < len(c.parents); {
		p := &c.parents[i]
		if p.drop.IsZero() || now.Before(p.drop) {
			i++
			continue
		}
		stream := p.stream
		out = append(out, Action{Kind: ActEnd, Stream: stream, Code: EndDone})
		out = c.forgetParent(now, stream, false, out)
	}
	return out
}

// wantedParents counts the parents that are to stay.
func (c *Cohort) wantedParents() (n int) {
	for i := range c.parents {
		if p := &c.parents[i]; p.stays() {
			n++
		}
	}
	return n
}

// target is how many parents this node keeps where the broker is none of them.
func (c *Cohort) target() int {
	if c.slow.demoted {
		return 1
	}
	return c.cfg.Parents
}

// wanted is how many more parents this node looks for. Beside the broker it is
// one, a luxury, for maxLuxury rounds at most.
func (c *Cohort) wanted() int {
	switch {
	case c.cfg.Broker || c.leave.on:
		return 0
	case c.fed() && c.seek.luxury >= maxLuxury:
		return 0
	}
	return max(0, c.target()-c.wantedParents())
}

// mayAccept says whether this node may take children at all now (PROTOCOL §5
// Rank, Foreign parents).
func (c *Cohort) mayAccept() bool {
	switch {
	case c.leave.on:
		return false
	case c.cfg.Broker:
		return true
	case c.cfg.Capacity < 0 || len(c.parents) == 0 || c.spec == nil:
		return false
	case slices.ContainsFunc(c.parents, func(p parent) bool { return p.foreign && !p.broker }):
		return false
	case c.fed():
		return true
	case c.cfg.Parents == 1 || c.slow.demoted:
		return false
	}
	return len(c.parents) >= 2 || c.seek.tried
}

func (c *Cohort) capacity() int { return max(c.cfg.Capacity, 0) }

// free is the number of slots without a child.
func (c *Cohort) free() int { return c.capacity() - len(c.children) }
