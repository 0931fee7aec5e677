package tree

import (
	"slices"
	"time"

	"treecast/wire"
)

// slow is what this node knows of slowness: of children that it reset, and of
// its own (PROTOCOL §5 Slow child).
type slow struct {
	bans    []ban
	own     []time.Time // when this node was reset as slow, within a minute
	demoted bool        // too often: one parent from here on
}

// A ban is how long a peer is answered FULL.
type ban struct {
	peer  wire.Overlay
	until time.Time
	last  time.Duration
}

const (
	maxBans   = 256
	slowTimes = 3
	slowSpan  = time.Minute
)

func (s *slow) banned(now time.Time, peer wire.Overlay) bool {
	return slices.ContainsFunc(s.bans, func(b ban) bool { return b.peer == peer && now.Before(b.until) })
}

// ban bars peer, for twice as long as the last time. When there are too many the
// oldest is forgotten.
func (s *slow) ban(now time.Time, peer wire.Overlay, first, most time.Duration) {
	d := first
	if i := slices.IndexFunc(s.bans, func(b ban) bool { return b.peer == peer }); i >= 0 {
		d = min(2*s.bans[i].last, most)
		s.bans = slices.Delete(s.bans, i, i+1)
	} else if len(s.bans) >= maxBans {
		s.bans = slices.Delete(s.bans, 0, 1)
	}
	s.bans = append(s.bans, ban{peer, now.Add(d), d})
}

// queue takes a child's queue level: over its bound the child is reset, half
// full it counts towards the broker's pace.
func (c *Cohort) queue(now time.Time, ev Queue, out []Action) []Action {
	ch := c.childOf(ev.Stream)
	if ch == nil {
		return out
	}
	if ev.Level != QueueOverflow {
		ch.level = ev.Level
		return c.repace(out)
	}
	c.counters[CountSlow]++
	c.slow.ban(now, ch.peer, c.cfg.Timing.SlowBan, c.cfg.Timing.SlowBanMax)
	out = append(out, Action{Kind: ActEnd, Stream: ev.Stream, Code: EndSlow})
	return c.forgetChild(now, ev.Stream, out)
}

// wasSlow counts a reset of this node for slowness.
func (c *Cohort) wasSlow(now time.Time, out []Action) []Action {
	s := &c.slow
	s.own = slices.DeleteFunc(s.own, func(t time.Time) bool { return now.Sub(t) >= slowSpan })
	if s.own = append(s.own, now); len(s.own) < slowTimes || s.demoted {
		return out
	}
	s.demoted, s.own = true, nil
	return append(out, Action{Kind: ActReport, Report: &Report{Kind: ReportSlow, Parents: len(c.parents)}})
}
