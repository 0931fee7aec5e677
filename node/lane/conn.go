package lane

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"treecast/wire/beef"
)

const (
	// largeObject is how many bytes of one object a connection gathers before it
	// needs one of IngressLimits.LargeObjects, which bound what all connections
	// gather together.
	largeObject = 64 << 10
	// slowest is the rate in bytes a second that a started object keeps up with.
	slowest = 16 << 10
)

// errHandshake marks a failure to agree on TLS.
var errHandshake = errors.New("lane: tls handshake")

// conn is one publisher's TCP connection. One goroutine owns it; remote and settled
// alone are called from others.
type conn struct {
	in   *Ingress
	nc   net.Conn
	door *Door
	src  *source
	scan *beef.Scanner

	addr string // of the publisher, for logs

	count     int       // DeliverCount for its objects
	gathered  int       // bytes read since the last unit ended
	started   time.Time // when the unit in progress did, shifted by the waits that were ours
	holdLarge bool

	pending atomic.Int64  // objects not settled
	wake    chan struct{} // holds a token when pending went down
}

// serve reads a connection until it ends, and closes it.
func (in *Ingress) serve(nc net.Conn, door *Door, src *source) {
	defer context.AfterFunc(in.ctx, func() { nc.Close() })()
	defer nc.Close()
	scan, err := beef.NewScanner(beef.ScannerConfig{MaxObject: in.cfg.MaxObject, RecordsOnly: door.RecordsOnly})
	if err != nil {
		panic(err) // the same configuration made one in NewIngress
	}
	c := &conn{
		in: in, nc: nc, door: door, src: src, scan: scan,
		addr: nc.RemoteAddr().String(),
		wake: make(chan struct{}, 1),
	}
	defer c.endUnit()
	certified, err := c.handshake()
	if err == nil {
		c.count = door.deliverable(remoteAddr(nc), certified)
		err = c.run()
	}
	if err != nil {
		c.report(err)
	}
}

// handshake goes through TLS where the door has it, and tells whether the publisher
// has shown a certificate that the door's configuration trusts.
func (c *conn) handshake() (certified bool, err error) {
	secure, ok := c.nc.(*tls.Conn)
	if !ok {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(c.in.ctx, c.in.cfg.Limits.Stall)
	defer cancel()
	if err := secure.HandshakeContext(ctx); err != nil {
		if c.in.ctx.Err() != nil {
			return false, nil
		}
		return false, fmt.Errorf("%w: %w", errHandshake, err)
	}
	return len(secure.ConnectionState().VerifiedChains) > 0, nil
}

// run returns nil when the publisher ended its stream between two objects, or
// the ingress was closed.
func (c *conn) run() error {
	for {
		if !c.admit() {
			return nil
		}
		if err := c.nc.SetReadDeadline(c.deadline()); err != nil {
			return err
		}
		n, err := c.nc.Read(c.scan.Space())
		if n > 0 {
			c.read(n)
			if err := c.take(); err != nil {
				return err
			}
			if !c.pause(ReasonBytes, c.src.read(time.Now(), n)) {
				return nil
			}
		}
		switch {
		case c.in.ctx.Err() != nil:
			return nil
		case errors.Is(err, io.EOF):
			if err := c.scan.End(); err != nil {
				return err
			}
			c.awaitSettled()
			return nil
		case err != nil:
			return err
		}
	}
}

// read counts n bytes that came.
func (c *conn) read(n int) {
	c.scan.Fill(n)
	if c.gathered == 0 {
		c.started = time.Now()
	}
	c.gathered += n
}

// deadline is when the connection is given up if nothing more comes: an object
// that has started has to keep a minimal pace, so that a publisher who trickles
// bytes does not hold a place for ever.
func (c *conn) deadline() time.Time {
	l := &c.in.cfg.Limits
	if c.gathered > 0 {
		return c.started.Add(l.Stall + time.Duration(c.gathered)*time.Second/slowest)
	}
	if l.Idle < 0 {
		return time.Time{}
	}
	return time.Now().Add(l.Idle)
}

// admit waits for a place among the large objects once the one in progress has
// become large. What holds a place can be finished, so nobody waits in a circle.
func (c *conn) admit() bool {
	if c.gathered <= largeObject || c.holdLarge {
		return true
	}
	if !c.in.large.TryAcquire(1) {
		before := time.Now()
		c.in.counted.throttled.add(ReasonLarge)
		if c.in.large.Acquire(c.in.ctx, 1) != nil {
			return false
		}
		c.started = c.started.Add(time.Since(before))
	}
	c.holdLarge = true
	return true
}

// endUnit forgets the unit that was in progress.
func (c *conn) endUnit() {
	c.gathered = 0
	if c.holdLarge {
		c.holdLarge = false
		c.in.large.Release(1)
	}
}

// take handles every unit that the bytes read complete. An error ends the
// connection; it is nil when the scanner wants more bytes.
func (c *conn) take() error {
	for {
		sub, err := c.scan.Next()
		if errors.Is(err, beef.ErrShort) {
			return nil
		}
		var fault *beef.FaultError
		switch {
		case err == nil:
			if !c.charge() {
				return nil
			}
			c.submit(&sub)
		case errors.Is(err, beef.ErrRejected) && errors.As(err, &fault):
			if !c.charge() {
				return nil
			}
			c.in.reject(fault.Reason, c.door.name(), c.addr, "offset", fault.Offset, "err", err)
		default:
			return err
		}
		c.endUnit()
	}
}

// charge takes one object from the rates and leaves the socket unread while they
// are in debt (PROTOCOL §7 Ingress doors).
func (c *conn) charge() bool {
	return c.pause(ReasonObjects, c.src.object(time.Now())) &&
		c.pause(ReasonNode, c.in.rate.object(time.Now()))
}

// pause leaves the socket unread for d; false when the ingress was closed.
func (c *conn) pause(reason string, d time.Duration) bool {
	if d > 0 {
		c.in.counted.throttled.add(reason)
		c.started = c.started.Add(d)
	}
	return sleep(c.in.ctx, d)
}

// report counts and logs, once, why the door gave the connection up.
func (c *conn) report(err error) {
	var fault *beef.FaultError
	switch {
	case errors.Is(err, errHandshake):
		c.in.counted.closed.add(ReasonHandshake)
	case errors.As(err, &fault):
		c.in.counted.closed.add(fault.Reason)
		c.in.cfg.Log.Warn("connection closed: malformed", "door", c.door.name(),
			"remote", c.addr, "offset", fault.Offset, "reason", fault.Reason, "err", err)
		return
	case errors.Is(err, os.ErrDeadlineExceeded) && c.gathered > 0:
		c.in.counted.closed.add(ReasonStalled)
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.in.counted.closed.add(ReasonIdle)
	default:
		c.in.counted.closed.add(ReasonBroken)
	}
	c.in.cfg.Log.Debug("connection closed", "door", c.door.name(), "remote", c.addr, "err", err)
}
