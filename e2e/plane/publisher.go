package plane

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"time"
)

// A Publisher sends objects over plain TCP: records back to back, then FIN. It
// reads nothing.
type Publisher struct {
	conn net.Conn
	w    *bufio.Writer
	rec  []byte
	obj  []byte
}

// DialPublisher connects to the door at addr. When ctx ends, so does the connection.
func DialPublisher(ctx context.Context, addr string) (*Publisher, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("plane: publisher: %w", err)
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	return &Publisher{conn: conn, w: bufio.NewWriterSize(conn, 64<<10)}, nil
}

// Send sends object i of a set under a topic.
func (p *Publisher) Send(topic string, s *Set, i int) error {
	p.obj = s.Append(p.obj[:0], i)
	p.rec = appendRecord(p.rec[:0], []string{topic}, p.obj)
	if _, err := p.w.Write(p.rec); err != nil {
		return fmt.Errorf("plane: publisher: object %d: %w", i, err)
	}
	return nil
}

// Flush sends what is in the buffer.
func (p *Publisher) Flush() error { return p.w.Flush() }

// Close sends the rest and FIN.
func (p *Publisher) Close() error {
	err := p.w.Flush()
	if cerr := p.conn.Close(); err == nil {
		err = cerr
	}
	return err
}

// Publish sends a whole set as fast as the door takes it, or every so often one.
func Publish(ctx context.Context, addr, topic string, s *Set, every time.Duration) error {
	p, err := DialPublisher(ctx, addr)
	if err != nil {
		return err
	}
	defer p.conn.Close()
	start := time.Now()
	for i := range s.Len() {
		if every > 0 {
			select {
			case <-time.After(time.Until(start.Add(time.Duration(i) * every))):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := p.Send(topic, s, i); err != nil {
			return err
		}
		if every > 0 {
			if err := p.Flush(); err != nil {
				return err
			}
		}
	}
	return p.Close()
}
