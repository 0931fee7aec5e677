package lane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/coder/websocket"
)

// joined is the longest record that is copied into one frame; the pieces of a
// longer one go out from where they lie.
const joined = 32 << 10

// wsLane is a consumer's WebSocket: each record is one binary message.
type wsLane struct {
	conn *websocket.Conn
	wait time.Duration
	buf  []byte

	writing context.Context // of every write; its end cuts the connection
	cut     context.CancelFunc
}

func newWSLane(conn *websocket.Conn, wait time.Duration) *wsLane {
	l := &wsLane{conn: conn, wait: wait}
	l.writing, l.cut = context.WithCancel(context.Background())
	return l
}

func (l *wsLane) write(batch []delivery) (sent int64, err error) {
	ctx, cancel := context.WithCancelCause(l.writing)
	defer cancel(nil)
	stuck := time.AfterFunc(l.wait, func() { cancel(os.ErrDeadlineExceeded) })
	defer stuck.Stop()
	for i := range batch {
		if err := l.record(ctx, stuck, &batch[i]); err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = fmt.Errorf("lane: write: %w", cause)
			}
			return sent, err
		}
		sent += batch[i].size()
	}
	return sent, nil
}

// record sends one record; stuck is put off with each piece that was taken.
func (l *wsLane) record(ctx context.Context, stuck *time.Timer, d *delivery) error {
	if d.size() <= joined {
		stuck.Reset(l.wait)
		l.buf = append(append(l.buf[:0], d.head[:d.headLen]...), d.payload...)
		return l.conn.Write(ctx, websocket.MessageBinary, l.buf)
	}
	w, err := l.conn.Writer(ctx, websocket.MessageBinary)
	if err != nil {
		return err
	}
	for _, part := range [2][]byte{d.head[:d.headLen], d.payload} {
		for len(part) > 0 {
			stuck.Reset(l.wait)
			n, err := w.Write(part[:min(len(part), writeSize)])
			if err != nil {
				return err
			}
			part = part[n:]
		}
	}
	return w.Close()
}

// watch reads for the sake of pings and of the close; a consumer that does not
// acknowledge has nothing to say, so a message of its ends the lane.
func (l *wsLane) watch(ctx context.Context, acked func(string) error) error {
	if acked != nil {
		return l.readAcks(ctx, acked)
	}
	// Not under ctx: a read that is cancelled cuts the connection before its close.
	select {
	case <-l.conn.CloseRead(context.Background()).Done():
		return errGone
	case <-ctx.Done():
		return nil
	}
}

// readAcks takes each message for an acknowledgement.
func (l *wsLane) readAcks(ctx context.Context, acked func(string) error) error {
	l.conn.SetReadLimit(maxAck)
	for {
		// Not under ctx, as above; finish ends it.
		_, b, err := l.conn.Read(context.Background())
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil
		case websocket.CloseStatus(err) == websocket.StatusMessageTooBig, errors.Is(err, websocket.ErrMessageTooBig):
			return fmt.Errorf("%w: a message of more than %d bytes", errAck, maxAck)
		case err != nil:
			return errGone
		}
		if err := acked(string(b)); err != nil {
			return err
		}
	}
}

// finish closes with the reason. The close waits for the write under way, lastWrite
// at most, and as long for the consumer's own close.
func (l *wsLane) finish(cause error) {
	defer l.cut()
	code := websocket.StatusInternalError
	switch {
	case errors.Is(cause, errGone), errors.Is(cause, os.ErrDeadlineExceeded):
		l.conn.CloseNow()
		return
	case errors.Is(cause, errSlow):
		code = websocket.StatusTryAgainLater
	case errors.Is(cause, errReplaced), errors.Is(cause, errAck):
		code = websocket.StatusPolicyViolation
	case errors.Is(cause, errClose):
		code = websocket.StatusGoingAway
		defer time.AfterFunc(answerWait, l.cut).Stop() // what it was given to read all is over
	}
	l.conn.Close(code, closeText(cause)) // the error is the consumer's going away
}
