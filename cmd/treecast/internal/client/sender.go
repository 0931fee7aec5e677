package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"treecast/wire/beef"
)

// Sender submits objects over one TCP connection to an ingress. It is for one
// goroutine.
type Sender struct {
	conn    net.Conn
	record  []byte        // reused for every object
	pace    time.Duration // between objects; 0 = none
	next    time.Time     // when the next object is due
	objects int
	bytes   int64
	stop    func() bool // ends the watch on the context
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
	s := &Sender{conn: conn}
	if rate > 0 {
		s.pace = time.Duration(float64(time.Second) / rate)
	}
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
	if err := s.wait(ctx); err != nil {
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
	s.objects++
	s.bytes += int64(len(object))
	return nil
}

// maxLate is how far behind its pace a sender may be and still make up for it.
const maxLate = time.Second

// wait holds back until the next object is due. Objects are due on a grid, so
// that a late one does not lower the rate; after a longer stop, the caller's or
// the ingress's, the grid begins anew.
func (s *Sender) wait(ctx context.Context) error {
	if s.pace == 0 {
		return nil
	}
	now := time.Now()
	if now.Sub(s.next) > maxLate {
		s.next = now
	}
	if d := s.next.Sub(now); d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return fmt.Errorf("client: %w", context.Cause(ctx))
		}
	}
	s.next = s.next.Add(s.pace)
	return nil
}

// Sent returns how many objects were written, and their bytes.
func (s *Sender) Sent() (objects int, bytes int64) { return s.objects, s.bytes }

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
