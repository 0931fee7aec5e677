package lane

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// maxSurplus is how much a consumer may send after its election before it is no
// longer read. It has nothing to say; reading on only tells that it died.
const maxSurplus = 64 << 10

// tcpLane is a consumer's TCP connection, whoever opened it.
type tcpLane struct {
	nc        net.Conn
	wait      time.Duration // EgressLimits.Write
	halfClose bool          // a consumer that closes only its sending half stays
	acks      bool          // the consumer acknowledges
	gather    gather
}

func (l *tcpLane) write(batch []delivery) (int64, error) {
	return l.gather.write(l.nc, batch, l.wait)
}

func (l *tcpLane) watch(_ context.Context, acked func(string) error) error {
	if acked != nil {
		return l.readAcks(acked)
	}
	n, err := io.Copy(io.Discard, io.LimitReader(l.nc, maxSurplus))
	switch {
	case err != nil:
		return err
	case n < maxSurplus && !l.halfClose:
		return errGone
	}
	return nil
}

// readAcks takes each line for an acknowledgement. One that closes its half will not
// acknowledge any more, so its lane ends: that it is closed tells that all was read.
func (l *tcpLane) readAcks(acked func(string) error) error {
	lines := bufio.NewReaderSize(l.nc, maxAck)
	for {
		line, err := lines.ReadSlice('\n')
		switch {
		case err == nil:
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("%w: a line of more than %d bytes", errAck, maxAck)
		case errors.Is(err, io.EOF):
			return errGone
		default:
			return err
		}
		if err := acked(string(line)); err != nil {
			return err
		}
	}
}

// lastAcks is how long acknowledgements are waited for that are under way when a lane
// ends: each of them is a record that is not sent again.
const lastAcks = 100 * time.Millisecond

// finish closes the connection; nothing else than records can be said on it. One whose
// consumer acknowledges is closed when the session has ended.
func (l *tcpLane) finish(error) {
	half, ok := l.nc.(*net.TCPConn)
	if !ok || !l.acks || half.CloseWrite() != nil { // which ends the write under way
		l.nc.Close()
		return
	}
	l.nc.SetReadDeadline(time.Now().Add(lastAcks))
}

// gather writes records without joining them: heads and payloads go to the kernel
// from where they lie, in writes of writeSize bytes.
type gather struct {
	vec  [][]byte
	size int
}

// write sends the batch and returns how many of its bytes were taken.
func (g *gather) write(nc net.Conn, batch []delivery, wait time.Duration) (sent int64, err error) {
	g.vec, g.size = g.vec[:0], 0
	for i := range batch {
		d := &batch[i]
		for _, part := range [2][]byte{d.head[:d.headLen], d.payload} {
			for len(part) > 0 {
				n := min(len(part), writeSize-g.size)
				g.vec = append(g.vec, part[:n])
				g.size += n
				part = part[n:]
				if g.size < writeSize {
					continue
				}
				n64, err := g.flush(nc, wait)
				sent += n64
				if err != nil {
					return sent, err
				}
			}
		}
	}
	n, err := g.flush(nc, wait)
	return sent + n, err
}

func (g *gather) flush(nc net.Conn, wait time.Duration) (int64, error) {
	if g.size == 0 {
		return 0, nil
	}
	if err := nc.SetWriteDeadline(time.Now().Add(wait)); err != nil {
		return 0, err
	}
	vec := net.Buffers(g.vec)
	n, err := vec.WriteTo(nc)
	clear(g.vec)
	g.vec, g.size = g.vec[:0], 0
	return n, err
}
