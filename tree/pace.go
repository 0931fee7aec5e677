package tree

import "time"

// pace is the broker's hold on its doors (PROTOCOL §5 Pace): a bucket of bytes
// per second, and the state of its children's queues.
type pace struct {
	credit int // bytes; below zero the doors are held
	filled time.Time
	until  time.Time // when the credit is back; zero = not held for it
	crowd  bool      // over half of the queues are over half full
	held   bool
}

func (p *pace) deadline() time.Time { return p.until }

// spend takes a publication's bytes from the bucket.
func (c *Cohort) spend(now time.Time, n int, out []Action) []Action {
	rate := c.cfg.PublishRate
	if rate < 0 {
		return out
	}
	p := &c.pace
	if p.filled.IsZero() {
		p.credit, p.filled = rate, now
	}
	// Only as much time counts as fills the bucket, which keeps the product small.
	idle := min(now.Sub(p.filled), time.Duration(2+max(0, -p.credit)/rate)*time.Second)
	p.credit = min(p.credit+int(int64(rate)*int64(idle)/int64(time.Second)), rate)
	p.filled = now
	if p.credit -= n; p.credit < 0 {
		p.until = now.Add(time.Duration(int64(-p.credit)*int64(time.Second)/int64(rate) + 1))
	}
	return c.hold(out)
}

// refill opens the doors again when the credit is back.
func (c *Cohort) refill(now time.Time, out []Action) []Action {
	if p := &c.pace; !p.until.IsZero() && !now.Before(p.until) {
		p.until = time.Time{}
		return c.hold(out)
	}
	return out
}

// repace looks at the children's queues.
func (c *Cohort) repace(out []Action) []Action {
	if !c.cfg.Broker {
		return out
	}
	high := 0
	for i := range c.children {
		if c.children[i].level == QueueHigh {
			high++
		}
	}
	c.pace.crowd = 2*high > len(c.children)
	return c.hold(out)
}

// hold says so when the doors' state changed.
func (c *Cohort) hold(out []Action) []Action {
	p := &c.pace
	if held := p.crowd || !p.until.IsZero(); held != p.held {
		p.held = held
		out = append(out, Action{Kind: ActPace, Hold: held})
	}
	return out
}
