package lane

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"treecast/wire/beef"
)

const (
	batchRecords = 64        // most records of one write
	writeSize    = 256 << 10 // bytes of one write, which has EgressLimits.Write
	// maxSurplus is how much a consumer may send after its election before it is
	// no longer read. It has nothing to say; reading on only tells that it died.
	maxSurplus = 64 << 10
)

// Why a session ended, the keys of EgressCounters.Closed.
var (
	errSlow  = errors.New("lane: consumer too slow: its queue is full")
	errGone  = errors.New("lane: consumer closed the connection")
	errClose = errors.New("lane: egress closed")
)

// consumer is one receiver of objects, connected or, if dialled, away.
type consumer struct {
	e      *Egress
	id     beef.ConsumerID
	name   string
	dialed bool
	format Format
	queue  *queue

	records, bytes, lost atomic.Uint64 // written whole; thrown away

	mu  sync.Mutex
	cut context.CancelCauseFunc // of the session; nil: not connected
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

// session streams the queue to nc until either ends, closes nc and returns why.
// It returns nil when the queue was closed and everything in it written.
// halfClose says that a consumer which closes only its sending half stays.
func (c *consumer) session(nc net.Conn, halfClose bool) error {
	ctx, cut := context.WithCancelCause(c.e.ended)
	c.mu.Lock()
	c.cut = cut
	c.mu.Unlock()
	var reader sync.WaitGroup
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	defer func() {
		c.mu.Lock()
		c.cut = nil
		c.mu.Unlock()
		stop()
		nc.Close()
		cut(nil)
		reader.Wait()
	}()
	reader.Go(func() { // ends when nc does
		n, err := io.Copy(io.Discard, io.LimitReader(nc, maxSurplus))
		switch {
		case err != nil:
			cut(err)
		case n < maxSurplus && !halfClose:
			cut(errGone)
		}
	})
	err := c.write(ctx, nc)
	if c.e.ended.Err() != nil {
		return errClose
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause // the write failed because nc was closed for it
	}
	return err
}

// write sends batches from the front of the queue. A record leaves the queue when
// all of it is written.
func (c *consumer) write(ctx context.Context, nc net.Conn) error {
	var batch []delivery
	var w gather
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
		sent, err := w.write(nc, batch, c.e.cfg.Limits.Write)
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
		if err != nil {
			return err
		}
		clear(batch)
	}
	return context.Cause(ctx)
}

// gather writes records without joining them: heads and payloads go to the kernel
// from where they lie, in writes of writeSize bytes.
type gather struct {
	vec  [][]byte
	size int
}

// write sends the batch and returns how many of its bytes were taken.
func (g *gather) write(nc net.Conn, batch []delivery, wait time.Duration) (sent int64, err error) {
	g.vec, g.size = g.vec[:0], 0
	for i := range batch {
		d := &batch[i]
		for _, part := range [2][]byte{d.head[:d.headLen], d.payload} {
			for len(part) > 0 {
				n := min(len(part), writeSize-g.size)
				g.vec = append(g.vec, part[:n])
				g.size += n
				part = part[n:]
				if g.size < writeSize {
					continue
				}
				n64, err := g.flush(nc, wait)
				sent += n64
				if err != nil {
					return sent, err
				}
			}
		}
	}
	n, err := g.flush(nc, wait)
	return sent + n, err
}

func (g *gather) flush(nc net.Conn, wait time.Duration) (int64, error) {
	if g.size == 0 {
		return 0, nil
	}
	if err := nc.SetWriteDeadline(time.Now().Add(wait)); err != nil {
		return 0, err
	}
	vec := net.Buffers(g.vec)
	n, err := vec.WriteTo(nc)
	clear(g.vec)
	g.vec, g.size = g.vec[:0], 0
	return n, err
}
