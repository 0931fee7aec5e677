package sink

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// conn is one client of the cluster, which connects again by itself.
type conn struct {
	nc      *nats.Conn // nil until Connect has returned
	client  atomic.Pointer[nats.Conn]
	js      jetstream.JetStream
	results results
	stop    func() bool

	mu     sync.Mutex
	link   context.Context // ends with the connection; nil: not connected
	unlink context.CancelCauseFunc
	over   bool // closed for good
	moved  chan struct{}
	said   string // the last reason that say has logged since the client was connected
}

// connect makes the client. Whether it is connected already await tells.
func (s *Sink) connect() (*conn, error) {
	c := &conn{moved: make(chan struct{})}
	c.results.wake = make(chan struct{}, 1)
	l := &s.cfg.Limits
	dial := &dialer{ctx: s.ctx, limit: l.Dial}
	// A server that does not read or answer would hold up Close.
	c.stop = context.AfterFunc(s.ctx, dial.cut)
	opts := []nats.Option{
		nats.Name(s.cfg.Name), nats.SetCustomDialer(dial), nats.Timeout(l.Dial),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(),
		nats.CustomReconnectDelay(func(tries int) time.Duration { return s.delay(c, tries) }),
		nats.ReconnectBufSize(-1), // what waits, waits in the window
		nats.FlusherTimeout(l.Write), nats.PingInterval(l.Ping), nats.MaxPingsOutstanding(2),
		nats.ConnectHandler(func(nc *nats.Conn) { s.connected(c, nc) }),
		nats.ReconnectHandler(func(nc *nats.Conn) { s.connected(c, nc) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			s.counted.connected.Store(false)
			if c.lost() && s.ctx.Err() == nil {
				s.cfg.Log.Warn("sink disconnected", "err", err)
			}
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) {
			if s.ctx.Err() == nil {
				c.say(s.cfg.Log, err)
			}
		}),
		nats.ClosedHandler(func(*nats.Conn) { c.end() }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			s.cfg.Log.Debug("sink: server", "err", err)
		}),
	}
	if s.roots != nil {
		opts = append(opts, nats.Secure(&tls.Config{RootCAs: s.roots, MinVersion: tls.VersionTLS12}))
	}
	if s.cfg.Creds != "" {
		opts = append(opts, nats.UserCredentials(s.cfg.Creds))
	}
	var urls []string
	for _, u := range s.cfg.Target.Servers {
		urls = append(urls, u.String())
	}
	var err error
	if c.nc, err = nats.Connect(strings.Join(urls, ","), opts...); err != nil {
		c.stop()
		return nil, fmt.Errorf("sink: connect to %v: %w", s.cfg.Target, err)
	}
	c.client.Store(c.nc)
	c.js, err = jetstream.New(c.nc, jetstream.WithDefaultTimeout(l.Request), jetstream.WithPublishAsyncTimeout(l.Ack),
		jetstream.WithPublishAsyncMaxPending(l.Window+2*chunksAhead),
		jetstream.WithPublishAsyncErrHandler(func(_ jetstream.JetStream, m *nats.Msg, err error) { c.results.add(result{m, nil, err}) }),
		jetstream.WithPublishAsyncAckHandler(func(_ jetstream.JetStream, m *nats.Msg, a *jetstream.PubAck) { c.results.add(result{m, a, nil}) }))
	if err != nil {
		c.close()
		return nil, fmt.Errorf("sink: %w", err)
	}
	return c, nil
}

func (s *Sink) connected(c *conn, nc *nats.Conn) {
	s.counted.connected.Store(true)
	s.counted.connections.Add(1)
	// Not its URL: the client takes a token in one for the name of a user.
	s.cfg.Log.Info("sink connected", "server", nc.ConnectedAddr(), "max_payload", nc.MaxPayload())
	c.linked(s.ctx)
}

// delay is how long the client waits before it tries all servers for the nth time
// since it was connected, or since its start. The tries before have failed.
func (s *Sink) delay(c *conn, n int) time.Duration {
	b := newBackoff(&s.cfg.Limits)
	for range min(n-1, 32) {
		b.next = min(2*b.next, b.most)
	}
	if s.ctx.Err() != nil || n == 1 && s.counted.connections.Load() > 0 {
		return b.jittered()
	}
	s.counted.fail(reasonConnect)
	if nc := c.client.Load(); nc != nil && nc.LastError() != nil {
		c.say(s.cfg.Log, nc.LastError())
	}
	return b.jittered()
}

// say logs why the client is not connected, if that is news.
func (c *conn) say(log *slog.Logger, err error) {
	c.mu.Lock()
	news := c.said != err.Error()
	c.said = err.Error()
	c.mu.Unlock()
	if news {
		log.Warn("sink not connected", "err", err)
	}
}

// linked notes that the client is connected.
func (c *conn) linked(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == nil {
		c.link, c.unlink = context.WithCancelCause(ctx)
		c.said = ""
		c.bump()
	}
}

// lost notes that the client is not connected any more, and returns whether it was.
// Whoever waits for an answer over the connection waits no longer.
func (c *conn) lost() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == nil {
		return false
	}
	c.unlink(errLost)
	c.link = nil
	return true
}

// end notes that the client does not connect any more.
func (c *conn) end() {
	c.lost()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.bump()
}

// bump lets await look again; called under mu.
func (c *conn) bump() {
	close(c.moved)
	c.moved = make(chan struct{})
}

// await waits until the client is connected, and returns a context that ends with
// this connection.
func (c *conn) await(ctx context.Context) (context.Context, error) {
	for {
		c.mu.Lock()
		link, over, moved := c.link, c.over, c.moved
		c.mu.Unlock()
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case over:
			return nil, errEnded
		case link != nil:
			return link, nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
		}
	}
}

func (c *conn) close() {
	c.stop()
	c.nc.Close()
}

// errLost and errEnded say that the connection broke, and that the client gave up.
var (
	errLost  = errors.New("sink: connection lost")
	errEnded = errors.New("sink: client closed")
)

// dialer dials for the client, so that the end of the sink ends a dial and a write.
type dialer struct {
	ctx   context.Context
	limit time.Duration

	mu   sync.Mutex
	conn net.Conn // the newest
}

// Dial is nats.CustomDialer's.
func (d *dialer) Dial(network, addr string) (net.Conn, error) {
	nd := net.Dialer{Timeout: d.limit}
	nc, err := nd.DialContext(d.ctx, network, addr)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.ctx.Err(); err != nil { // cut has passed by
		nc.Close()
		return nil, err
	}
	d.conn = nc
	return nc, nil
}

// cut ends the connection under the client.
func (d *dialer) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != nil {
		d.conn.Close()
	}
}
