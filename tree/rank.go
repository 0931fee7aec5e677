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

// fed says whether the broker itself is a parent.
func (c *Cohort) fed() bool {
	return slices.ContainsFunc(c.parents, func(p parent) bool { return p.broker })
}

// mayKeep says whether a parent of that rank is allowed now: below the own rank,
// or anything below MaxBand for a node that nobody is below (PROTOCOL §5 Rank).
// A foreign parent has no rank, so only a childless node may take one.
func (c *Cohort) mayKeep(r Rank, foreign bool) bool {
	switch {
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
	if c.cfg.Broker || len(c.parents) == 0 {
		return
	}
	band, counted := uint32(0), false
	fed := c.fed()
	for i := range c.parents {
		p := &c.parents[i]
		switch {
		case p.broker:
			band, counted = max(band, 1), true
		case p.foreign:
			band, counted = MaxBand-1, true
		case fed && p.drop.IsZero():
			// A luxury beside the broker, ranked below this node as it is.
		default:
			band, counted = max(band, p.band), true
		}
	}
	if !counted {
		return
	}
	if band++; len(c.children) == 0 || band < c.band {
		c.band = band
	}
}

// shed marks parents that the broker's arrival makes superfluous: they feed on
// for a while, as what they still carry may not come from the broker any more,
// and only then does this node move up (PROTOCOL §5 Two parents).
func (c *Cohort) shed(now time.Time) {
	if !c.fed() {
		return
	}
	place := Rank{Band: 2, Overlay: c.cfg.Self}
	for i := range c.parents {
		p := &c.parents[i]
		if p.broker || !p.drop.IsZero() {
			continue
		}
		if p.foreign || !(Rank{Band: p.band, Overlay: p.peer}).Less(place) {
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
		out = c.forgetParent(now, stream, out)
	}
	return out
}

// wanted is how many more parents this node looks for.
func (c *Cohort) wanted() int {
	if c.cfg.Broker || c.fed() {
		return 0
	}
	n := c.cfg.Parents
	if c.slow.demoted {
		n = 1
	}
	return max(0, n-len(c.parents))
}

// mayAccept says whether this node may take children at all now (PROTOCOL §5
// Rank, Foreign parents).
func (c *Cohort) mayAccept() bool {
	switch {
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
