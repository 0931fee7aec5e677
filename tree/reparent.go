package tree

import (
	"slices"
	"time"

	"treecast/wire"
)

const (
	// reparentEvery is how often one parent may ask this node to move.
	reparentEvery = 10 * time.Second
	// reparentWait is how long a parent that named another is left for it at most.
	reparentWait = 5 * time.Second
	// displacedFor is how long a displaced child, or one whose parent lags, looks
	// for another parent. Where it finds none, this one will do: another child may
	// have gone in its place; else it will be asked again.
	displacedFor = time.Minute
)

// reparented takes a parent's wish that this node move (PROTOCOL §5 Reparent).
// The parent stays one until there are enough others.
func (c *Cohort) reparented(now time.Time, p *parent, r *wire.Reparent, out []Action) []Action {
	leaving := r.Reason == wire.ReasonLeaving && !p.leaving // said once is enough
	if !leaving && !p.asked.IsZero() && now.Sub(p.asked) < reparentEvery {
		c.counters[CountReparentIgnored]++
		return out
	}
	c.counters[CountReparents]++
	p.asked, p.unwanted, p.named, p.keep = now, true, false, time.Time{}
	p.leaving = p.leaving || leaving
	if c.leave.on {
		return out
	}
	var to wire.Overlay
	named := len(r.To) == len(to)
	if named {
		to = wire.Overlay(r.To)
		named = to != c.cfg.Self && c.parentPeer(to) == nil && c.childPeer(to) == nil
	}
	if named {
		c.forgetWishes() // one search at a time
		p.named = true
	}
	switch {
	case r.Reason == wire.ReasonLeaving:
	case named:
		p.keep = now.Add(reparentWait)
	case r.Reason == wire.ReasonDisplaced:
		p.keep = now.Add(displacedFor)
	}
	c.shed(now)
	c.standby.stale = true
	if c.wanted() == 0 {
		return c.settled(now, out)
	}
	if !named {
		return c.lookOn(now, out)
	}
	s := &c.seek
	out = c.giveUp(out)
	s.at, s.spare, s.reasks, s.rounds = time.Time{}, nil, 0, 0
	s.origin, s.originEntry = to, false
	return c.ask(out)
}

// wishGranted notes that a parent was gained while others had named one: these
// go, whether there are enough others or not.
func (c *Cohort) wishGranted() {
	for i := range c.parents {
		if p := &c.parents[i]; p.named {
			p.keep, p.named, p.replaced = time.Time{}, false, true
		}
	}
}

// forgetWishes is for when the parent that was named ranks too high, or another
// is asked for: those that named it are left as if they had named none.
func (c *Cohort) forgetWishes() {
	for i := range c.parents {
		if p := &c.parents[i]; p.named {
			p.keep, p.named = time.Time{}, false
		}
	}
}

// lookOn begins a round unless one is under way.
func (c *Cohort) lookOn(now time.Time, out []Action) []Action {
	s := &c.seek
	s.rounds = 0
	if len(s.dials) > 0 {
		return out
	}
	return c.round(now, out)
}

// keepDue takes back what a parent's wish brought nothing for in time.
func (c *Cohort) keepDue(now time.Time, out []Action) []Action {
	for i := range c.parents {
		p := &c.parents[i]
		if p.keep.IsZero() || now.Before(p.keep) {
			continue
		}
		p.keep, p.named = time.Time{}, false
		if !p.drop.IsZero() {
			continue
		}
		p.unwanted = false
		c.standby.stale = true
		c.rerank()
		if c.wanted() == 0 {
			out = c.settled(now, out)
		}
	}
	return out
}

// An avoided peer was let go for what it did, and is not asked again so soon.
type avoided struct {
	peer  wire.Overlay
	until time.Time
}

const (
	maxAvoided = 16
	avoidFor   = time.Minute
)

func (c *Cohort) avoids(now time.Time, peer wire.Overlay) bool {
	return slices.ContainsFunc(c.avoid, func(a avoided) bool { return a.peer == peer && now.Before(a.until) })
}

func (c *Cohort) avoidPeer(now time.Time, peer wire.Overlay) {
	c.avoid = slices.DeleteFunc(c.avoid, func(a avoided) bool { return a.peer == peer || !now.Before(a.until) })
	if len(c.avoid) >= maxAvoided {
		c.avoid = slices.Delete(c.avoid, 0, 1)
	}
	c.avoid = append(c.avoid, avoided{peer, now.Add(avoidFor)})
}
