package api

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/coder/websocket"

	"treecast/node"
	"treecast/wire"
)

const (
	// maxFollowers bounds those who follow cohorts over the API at a time.
	maxFollowers = 64
	// followWrite is how long a follower may leave one message unread.
	followWrite = 30 * time.Second
)

// Message is what GET /follow sends: first one that says Attached, then chunks and
// gaps. Bytes are lower case hex.
type Message struct {
	Attached bool `json:"attached,omitempty"`
	Parents  int  `json:"parents,omitempty"` // the broker has none

	ID        string  `json:"id,omitempty"`
	Owner     string  `json:"owner,omitempty"`
	Index     *uint64 `json:"index,omitempty"` // absent: in no feed
	Span      string  `json:"span,omitempty"`  // 8 bytes, little endian
	Payload   string  `json:"payload,omitempty"`
	Signature string  `json:"signature,omitempty"`
	Late      bool    `json:"late,omitempty"` // its gap was told before
	Gap       *Gap    `json:"gap,omitempty"`  // indices of Owner that are not there
}

// Gap is a range of feed indices, both ends included, that cannot be shown in their
// place: void, which were never published, or missing or not kept any more.
type Gap struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
	Void bool   `json:"void,omitempty"`
}

// follow serves GET /follow?topic=…&since=…: a cohort's chunks over a WebSocket, each a
// text message, see Message. since is an index from which each owner's feed is shown
// out of what the node keeps, or all for the oldest kept; without it what comes from
// now on. One that does not read is closed with 1013.
func (s *Server) follow(w http.ResponseWriter, r *http.Request) {
	t, err := s.tailOf(r.URL.Query())
	switch {
	case errors.Is(err, errNoCohort):
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !s.enter() {
		http.Error(w, fmt.Sprintf("%d followers already, or the node is closing", maxFollowers), http.StatusServiceUnavailable)
		return
	}
	defer s.leave()
	if t.sub, err = t.cohort.Subscribe(node.SubscribeOptions{}); err != nil {
		http.Error(w, "the cohort is closed", http.StatusServiceUnavailable)
		return
	}
	defer t.sub.Close()
	conn, err := websocket.Accept(w, r, nil)
	if err != nil { // it has answered
		return
	}
	defer conn.CloseNow()
	ctx, cancel := context.WithCancel(s.life)
	defer cancel()
	// Not under ctx: a read that is cancelled cuts the connection before its close.
	defer context.AfterFunc(conn.CloseRead(context.Background()), cancel)()
	t.show = func(m *Message) error { return send(ctx, conn, m) }
	if err = t.attached(ctx); err == nil {
		err = t.run(ctx)
	}
	code, text := followClose(s.life, err)
	conn.Close(code, text) // the error is the follower's going away
}

var errNoCohort = errors.New("this node is not in that cohort")

// tailOf reads the query.
func (s *Server) tailOf(q url.Values) (*tail, error) {
	b, err := hex.DecodeString(q.Get("topic"))
	if err != nil || len(b) != len(wire.Topic{}) {
		return nil, fmt.Errorf("topic %.80q, want 64 hex digits", q.Get("topic"))
	}
	t := &tail{}
	switch since := q.Get("since"); since {
	case "":
	case "all":
		t.all = true
	default:
		if t.since, err = strconv.ParseUint(since, 10, 63); err != nil {
			return nil, fmt.Errorf("since %.80q, want an index or all", since)
		}
		t.from = true
	}
	for _, c := range s.node.Cohorts() {
		if c.Topic() == wire.Topic(b) {
			t.cohort = c
			return t, nil
		}
	}
	return nil, errNoCohort
}

// attached waits until the node is, and says so.
func (t *tail) attached(ctx context.Context) error {
	if err := t.cohort.WaitAttached(ctx, 1); err != nil {
		return err
	}
	return t.show(&Message{Attached: true, Parents: len(t.cohort.View().Parents)})
}

// send sends one message.
func send(ctx context.Context, conn *websocket.Conn, m *Message) error {
	b, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("api: message: %w", err)
	}
	wait, cancel := context.WithTimeout(ctx, followWrite)
	defer cancel()
	if err := conn.Write(wait, websocket.MessageText, b); err != nil {
		if ctx.Err() == nil && wait.Err() != nil {
			return node.ErrSlow
		}
		return err
	}
	return nil
}

// followClose is how a follower is told why it ends.
func followClose(life context.Context, err error) (websocket.StatusCode, string) {
	switch {
	case errors.Is(err, node.ErrSlow):
		return websocket.StatusTryAgainLater, "too slow"
	case life.Err() != nil, errors.Is(err, node.ErrClosed):
		return websocket.StatusGoingAway, "the node closes, or has left the cohort"
	}
	return websocket.StatusInternalError, "broken"
}

// enter counts a follower in; false when there are too many, or the server closes.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() != nil || s.followers >= maxFollowers {
		return false
	}
	s.followers++
	s.wg.Add(1)
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	s.followers--
	s.mu.Unlock()
	s.wg.Done()
}
