package client

import (
	"context"
	"fmt"
	"net"

	"treecast/wire/beef"
)

// Datagrams submits objects over UDP, one record a datagram (PROTOCOL §7 Ingress
// doors). Nothing tells whether one arrived. It is for one goroutine.
type Datagrams struct {
	conn   net.Conn
	record []byte // reused for every object
	pace   pace
	sent
}

// maxDatagram is what a datagram over IPv4 carries, the smaller of the two.
const maxDatagram = 65507

// DialUDP returns a sender to the ingress at addr (host:port), of at most rate
// objects a second; 0 sends as fast as the system takes them, which is faster than
// any door.
func DialUDP(ctx context.Context, addr string, rate float64) (*Datagrams, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "udp", addr)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return &Datagrams{conn: conn, pace: newPace(rate)}, nil
}

// Send submits one object for the topics, when its turn has come; begin, if set, is
// called just before. The error names an object whose record fits no datagram.
func (s *Datagrams) Send(ctx context.Context, topics []string, object []byte, begin func()) error {
	record, err := beef.AppendRecord(s.record[:0], topics, object)
	if err != nil {
		return fmt.Errorf("client: object %d: %w", s.objects, err)
	}
	s.record = record
	if len(record) > maxDatagram {
		return fmt.Errorf("client: object %d: a record of %d bytes, a datagram has %d", s.objects, len(record), maxDatagram)
	}
	if err := s.pace.wait(ctx); err != nil {
		return err
	}
	if begin != nil {
		begin()
	}
	if _, err := s.conn.Write(record); err != nil {
		return fmt.Errorf("client: %w", err)
	}
	s.add(len(object))
	return nil
}

// Finish does nothing: there is nobody to wait for.
func (s *Datagrams) Finish() error { return nil }

// Close closes the socket.
func (s *Datagrams) Close() error { return s.conn.Close() }
