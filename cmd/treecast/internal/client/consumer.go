package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"treecast/wire/beef"
)

// Handler takes one delivery record; its payload is only valid during the call.
// An error ends the connection that the record came over.
type Handler func(remote net.Addr, d beef.Delivery) error

// Refusal is a delivery record that cannot be right.
type Refusal struct {
	Remote net.Addr
	// Err wraps a *beef.FaultError with the offset in the connection's bytes.
	Err error
	// Kept says that the record was passed over and the connection goes on.
	Kept bool
}

// Consumer takes delivery records from egress lanes, over connections that the
// edges open to it or one that it opens itself (PROTOCOL §7 Egress lanes).
type Consumer struct {
	// Handle takes every record; calls never overlap, from whatever connection.
	Handle Handler
	// Refuse is told of bad records, under the same rule; nil ignores them.
	Refuse func(Refusal)
	// MaxObject bounds an object in bytes; 0 = beef.DefaultMaxObject.
	MaxObject int

	mu sync.Mutex // around Handle and Refuse
}

// Election is what a consumer that connects asks for: topics as names or 64
// hexadecimal digits, none for all; versions beef, beefv2, atomic, none for all.
type Election struct {
	Topics   []string `json:"topics"`
	Versions []string `json:"versions,omitempty"`
	Format   string   `json:"format,omitempty"` // "record", the default
	// Resume is the name to go on under; empty: from now on. Then each record that was
	// handled is acknowledged, but for streams, where there is no way to.
	Resume string `json:"resume,omitempty"`
	Ack    bool   `json:"ack,omitempty"` // set by Fetch and FetchURL
}

// Serve takes records from every connection that ln accepts, until ctx ends. It
// closes ln and returns when nothing of it runs any more.
func (c *Consumer) Serve(ctx context.Context, ln net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { ln.Close() })
	defer stop()
	for {
		conn, err := ln.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("client: accept: %w", err)
		}
		// Ends with its connection, which ctx closes.
		wg.Go(func() { c.read(ctx, conn) })
	}
}

// Fetch connects to a listening lane at addr, elects, and takes records until
// the lane closes, which is no error, or ctx ends.
func (c *Consumer) Fetch(ctx context.Context, addr string, e Election) error {
	if e.Topics == nil {
		e.Topics = []string{}
	}
	e.Ack = e.Resume != ""
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("client: election: %w", err)
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	if _, err := conn.Write(append(line, '\n')); err != nil {
		conn.Close()
		return fmt.Errorf("client: election: %w", err)
	}
	if e.Ack {
		return c.readAcking(ctx, conn, &acks{
			send: func(taken uint64) error {
				conn.SetWriteDeadline(time.Now().Add(ackTimeout))
				_, err := fmt.Fprintf(conn, "%d\n", taken)
				return err
			},
			end: func() {
				if half, ok := conn.(*net.TCPConn); ok && half.CloseWrite() == nil {
					conn.SetReadDeadline(time.Now().Add(endTimeout))
					io.Copy(io.Discard, conn) // until the node has read them, and closes
				}
				conn.Close()
			},
		})
	}
	return c.read(ctx, conn)
}

// acks are a connection's way to acknowledge: send says how many records were taken,
// end closes the connection once the node has read the last one, or soon.
type acks struct {
	send func(taken uint64) error
	end  func()
}

const (
	// ackTimeout is how long the node may leave an acknowledgement unread, endTimeout
	// how long the last one when the connection is closed.
	ackTimeout = 10 * time.Second
	endTimeout = 2 * time.Second
)

// source is one connection of whatever kind.
type source interface {
	io.ReadCloser
	RemoteAddr() net.Addr
}

// read takes the records of one connection and closes it.
func (c *Consumer) read(ctx context.Context, conn source) error {
	return c.readAcking(ctx, conn, nil)
}

// readAcking does that and acknowledges, if ack is set, after the records of each read.
// An acknowledgement that cannot be sent does not matter: what ends the connection
// shows where it is read.
func (c *Consumer) readAcking(ctx context.Context, conn source, ack *acks) error {
	end := func() { conn.Close() }
	if ack != nil {
		end = ack.end
	}
	var turn sync.Mutex // held while records are taken: they are acknowledged before ctx's end closes
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		turn.Lock()
		defer turn.Unlock()
		end()
	})
	defer func() {
		if stop() {
			conn.Close()
			return
		}
		<-closed
	}()
	scanner, err := beef.NewDeliveryScanner(c.MaxObject)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	first := true
	taken, acked := uint64(0), uint64(0)
	for {
		n, err := conn.Read(scanner.Space())
		if first && n > 0 {
			first = false
			if text, ok := refusedElection(scanner.Space()[:n]); ok {
				return fmt.Errorf("client: the lane refuses the election: %s", text)
			}
		}
		scanner.Fill(n)
		turn.Lock()
		var more uint64
		var derr error
		if ack == nil || ctx.Err() == nil { // else it comes again
			more, derr = c.drain(conn, scanner)
		}
		taken += more
		if ack != nil && taken > acked && ack.send(taken) == nil {
			acked = taken
		}
		turn.Unlock()
		if derr != nil {
			return derr
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, io.EOF):
			if err := scanner.End(); err != nil {
				return c.refuse(conn, err, false)
			}
			return nil
		default:
			return fmt.Errorf("client: %w", err)
		}
	}
}

// drain hands over the records that are complete, and returns how many there were,
// refused ones included.
func (c *Consumer) drain(conn source, scanner *beef.DeliveryScanner) (n uint64, err error) {
	for {
		d, err := scanner.Next()
		switch {
		case err == nil:
			c.mu.Lock()
			err = c.Handle(conn.RemoteAddr(), d)
			c.mu.Unlock()
			if err != nil {
				return n, err
			}
			n++
		case errors.Is(err, beef.ErrShort):
			return n, nil
		case errors.Is(err, beef.ErrRejected):
			c.refuse(conn, err, true)
			n++
		default:
			return n, c.refuse(conn, err, false)
		}
	}
}

func (c *Consumer) refuse(conn source, err error, kept bool) error {
	err = fmt.Errorf("client: record from %v: %w", conn.RemoteAddr(), err)
	if c.Refuse != nil {
		c.mu.Lock()
		c.Refuse(Refusal{Remote: conn.RemoteAddr(), Err: err, Kept: kept})
		c.mu.Unlock()
	}
	return err
}

// refusedElection tells a lane's line of JSON with an error from a record, whose
// first bytes are a hash.
func refusedElection(b []byte) (text string, ok bool) {
	var line struct{ Error string }
	if len(b) == 0 || b[0] != '{' || json.Unmarshal(b, &line) != nil || line.Error == "" {
		return "", false
	}
	return line.Error, true
}
