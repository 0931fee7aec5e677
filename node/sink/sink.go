package sink

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"treecast/node/follow"
)

// A Sink stores what its source gives, from New until Close. Its methods may be
// called by several goroutines.
type Sink struct {
	cfg     Config
	roots   *x509.CertPool // nil: the system's
	objects chan *follow.Object
	counted counted

	ctx    context.Context // ends when Close begins
	cancel context.CancelFunc
	wg     sync.WaitGroup

	// The rest is run's.
	window  window
	known   known
	stream  streamState
	partial string // subject of the chunks that a failed put has left in the object store; empty: none
	said    string // reason of the last failure that was logged
}

// New starts a sink. It connects by itself, and goes on trying for ever: a server
// that is not there is no error. The error names the configuration's first fault.
func New(cfg Config) (*Sink, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Sink{cfg: cfg, objects: make(chan *follow.Object), known: known{limit: cfg.Limits.Known}}
	if err := s.readFiles(); err != nil {
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.wg.Go(s.read) // ends with ctx or the source
	s.wg.Go(s.run)  // ends with ctx
	return s, nil
}

// readFiles checks that the files are there and mean something, before anything
// runs. The credentials are read anew with each connection, so that they may be
// renewed.
func (s *Sink) readFiles() (err error) {
	if s.cfg.Creds != "" {
		if err := CheckCreds(s.cfg.Creds); err != nil {
			return fmt.Errorf("sink: config Creds: %w", err)
		}
	}
	if s.cfg.CA != "" {
		if s.roots, err = ReadCA(s.cfg.CA); err != nil {
			return fmt.Errorf("sink: config CA: %w", err)
		}
	}
	return nil
}

// Target is where the sink stores objects.
func (s *Sink) Target() Target { return s.cfg.Target }

// Close ends the sink. What the stream has not acknowledged by now stays for the
// next one with the same source. It may be called twice.
func (s *Sink) Close() error {
	s.cancel()
	s.wg.Wait()
	return nil
}

// read takes objects from the source, at most one ahead of run.
func (s *Sink) read() {
	for {
		o, err := s.cfg.Source.Next(s.ctx)
		if err != nil {
			if s.ctx.Err() == nil {
				s.counted.fail(reasonSource)
				s.cfg.Log.Error("sink: no object comes any more", "err", err)
			}
			return
		}
		select {
		case s.objects <- o:
		case <-s.ctx.Done():
			return
		}
	}
}

// run keeps a connection, and on it one session after the other, each of which
// ends with a failure.
func (s *Sink) run() {
	for wait := newBackoff(&s.cfg.Limits); ; {
		c, err := s.connect()
		if err == nil {
			err = s.serve(c, &wait)
			c.close()
		}
		if s.ctx.Err() != nil {
			return
		}
		s.failed(err)
		if !wait.sleep(s.ctx) {
			return
		}
	}
}

// serve runs sessions until the connection is closed for good.
func (s *Sink) serve(c *conn, wait *backoff) error {
	for {
		link, err := c.await(s.ctx)
		if err != nil {
			return err
		}
		before := s.counted.progress()
		err = s.session(link, c)
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		if lost := context.Cause(link); lost != nil && errors.Is(err, context.Canceled) {
			err = lost // which ended whatever was waited for
		}
		if s.counted.progress() != before {
			wait.reset()
			s.said = ""
		}
		s.failed(err)
		if !wait.sleep(s.ctx) {
			return s.ctx.Err()
		}
	}
}

// failed counts a failure, and logs it if the one before was another.
func (s *Sink) failed(err error) {
	reason := reasonOf(err)
	s.counted.fail(reason)
	if text := err.Error(); text != s.said {
		s.said = text
		s.cfg.Log.Warn("sink waits", "reason", reason, "pending", len(s.window.entries), "err", err)
	}
}

// backoff is the wait between two tries: doubling, with jitter from a half to one.
type backoff struct {
	first, most, next time.Duration
}

func newBackoff(l *Limits) backoff {
	return backoff{first: l.Backoff, most: l.MaxWait, next: l.Backoff}
}

func (b *backoff) reset() { b.next = b.first }

// sleep waits; false if ctx ended first.
func (b *backoff) sleep(ctx context.Context) bool {
	t := time.NewTimer(b.jittered())
	defer t.Stop()
	b.next = min(2*b.next, b.most)
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (b *backoff) jittered() time.Duration { return b.next/2 + rand.N(b.next/2+1) }
