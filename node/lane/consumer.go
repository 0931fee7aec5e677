package lane

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"treecast/wire/beef"
)

const (
	batchRecords = 64        // most records of one write
	writeSize    = 256 << 10 // bytes of one write, which has EgressLimits.Write
)

// Why a session ended, the keys of EgressCounters.Closed.
var (
	errSlow     = errors.New("lane: consumer too slow: its queue is full")
	errGone     = errors.New("lane: consumer closed the connection")
	errClose    = errors.New("lane: egress closed")
	errReplaced = errors.New("lane: another connection goes on under the name")
	errAck      = errors.New("lane: not an acknowledgement")
)

// consumer is one receiver of objects, connected or, if dialled, away.
type consumer struct {
	e      *Egress
	id     beef.ConsumerID
	name   string
	dialed bool
	wish
	queue  *queue       // of one without a name
	unread atomic.Int64 // bytes that came for one with a name since it took a record
	groups []uint32     // of the elected topics, each once

	records, bytes, lost atomic.Uint64 // written whole; thrown away

	mu  sync.Mutex
	cut context.CancelCauseFunc // of the session; nil: not connected

	ended chan struct{} // under Egress.mu: closed when the session of one with a name has ended
}

// arrived counts an object that came for a consumer with a name. It is read from
// retention when its turn comes; but one that takes nothing while more comes than a
// queue would hold loses its lane as any other. Called under Egress.mu.
func (c *consumer) arrived(size int64) {
	c.mu.Lock()
	cut := c.cut
	c.mu.Unlock()
	if cut == nil || c.unread.Add(size) <= c.e.cfg.Limits.Queue {
		return
	}
	c.unread.Store(0)
	cut(errSlow)
	c.e.closed.add(closedSlow)
	c.e.cfg.Log.Warn("lane closed: consumer too slow", "lane", c.name, "resume", c.resume)
}

// overflow ends the session of a consumer whose queue is full, with all that
// waits in it. A dialled lane starts anew with d; called under Egress.mu.
func (c *consumer) overflow(d *delivery) {
	c.mu.Lock()
	cut := c.cut
	c.mu.Unlock()
	if cut != nil { // first, or the session could still take d and end with it
		cut(errSlow)
	}
	n := uint64(c.queue.clear())
	if c.dialed {
		c.queue.put(d) // it fits: the queue is empty
	} else {
		c.queue.close()
		n++
	}
	c.lost.Add(n)
	c.e.closed.add(closedSlow)
	c.e.cfg.Log.Warn("lane closed: consumer too slow", "lane", c.name, "lost", n)
}

// connected tells whether there is a session.
func (c *consumer) connected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cut != nil
}

// sink is the connection to one consumer.
type sink interface {
	// write sends records and returns how many of their bytes were taken. The error
	// wraps os.ErrDeadlineExceeded if the consumer took nothing for
	// EgressLimits.Write.
	write(batch []delivery) (sent int64, err error)
	// watch returns why the consumer has gone, or nil once ctx ended. acked, if not
	// nil, is given what a consumer says, each line or message; its error is returned.
	watch(ctx context.Context, acked func(string) error) error
	// finish ends the connection, and with it write and watch. Where the kind of
	// lane has a way to, it tells the consumer the cause; errClose is a good end.
	finish(cause error)
}

// session streams the queue to s until either ends, finishes s and returns why.
// It returns nil when the queue was closed and everything in it written.
func (c *consumer) session(s sink) error {
	ctx, cut := context.WithCancelCause(c.e.ended)
	c.mu.Lock()
	c.cut = cut
	c.mu.Unlock()
	var watcher sync.WaitGroup
	finish := sync.OnceFunc(func() {
		cause := context.Cause(ctx)
		if errors.Is(cause, context.Canceled) {
			cause = errClose
		}
		s.finish(cause)
	})
	stop := context.AfterFunc(ctx, finish)
	defer func() {
		c.mu.Lock()
		c.cut = nil
		c.mu.Unlock()
		stop()
		cut(errClose)
		finish()
		watcher.Wait()
		c.e.leaveName(c)
	}()
	c.e.enterName(c)
	send := c.write
	var acked func(string) error
	if c.follower != nil {
		p := &pull{c: c}
		if c.ack {
			acked = p.acked
		}
		send = p.write
	}
	watcher.Go(func() { // ends with s
		if err := s.watch(ctx, acked); err != nil {
			cut(err)
		}
	})
	err := send(ctx, s)
	if c.e.ended.Err() != nil {
		return errClose
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause // the write failed because s was finished for it
	}
	if err != nil {
		cut(err)
	}
	return err
}

// write sends batches from the front of the queue. A record leaves the queue when
// all of it is written.
func (c *consumer) write(ctx context.Context, s sink) error {
	var batch []delivery
	for ctx.Err() == nil {
		var first uint64
		batch, first = c.queue.front(batch[:0], batchRecords, writeSize)
		if len(batch) == 0 {
			if c.queue.drained() {
				return nil
			}
			select {
			case <-c.queue.wake:
			case <-ctx.Done():
			}
			continue
		}
		sent, err := s.write(batch)
		var whole, bytes int64
		for i := range batch {
			if bytes+batch[i].size() > sent {
				break
			}
			whole++
			bytes += batch[i].size()
		}
		c.queue.advance(first + uint64(whole))
		c.records.Add(uint64(whole))
		c.bytes.Add(uint64(bytes))
		if err != nil { // part of it may be read even now
			return err
		}
		for i := range whole {
			batch[i].shared.done()
		}
		clear(batch)
	}
	return context.Cause(ctx)
}
