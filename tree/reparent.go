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
	// forgiveAfter is how long this node looks for somebody in an unwanted
	// parent's place: then that parent will do, and the search ends. A parent that
	// still has to move somebody asks again.
	forgiveAfter = time.Minute
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
	p.asked, p.unwanted, p.keep, p.forgive = now, true, time.Time{}, now.Add(forgiveAfter)
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
	}
	if named && r.Reason != wire.ReasonLeaving {
		p.keep = now.Add(reparentWait)
	}
	c.shed(now)
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
		if p := &c.parents[i]; !p.keep.IsZero() {
			p.keep, p.replaced = time.Time{}, true
		}
	}
}

// forgetWishes is for when the parent that was named ranks too high, or another
// is asked for: those that named it are left as if they had named none.
func (c *Cohort) forgetWishes() {
	for i := range c.parents {
		c.parents[i].keep = time.Time{}
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

// keepDue makes parents wanted again for which nobody else was found in time.
func (c *Cohort) keepDue(now time.Time, out []Action) []Action {
	for i := range c.parents {
		p := &c.parents[i]
		due := earlier(p.keep, p.forgive)
		if due.IsZero() || now.Before(due) {
			continue
		}
		p.keep, p.forgive = time.Time{}, time.Time{}
		if !p.drop.IsZero() {
			continue
		}
		p.unwanted = false
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
