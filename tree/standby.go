package tree

import (
	"time"

	"treecast/wire"
)

// Numbers of the rule that DECISIONS adds to PROTOCOL §5 Two parents.
const (
	// leadAfter chunks show which parent brings more of them first.
	leadAfter = 16
	// leadAgain chunks later it is looked at anew, as the way to it may be another.
	leadAgain = 4096
	// leadLate chunks in a row that came by another way mean that the lead fails. One
	// may also be a race.
	leadLate = 2
	// leadRest is how long all parents send at once after that.
	leadRest = time.Second
	// maxWait is how long a child's chunks may wait, whatever it says, where this node
	// does not have its own parents wait longer.
	maxWait = time.Second
)

// standby says which of the parents sends at once, the lead. The others keep what
// they have back for a while, several chunks a write, as that is of use only if the
// lead fails.
type standby struct {
	lead  StreamID  // 0: all send at once
	seen  int       // chunks from parents since the lead was chosen, or the choice began
	late  int       // chunks in a row that came first by another way than the lead
	rest  time.Time // no lead is chosen before
	stale bool      // the parents are not the same, or another leads: they are to be told
}

// choose begins the choice of a lead: all send at once.
func (c *Cohort) choose() {
	s := &c.standby
	s.lead, s.seen, s.late, s.stale = 0, 0, 0, true
	for i := range c.parents {
		c.parents[i].ahead = 0
	}
}

// leads notes that p has brought a chunk before the others did.
func (c *Cohort) leads(now time.Time, p *parent) {
	s := &c.standby
	if len(c.parents) < 2 {
		return
	}
	s.seen++
	p.ahead++
	switch {
	case s.lead == 0:
		if s.seen >= leadAfter && !now.Before(s.rest) && c.cfg.Timing.Standby > 0 {
			c.elect()
		}
	case s.lead != p.stream:
		c.overdue(now)
	case s.seen >= leadAgain:
		c.choose()
	default:
		s.late = 0
	}
}

// elect has the parent lead that was first most often.
func (c *Cohort) elect() {
	var best *parent
	for i := range c.parents {
		if p := &c.parents[i]; p.stays() && (best == nil || p.ahead > best.ahead) {
			best = p
		}
	}
	if best != nil {
		c.standby.lead, c.standby.seen, c.standby.late, c.standby.stale = best.stream, 0, 0, true
	}
}

// inTime notes a copy from p that was not the first: the lead may have lost a race.
func (c *Cohort) inTime(p *parent) {
	if p.stream == c.standby.lead {
		c.standby.late = 0
	}
}

// overdue notes a chunk that the lead should have brought, and did not before it came
// by another way.
func (c *Cohort) overdue(now time.Time) {
	if c.standby.late++; c.standby.late >= leadLate {
		c.leadFailed(now)
	}
}

// leadFailed has all parents send at once for a while.
func (c *Cohort) leadFailed(now time.Time) {
	if c.standby.lead == 0 {
		return
	}
	c.counters[CountLeadFailed]++
	c.standby.rest = now.Add(leadRest)
	c.choose()
}

// tellParents tells each parent what it does not know yet: how long it may wait.
func (c *Cohort) tellParents(out []Action) []Action {
	s := &c.standby
	if !s.stale {
		return out
	}
	if lead := c.parentOf(s.lead); s.lead != 0 && (lead == nil || !lead.stays()) {
		c.choose()
	}
	s.stale = false
	for i := range c.parents {
		p := &c.parents[i]
		var word wire.Standby
		if s.lead != 0 && s.lead != p.stream && !p.foreign {
			word.WaitMS = uint32(c.cfg.Timing.Standby.Milliseconds())
		}
		if p.told != word {
			p.told = word
			out = append(out, Action{Kind: ActSend, Stream: p.stream, Body: wire.AppendStandby(nil, word)})
		}
	}
	return out
}

// stays says that the parent is to stay one.
func (p *parent) stays() bool { return !p.unwanted && p.drop.IsZero() }

// stoodBy takes a child's word on how long its chunks may wait. A foreign one has no
// such word, and a node without standby keeps nothing back.
func (c *Cohort) stoodBy(ch *child, s wire.Standby, out []Action) []Action {
	if ch.foreign {
		return out
	}
	ch.wait = 0
	if own := c.cfg.Timing.Standby; own > 0 {
		ch.wait = min(s.Wait(), max(maxWait, own))
	}
	if ch.wait > 0 {
		return out
	}
	return append(out, Action{Kind: ActHurry, Stream: ch.stream})
}
