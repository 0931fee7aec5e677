package lane

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"time"

	"treecast/node/follow"
)

// steady is how long a session lasts before the next dial starts over with the
// shortest back-off.
const steady = 10 * time.Second

// dial keeps one dialled lane: connect, stream, and again. What comes while the
// consumer is away waits in its queue.
func (e *Egress) dial(c *consumer, d *DialConfig) {
	defer e.remove(c)
	log := e.cfg.Log.With("lane", d.Name, "addr", d.Addr)
	wait, away := e.cfg.Limits.Backoff, false
	for e.closing.Err() == nil {
		nc, err := e.dialOnce(d.Addr)
		if err == nil {
			log.Info("lane open")
			wait, away = e.redial(c, nc, wait), false
			continue
		}
		if e.closing.Err() != nil {
			return
		}
		if !away { // once, not with every attempt
			away = true
			log.Info("consumer not reachable, redialling", "err", err)
		}
		e.refused.add(refusedDial)
		wait = e.pause(wait)
	}
}

func (e *Egress) dialOnce(addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(e.closing, e.cfg.Limits.Dial)
	defer cancel()
	return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
}

// redial runs one session of a dialled lane and waits before the next. It returns
// the back-off to go on with.
func (e *Egress) redial(c *consumer, nc net.Conn, wait time.Duration) time.Duration {
	start := time.Now()
	err := e.follow(&c.wish)
	if err == nil {
		err = c.session(&tcpLane{nc: nc, wait: e.cfg.Limits.Write})
	} else {
		nc.Close() // nothing was said on it
	}
	e.sessionEnded(c, err)
	if e.closing.Err() != nil {
		return wait
	}
	if time.Since(start) >= steady {
		wait = e.cfg.Limits.Backoff
	}
	return e.pause(wait)
}

// pause waits for half to one and a half times wait and returns the next one.
func (e *Egress) pause(wait time.Duration) time.Duration {
	jitter := time.Duration(rand.Int64N(int64(wait) + 1))
	sleep(e.closing, wait/2+jitter)
	return min(2*wait, e.cfg.Limits.MaxWait)
}

// Reasons of an Egress, the keys of EgressCounters.
const (
	closedSlow   = "slow"     // the queue was full
	closedGone   = "gone"     // the consumer closed the connection
	closedStuck  = "stuck"    // the consumer took nothing within EgressLimits.Write
	closedBroken = "broken"   // the connection failed
	closedByUs   = "closed"   // the egress was closed, or everything was written after it
	closedNamed  = "replaced" // another connection goes on under the name
	closedAck    = "bad_ack"  // the consumer sent what is no acknowledgement

	refusedDial      = "dial"      // a dial failed
	refusedConsumers = "consumers" // EgressLimits.Consumers are connected
	refusedElection  = "election"  // the election line was bad, or never came
)

// sessionEnded counts and logs the end of a session.
func (e *Egress) sessionEnded(c *consumer, err error) {
	reason := closedBroken
	switch {
	case err == nil, errors.Is(err, errClose), errors.Is(err, follow.ErrClosed):
		reason = closedByUs
	case errors.Is(err, errSlow):
		return // counted and logged when the queue ran over
	case errors.Is(err, errGone):
		reason = closedGone
	case errors.Is(err, errReplaced):
		reason = closedNamed
	case errors.Is(err, errAck):
		reason = closedAck
	case errors.Is(err, os.ErrDeadlineExceeded):
		reason = closedStuck
	}
	e.closed.add(reason)
	e.cfg.Log.Info("lane closed", "lane", c.name, "reason", reason, "err", err)
}
