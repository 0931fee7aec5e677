package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"treecast/wire/beef"
)

// Sender submits objects over one TCP connection to an ingress. It is for one
// goroutine.
type Sender struct {
	conn   net.Conn
	record []byte // reused for every object
	pace   pace
	sent
	stop func() bool // ends the watch on the context
}

// Dial connects to the ingress at addr (host:port). At most rate objects a
// second are sent; 0 sends as fast as the ingress reads. The connection is cut
// when ctx ends.
func Dial(ctx context.Context, addr string, rate float64) (*Sender, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	s := &Sender{conn: conn, pace: newPace(rate)}
	s.stop = context.AfterFunc(ctx, func() { conn.Close() })
	return s, nil
}

// Send submits one object for the topics as a submission record, when its turn
// has come; begin, if set, is called just before its first byte is written. The
// error is a *beef.FaultError if the object cannot be put into a record, which
// then was not sent.
func (s *Sender) Send(ctx context.Context, topics []string, object []byte, begin func()) error {
	record, err := beef.AppendRecord(s.record[:0], topics, object)
	if err != nil {
		return fmt.Errorf("client: object %d: %w", s.objects, err)
	}
	s.record = record
	if err := s.pace.wait(ctx); err != nil {
		return err
	}
	if begin != nil {
		begin()
	}
	if _, err := s.conn.Write(record); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("client: %w", context.Cause(ctx))
		}
		return fmt.Errorf("client: the ingress closed the connection after %d objects: %w", s.objects, err)
	}
	s.add(len(object))
	return nil
}

// Finish says that no more objects come and waits until the ingress, having
// read all of them, closes its side too. An ingress answers nothing, so this is
// as much as a submitter learns.
func (s *Sender) Finish() error {
	tcp, ok := s.conn.(*net.TCPConn)
	if !ok {
		return s.conn.Close()
	}
	if err := tcp.CloseWrite(); err != nil {
		return fmt.Errorf("client: finish: %w", err)
	}
	n, err := io.Copy(io.Discard, s.conn)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("client: finish: %w", err)
	}
	if err != nil {
		return fmt.Errorf("client: finish: the ingress did not close in time")
	}
	if n > 0 {
		return fmt.Errorf("client: finish: %d bytes came back; an ingress answers nothing", n)
	}
	return nil
}

// Close cuts the connection. It may be called twice.
func (s *Sender) Close() error {
	s.stop()
	return s.conn.Close()
}
