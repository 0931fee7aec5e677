package lane

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Handler serves GET /deliver?topics=…&versions=…&format=…&resume=…: delivery records, or
// whole object frames, over a WebSocket where the request asks for one, else as the
// body of an answer that does not end (PROTOCOL §7 Egress lanes). topics and
// versions are comma lists or JSON arrays, none of them = all; names are as in the
// election line. Whoever is refused gets {"error": …}: 400 for a bad query, 503
// when the node takes no more consumers.
//
// On a WebSocket each record is one binary message, and the close code says why the
// lane ends: 1001 the node closes, 1013 the consumer was too slow, 1008 another
// connection goes on under its name, or what it sent is no acknowledgement. A stream
// names the same in its trailer, ClosedTrailer. With resume, ack=true goes with a
// WebSocket alone, see Request.
func (e *Egress) Handler() http.Handler { return http.HandlerFunc(e.serveDeliver) }

const (
	// ClosedTrailer is the field that ends the stream of GET /deliver with the reason.
	ClosedTrailer = "Treecast-Lane-Closed"
	// ClosedWell is the reason where nothing is wrong.
	ClosedWell = "the node closes"
)

func (e *Egress) serveDeliver(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet { // HEAD, which has no body to wait for
		answerError(w, http.StatusMethodNotAllowed, "GET only")
		return
	}
	upgrade := r.Header.Get("Upgrade") != ""
	want, err := e.electQuery(r.URL.Query(), upgrade)
	if err != nil {
		e.refused.add(refusedElection)
		answerError(w, http.StatusBadRequest, err.Error())
		return
	}
	if err := e.enter(); err != nil {
		unavailable(w, retryAfter, err.Error())
		return
	}
	defer e.leave()
	if err := e.follow(&want); err != nil {
		e.refused.add(refusedElection)
		unavailable(w, retryAfter, err.Error())
		return
	}
	defer want.close() // where no session does
	if upgrade {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil { // it has answered
			e.refused.add(refusedElection)
			e.cfg.Log.Info("consumer refused", "remote", r.RemoteAddr, "err", err)
			return
		}
		e.stream(r.RemoteAddr, want, newWSLane(conn, e.cfg.Limits.Write))
		return
	}
	s := &streamLane{w: w, ctl: http.NewResponseController(w), gone: r.Context(), wait: e.cfg.Limits.Write}
	if !s.begin() {
		return
	}
	e.stream(r.RemoteAddr, want, s)
	s.end()
}

func (e *Egress) electQuery(q url.Values, upgrade bool) (w wish, err error) {
	r, err := parseQuery(q)
	if err != nil {
		return w, err
	}
	if r.Ack && !upgrade {
		return w, errors.New("lane: query: ack: the consumer of a stream has no way to acknowledge")
	}
	return e.judge(&r)
}

// streamLane is a consumer that reads the body of an HTTP answer.
type streamLane struct {
	w    http.ResponseWriter
	ctl  *http.ResponseController
	gone context.Context // ends when the consumer closes
	wait time.Duration

	failed bool // a write did; only the handler's goroutine looks

	mu    sync.Mutex
	busy  bool      // a write is under way
	due   time.Time // its deadline
	cause error     // set once finished: the write deadline stays as it is
}

// lastWrite is what a lane that is being closed has for the write under way.
const lastWrite = 5 * time.Second

// begin sends the header; false when the consumer has gone.
func (l *streamLane) begin() bool {
	l.ctl.SetReadDeadline(time.Time{}) // the server's is for requests that end
	l.w.Header().Set("Content-Type", "application/octet-stream")
	l.w.Header().Set("Cache-Control", "no-store")
	l.w.Header().Set("Trailer", ClosedTrailer)
	l.ready()
	defer l.idle()
	return l.ctl.Flush() == nil
}

// ready gives the next write its time, unless the lane is being closed.
func (l *streamLane) ready() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cause == nil {
		l.due = time.Now().Add(l.wait)
		l.ctl.SetWriteDeadline(l.due)
	}
	l.busy = true
}

// idle says that no write is under way.
func (l *streamLane) idle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy = false
}

// stuck says that the write under way has had its time.
func (l *streamLane) stuck() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.busy && !time.Now().Before(l.due)
}

func (l *streamLane) write(batch []delivery) (sent int64, err error) {
	defer l.idle()
	defer func() { l.failed = l.failed || err != nil }()
	for i := range batch {
		d := &batch[i]
		for _, part := range [2][]byte{d.head[:d.headLen], d.payload} {
			for len(part) > 0 {
				piece := part[:min(len(part), writeSize)]
				l.ready()
				n, err := l.w.Write(piece)
				sent += int64(n)
				if err != nil {
					return sent, err
				}
				part = part[n:]
			}
		}
	}
	l.ready()
	return sent, l.ctl.Flush()
}

// watch tells a consumer that closes from one that a write waited for too long,
// after which the server ends the request as well.
func (l *streamLane) watch(ctx context.Context, _ func(string) error) error {
	select {
	case <-l.gone.Done():
		if l.stuck() {
			return fmt.Errorf("lane: write: %w", os.ErrDeadlineExceeded)
		}
		return errGone
	case <-ctx.Done():
		return nil
	}
}

// finish ends the write under way: at once if the consumer has gone, else after a
// moment for the consumer to read why.
func (l *streamLane) finish(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cause = cause
	wait := lastWrite
	switch {
	case errors.Is(cause, errGone), errors.Is(cause, os.ErrDeadlineExceeded):
		wait = 0
	case errors.Is(cause, errClose): // what it was given to read all is over
		wait = answerWait
	}
	l.ctl.SetWriteDeadline(time.Now().Add(wait))
}

// end ends the answer with the reason, or cuts it where a record is cut.
func (l *streamLane) end() {
	if l.failed {
		panic(http.ErrAbortHandler) // the server's way to close without a proper end
	}
	l.w.Header().Set(ClosedTrailer, closeText(l.cause))
}

// closeText is the reason of a close for the consumer.
func closeText(cause error) string {
	switch {
	case errors.Is(cause, errSlow):
		return "too slow: the queue is full"
	case errors.Is(cause, errReplaced):
		return "another connection goes on under the name"
	case errors.Is(cause, errAck):
		return "not an acknowledgement"
	case errors.Is(cause, errClose):
		return ClosedWell
	}
	return "broken"
}
