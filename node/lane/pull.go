package lane

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"treecast/node/follow"
	"treecast/wire/beef"
)

// maxAck is the most bytes of one acknowledgement.
const maxAck = 32

// pull is a session of a consumer with a name: each record is read from what the node
// retains when the one before it is written. One record a write, so that an edge
// that dies repeats that one at most.
type pull struct {
	c *consumer

	mu      sync.Mutex
	taken   uint64           // records of this session acknowledged
	pending []*follow.Object // written and not acknowledged
}

// write sends records until the session ends.
func (p *pull) write(ctx context.Context, s sink) error {
	c := p.c
	batch := make([]delivery, 1)
	for {
		o, err := c.follower.Next(ctx)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, follow.ErrReplaced):
			return errReplaced
		case errors.Is(err, follow.ErrClosed):
			return errClose
		default:
			return err
		}
		c.head(&batch[0], &o.Frame, o.Topic, o.Frame.Payload)
		size := batch[0].size()
		if c.ack { // before it is written: the consumer may be faster than we are
			p.wait(o)
		}
		sent, err := s.write(batch)
		clear(batch)
		c.unread.Store(0)
		if sent == size {
			if !c.ack {
				c.follower.Ack(o)
			}
			c.records.Add(1)
			c.bytes.Add(uint64(size))
		}
		if err != nil {
			return err
		}
	}
}

// wait notes an object that is to be acknowledged.
func (p *pull) wait(o *follow.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending = append(p.pending, o)
}

// acked takes an acknowledgement: how many records of the session are safe.
func (p *pull) acked(text string) error {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return fmt.Errorf("%w: %q", errAck, text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n < p.taken || n > p.taken+uint64(len(p.pending)) {
		return fmt.Errorf("%w: %d, after %d, of %d records", errAck, n, p.taken, p.taken+uint64(len(p.pending)))
	}
	for _, o := range p.pending[:n-p.taken] {
		p.c.follower.Ack(o)
	}
	p.pending = append(p.pending[:0], p.pending[n-p.taken:]...)
	p.taken = n
	p.c.unread.Store(0)
	return nil
}

// head makes the delivery of an object in the consumer's format.
func (c *consumer) head(d *delivery, f *beef.Frame, topic beef.TopicID, payload []byte) {
	d.payload = payload
	if c.format == FormatFrame {
		d.headLen = len(beef.AppendHeader(d.head[:0], f))
	} else {
		d.headLen = len(beef.AppendDeliveryHeader(d.head[:0], &beef.Delivery{TopicID: topic, Payload: payload}))
	}
}
