package lane

import (
	"time"

	"treecast/wire/beef"
)

// settleWait bounds how long a connection that ended well stays open for its
// last objects.
const settleWait = 30 * time.Second

// submit passes one object on. Its views end with the call, so all that is
// needed of it is copied here, once, into the chunks that are published.
func (c *conn) submit(sub *beef.Submission) {
	in := c.in
	if group, err := beef.GroupIndex(sub.Frame.TopicID, in.cfg.ShardBits); err != nil || group != in.cfg.Group {
		c.reject(ReasonGroup, "topic", sub.Frame.TopicID.String())
		return
	}
	count, err := beef.ChunkCount(len(sub.Frame.Payload))
	if err != nil {
		c.reject(ReasonFragments, "err", err)
		return
	}
	sub.Allow(c.count)
	sub.Frame.HashKey = in.hashKey
	o := &object{
		key:          pairOf(sub.Frame.ContentID, sub.Frame.TopicID),
		deliverCount: sub.Frame.DeliverCount,
		payload:      len(sub.Frame.Payload),
		weight:       min(int64(count)*beef.MaxChunk, in.cfg.Limits.Backlog),
		from:         c,
	}
	if !in.claims.claim(time.Now(), o.key, o.deliverCount) {
		c.reject(ReasonDuplicate, "topic", sub.Frame.TopicID.String())
		return
	}
	if !c.reserve(o.weight) {
		return
	}
	if o.chunks, err = in.chunks.cut(&sub.Frame, count); err != nil {
		panic(err) // ChunkCount has counted them
	}
	c.pending.Add(1)
	select {
	case in.queue <- o:
		in.counted.objects.Add(1)
		in.counted.bytes.Add(uint64(o.payload))
	case <-in.ctx.Done():
		c.pending.Add(-1)
	}
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

func (c *conn) reject(reason string, args ...any) {
	c.in.counted.rejected.add(reason)
	c.in.cfg.Log.Debug("object rejected", append(args,
		"door", c.door.name(), "remote", c.remote, "reason", reason)...)
}

// settled says that one of the connection's objects is.
func (c *conn) settled() {
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
