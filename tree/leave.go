package tree

import (
	"time"

	"treecast/wire"
)

// leaveWait is how long a leaver waits for its children to go (PROTOCOL §5 Leave).
const leaveWait = 5 * time.Second

// leave is a graceful departure.
type leave struct {
	on, done bool
	until    time.Time
}

func (l *leave) deadline() time.Time {
	if l.done {
		return time.Time{}
	}
	return l.until
}

// leaveTree accepts nobody any more and asks every child to move: a foreign one
// to a parent of this node, ours to wherever they heal.
func (c *Cohort) leaveTree(now time.Time, out []Action) []Action {
	if c.leave.on {
		return out
	}
	c.leave = leave{on: true, until: now.Add(leaveWait)}
	out = c.giveUp(out)
	c.seek.at = time.Time{}
	next := 0
	for i := range c.children {
		ch := &c.children[i]
		var to []byte
		if ch.foreign && len(c.parents) > 0 {
			to = c.parents[next%len(c.parents)].peer[:]
			next++
		}
		out = append(out, reparent(ch.stream, to, wire.ReasonLeaving))
	}
	return c.leaveDue(now, out)
}

// leaveDue closes everything when the children are gone or the wait is over.
func (c *Cohort) leaveDue(now time.Time, out []Action) []Action {
	l := &c.leave
	if !l.on || l.done || len(c.children) > 0 && now.Before(l.until) {
		return out
	}
	l.done = true
	for _, p := range c.pub.waiting {
		out = append(out, Action{Kind: ActReceipt, Request: p.request, Receipt: ReceiptNoBroker})
		out = c.release(p.chunk, out)
	}
	c.pub.waiting = nil
	for len(c.pending) > 0 {
		stream := c.pending[0].stream
		c.forgetPending(stream)
		out = c.full(stream, nil, out)
	}
	for len(c.children) > 0 {
		stream := c.children[0].stream
		out = append(out, Action{Kind: ActEnd, Stream: stream, Code: EndRefused})
		out = c.forgetChild(now, stream, out)
	}
	for len(c.parents) > 0 {
		stream := c.parents[0].stream
		out = append(out, Action{Kind: ActEnd, Stream: stream, Code: EndDone})
		out = c.forgetParent(now, stream, false, out)
	}
	return append(out, Action{Kind: ActReport, Report: &Report{Kind: ReportLeft}})
}
