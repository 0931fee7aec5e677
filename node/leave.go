package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"treecast/tree"
)

// recentlyUp is how long ago a chunk may have gone to a parent for its stream to
// be closed gently at Leave: a reset would destroy what that parent has not read.
const recentlyUp = time.Second

// leaving is the state of a graceful departure.
type leaving struct {
	left chan struct{} // closed by the loop: the core has left

	on    bool      // the loop's
	last  []*stream // the loop's: streams that still carry their last frames
	since time.Time
}

// Leave takes this node out of the cohort without a gap for anybody (PROTOCOL §5
// Leave): it accepts nobody any more, asks every child to move, and waits until
// they have, 5 s at most; what is then still queued for a child reaches it, or
// 5 s pass (PROTOCOL §2). Then it is Close. If ctx ends first, the cohort is
// closed at once, and the error wraps ctx's and says how many children had not
// moved. A closed cohort has left already. Like Close it must not be called by
// a handler of the cohort.
func (c *Cohort) Leave(ctx context.Context) error {
	return errors.Join(c.depart(ctx), c.Close())
}

// depart is Leave without Close.
func (c *Cohort) depart(ctx context.Context) error {
	if !c.box.post(func() { c.loop.leave() }) {
		return nil
	}
	select {
	case <-c.leaving.left:
	case <-c.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("node: leave %v: %d children stay: %w", c.topic, len(c.View().Children), ctx.Err())
	}
	var last []*stream
	c.call(func(l *loop) { last = append(last, l.c.leaving.last...) })
	for i, s := range last {
		select {
		case <-s.done:
		case <-ctx.Done():
			return fmt.Errorf("node: leave %v: %d streams not flushed: %w", c.topic, len(last)-i, ctx.Err())
		}
	}
	return nil
}

// Leave takes this node out of all its cohorts, as Cohort.Leave does, at the same
// time, and then is Close: cohorts opened here are reopened at the next start.
func (n *Node) Leave(ctx context.Context) error {
	cohorts := n.Cohorts()
	errs := make([]error, len(cohorts), len(cohorts)+1)
	var wg sync.WaitGroup
	for i, c := range cohorts {
		wg.Go(func() { errs[i] = c.depart(ctx) })
	}
	wg.Wait()
	return errors.Join(append(errs, n.Close())...)
}

// leave begins the departure; a second call changes nothing.
func (l *loop) leave() {
	if !l.c.leaving.on {
		l.c.leaving.on, l.c.leaving.since = true, l.now
		l.c.log.Info("leaving")
	}
	l.step(tree.Leave{})
}

// gentle says whether a stream that the core ends is closed behind its last
// frames instead of reset: a child's always, a parent's if it may still carry a
// publication.
func (l *loop) gentle(s *stream, code tree.EndCode) bool {
	switch code {
	case tree.EndRefused:
		return true
	case tree.EndDone:
		return l.c.leaving.on && !s.up.IsZero() && l.now.Sub(s.up) < recentlyUp
	}
	return false
}

// departed notes that the core has left.
func (l *loop) departed() {
	l.c.n.counts.add(countLeft)
	l.c.log.Info("left", "after", l.now.Sub(l.c.leaving.since), "flushing", len(l.c.leaving.last))
	close(l.c.leaving.left)
}
