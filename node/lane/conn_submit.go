package lane

import (
	"time"

	"treecast/wire/beef"
)

// settleWait bounds how long a connection that ended well stays open for its
// last objects.
const settleWait = 30 * time.Second

// submit passes one object on, waiting until the backlog has room for it.
func (c *conn) submit(sub *beef.Submission) {
	o, reason := c.in.claim(sub, c.count, c)
	if reason != "" {
		c.in.reject(reason, c.door.name(), c.addr, "topic", o.topicID.String())
		return
	}
	if !c.reserve(o.weight) {
		c.in.abandon(o)
		return
	}
	c.pending.Add(1)
	c.in.hand(o, &sub.Frame)
}

// reserve takes n bytes of the backlog, waiting for the publisher to settle what
// it has; false when the ingress was closed.
func (c *conn) reserve(n int64) bool {
	if c.in.backlog.TryAcquire(n) {
		return true
	}
	c.in.counted.throttled.add(ReasonBacklog)
	before := time.Now()
	err := c.in.backlog.Acquire(c.in.ctx, n)
	c.started = c.started.Add(time.Since(before))
	return err == nil
}

func (c *conn) remote() string { return c.addr }

func (c *conn) numbered(uint64) {}

// settled says that one of the connection's objects is.
func (c *conn) settled(error) {
	c.pending.Add(-1)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// awaitSettled keeps the connection of a publisher that has sent all it had open
// until every object is published or lost, so that the close tells it.
func (c *conn) awaitSettled() {
	t := time.NewTimer(settleWait)
	defer t.Stop()
	for c.pending.Load() > 0 {
		select {
		case <-c.wake:
		case <-t.C:
			return
		case <-c.in.ctx.Done():
			return
		}
	}
}
