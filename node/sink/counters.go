package sink

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Why the sink had to wait and try again, the keys of Counters.Failures.
const (
	reasonConnect   = "connect"     // no connection could be made
	reasonLost      = "lost"        // the connection broke
	reasonJetStream = "jetstream"   // the server, or the account there, has no JetStream
	reasonStream    = "stream"      // the stream is not what a sink needs, or gone
	reasonTimeout   = "timeout"     // no answer in time
	reasonRefused   = "refused"     // the server answered with an error, such as a full stream
	reasonTooLong   = "max_payload" // the server's bound shrank under a message
	reasonOther     = "other"
	reasonSource    = "source" // the source ended
)

// reasonOf says under which reason an error counts.
func reasonOf(err error) string {
	var api *jetstream.APIError
	var broken *net.OpError
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount),
		errors.Is(err, errNoJetStream):
		return reasonJetStream
	case errors.Is(err, errStream), errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, jetstream.ErrNoStreamResponse):
		return reasonStream
	case errors.Is(err, nats.ErrMaxPayload):
		return reasonTooLong
	case errors.Is(err, nats.ErrDisconnected), errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrConnectionClosed),
		errors.Is(err, nats.ErrConnectionReconnecting), errors.Is(err, errEnded), errors.Is(err, errLost),
		errors.As(err, &broken):
		return reasonLost
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout), errors.Is(err, jetstream.ErrAsyncPublishTimeout):
		return reasonTimeout
	case errors.As(err, &api):
		return reasonRefused
	}
	return reasonOther
}

// Counters is what a Sink has counted since its start, and its state.
type Counters struct {
	Acked      uint64            // messages that the stream took
	Duplicates uint64            // messages that it had within its duplicate window
	Known      uint64            // objects found in the stream before they were sent
	Retried    uint64            // messages sent again
	Large      uint64            // payloads put into the object store
	Failures   map[string]uint64 // times that the sink had to wait and try again, by reason

	Connected    bool
	Pending      int           // objects taken from the source and not stored
	PendingBytes int64         // payload bytes of them
	Lag          uint64        // chunks at hand whose objects are not stored
	Stalled      time.Duration // since something was last stored, while objects are pending; else 0
}

// counted are the counters, and the gauges as run last set them.
type counted struct {
	acked, duplicates, known, retried, large atomic.Uint64
	stored                                   atomic.Uint64 // objects, in whichever way
	connected                                atomic.Bool
	connections                              atomic.Uint64 // that were made

	mu           sync.Mutex // covers what follows
	failures     map[string]uint64
	pending      int
	pendingBytes int64
	since        time.Time // something was stored or nothing was pending
	storedThen   uint64
}

func (c *counted) fail(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failures == nil {
		c.failures = make(map[string]uint64)
	}
	c.failures[reason]++
}

// progress is how many objects were stored.
func (c *counted) progress() uint64 { return c.stored.Load() }

// pend notes what the window holds.
func (c *counted) pend(n int, bytes int64) {
	stored := c.stored.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending == 0 || stored != c.storedThen {
		c.since, c.storedThen = time.Now(), stored
	}
	c.pending, c.pendingBytes = n, bytes
}

// Counters returns a snapshot.
func (s *Sink) Counters() Counters {
	c := &s.counted
	n := Counters{
		Acked: c.acked.Load(), Duplicates: c.duplicates.Load(), Known: c.known.Load(), Retried: c.retried.Load(),
		Large: c.large.Load(), Connected: c.connected.Load(), Lag: s.cfg.Source.Lag(), Failures: make(map[string]uint64),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for reason, count := range c.failures {
		n.Failures[reason] = count
	}
	n.Pending, n.PendingBytes = c.pending, c.pendingBytes
	if n.Pending > 0 {
		n.Stalled = time.Since(c.since)
	}
	return n
}
