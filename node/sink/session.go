package sink

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"treecast/node/follow"
)

// session sends objects over a connection until something fails: first those that
// earlier sessions could not store, then the source's next ones.
type session struct {
	s       *Sink
	c       *conn
	link    context.Context // ends with the connection
	stream  jetstream.Stream
	maxSize int64                 // of a message of this stream; 0: the server's bound alone
	objects jetstream.ObjectStore // nil: not needed yet

	sending map[*nats.Msg]*entry // without an outcome
	failure error                // the first; then nothing more is sent
	spare   []result
}

// session prepares the stream and runs one session; link ends with the connection.
// It returns its failure once each message that it sent has an outcome, so that the
// next one knows of all.
func (s *Sink) session(link context.Context, c *conn) error {
	x := &session{s: s, c: c, link: link, sending: make(map[*nats.Msg]*entry)}
	if err := x.prepare(); err != nil {
		return err
	}
	for _, e := range s.window.entries {
		x.submit(e)
	}
	for x.failure == nil || len(x.sending) > 0 {
		s.window.compact()
		s.forget()
		s.counted.pend(len(s.window.entries), s.window.bytes)
		var objects <-chan *follow.Object
		if x.failure == nil && !s.window.full(&s.cfg.Limits) {
			objects = s.objects
		}
		select {
		case o := <-objects:
			x.submit(s.window.push(o))
		case <-c.results.wake:
			x.settle()
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
	return x.failure
}

// forget drops what was found in the stream once nothing is left that it was looked
// through for: an object that is submitted again much later is to be stored again.
func (s *Sink) forget() {
	if len(s.window.entries) == 0 && len(s.known.set) > 0 && s.cfg.Source.Lag() == 0 {
		s.known.reset()
	}
}

// submit sends an object, unless the stream is known to have it.
func (x *session) submit(e *entry) {
	switch {
	case e.stored || x.failure != nil:
	case x.s.known.has(e.known):
		x.s.counted.known.Add(1)
		x.store(e)
	default:
		if err := x.send(e); err != nil {
			x.failure = err
		}
	}
}

// send sends an object's message, after its payload if that does not fit.
func (x *session) send(e *entry) error {
	if e.tries == 0 {
		e.floor = x.s.stream.high
	} else {
		x.s.counted.retried.Add(1)
	}
	e.tries++
	target := &x.s.cfg.Target
	m := message(e.Object, e.id, target.Stream, "")
	if wireSize(m) > x.limit() {
		if err := x.putLarge(e); err != nil {
			return err
		}
		m = message(e.Object, e.id, target.Stream, target.Bucket)
	}
	x.sending[m] = e
	if _, err := x.c.js.PublishMsgAsync(m, jetstream.WithRetryAttempts(0)); err != nil {
		delete(x.sending, m)
		return fmt.Errorf("sink: publish: %w", err)
	}
	return nil
}

// limit is the most bytes of a message, headers included. It is asked for each, as
// the server may be another one since the last.
func (x *session) limit() int64 {
	n := x.c.nc.MaxPayload()
	if x.maxSize > 0 {
		n = min(n, x.maxSize)
	}
	return n
}

// settle takes in what became of messages.
func (x *session) settle() {
	list := x.c.results.take(x.spare)
	for _, r := range list {
		e := x.sending[r.msg]
		if e == nil {
			continue // of an object store
		}
		delete(x.sending, r.msg)
		if r.err != nil {
			if x.failure == nil {
				x.failure = fmt.Errorf("sink: publish: %w", r.err)
			}
			continue
		}
		x.s.stream.high = max(x.s.stream.high, r.ack.Sequence)
		if r.ack.Duplicate {
			x.s.counted.duplicates.Add(1)
		} else {
			x.s.counted.acked.Add(1)
		}
		x.store(e)
	}
	clear(list)
	x.spare = list
}

// store marks an object as stored and tells the source.
func (x *session) store(e *entry) {
	e.stored = true
	x.s.counted.stored.Add(1)
	x.s.cfg.Source.Ack(e.Object)
}

// request bounds a call that asks the server for something.
func (x *session) request() (context.Context, context.CancelFunc) {
	return context.WithTimeout(x.link, x.s.cfg.Limits.Request)
}
