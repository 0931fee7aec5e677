package lane

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"treecast/node/api/bearer"
	"treecast/wire/beef"
)

// Submitted is the answer to a submission: 202 for one that was taken, 409 with
// the values of the first for one that was submitted before (PROTOCOL §7 HTTP).
type Submitted struct {
	ContentID string `json:"contentId"` // hex, of the submission record that the door made
	TopicID   string `json:"topicId"`   // hex, of the first topic
	Seq       uint64 `json:"seq"`       // SeqNum of the first frame or fragment
	// Fragments is how many SeqNums the object takes: 1 for a single frame; absent
	// from a 409.
	Fragments int `json:"fragments,omitempty"`
}

// Handler serves POST /submit: a BEEF object in, as application/octet-stream, with
// its topics in the header X-Topics, a comma list or a JSON array (PROTOCOL §7
// HTTP). With ?wait=1 it answers once the object came back down.
//
//	202 Submitted: taken, or with ?wait=1 published
//	400 no list of topics, another content type, no BEEF object, a topic of another group
//	401 without the token that the door asks for
//	408 the body came too slowly
//	409 Submitted, with the values of the first: submitted before
//	413 over IngressConfig.MaxObject
//	503 over a rate or a bound, with Retry-After; or it could not be published
//
// Everything but Submitted is {"error": …}.
func (in *Ingress) Handler() http.Handler { return http.HandlerFunc(in.serveSubmit) }

const (
	// retryAfter is what a publisher is asked to wait when a bound is reached whose
	// end nobody knows.
	retryAfter = time.Second
	// answerTime is what an answer of a line has to be written in.
	answerTime = 10 * time.Second
)

// request is one POST /submit.
type request struct {
	in     *Ingress
	w      http.ResponseWriter
	r      *http.Request
	ctl    *http.ResponseController
	ctx    context.Context // ends with the request, and with the ingress
	topics []string

	number chan uint64 // gets the SeqNum
	result chan error  // gets what became of the object
}

func (in *Ingress) serveSubmit(w http.ResponseWriter, r *http.Request) {
	in.counted.requests.Add(1)
	if r.Method != http.MethodPost {
		in.counted.refused.add(ReasonRequest)
		answerError(w, http.StatusMethodNotAllowed, "POST only")
		return
	}
	if in.cfg.HTTP == nil || !in.enter() {
		in.counted.refused.add(ReasonClosing)
		unavailable(w, retryAfter, "this node takes no submissions now")
		return
	}
	defer in.wg.Done()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(in.ctx, cancel)()
	q := &request{
		in: in, w: w, r: r, ctl: http.NewResponseController(w), ctx: ctx,
		number: make(chan uint64, 1), result: make(chan error, 1),
	}
	if q.authorized() && q.wellFormed() {
		q.admit()
	}
}

// authorized asks for the token.
func (q *request) authorized() bool {
	if t := q.in.cfg.HTTP.Token; t != nil && !t.In(q.r) {
		bearer.Challenge(q.w)
		q.refuse(ReasonToken, http.StatusUnauthorized, "a bearer token is needed")
		return false
	}
	return true
}

// wellFormed looks at the header of the request.
func (q *request) wellFormed() bool {
	if kind := q.r.Header.Get("Content-Type"); kind != "" {
		if media, _, err := mime.ParseMediaType(kind); err != nil || media != "application/octet-stream" {
			q.refuse(ReasonRequest, http.StatusBadRequest, "the content type is not application/octet-stream")
			return false
		}
	}
	var err error
	if q.topics, err = topicNames(q.r.Header.Values("X-Topics")); err != nil {
		q.refuse(ReasonRequest, http.StatusBadRequest, "X-Topics: "+err.Error())
		return false
	}
	return true
}

// admit finds a place for the request and the object, and submits it.
func (q *request) admit() {
	in := q.in
	if !in.conns.TryAcquire(1) {
		q.overloaded(ReasonConns, retryAfter)
		return
	}
	defer in.conns.Release(1)
	origin := sourceOf(q.peer())
	src, ok := in.http.enter(time.Now(), origin)
	if !ok {
		q.overloaded(ReasonSourceConns, retryAfter)
		return
	}
	defer func() { in.http.leave(time.Now(), origin) }()
	in.counted.open.Add(1)
	defer in.counted.open.Add(-1)
	if reason, wait := src.over(time.Now()); wait > 0 {
		q.overloaded(reason, wait)
		return
	}
	if wait := in.rate.over(time.Now()); wait > 0 {
		q.overloaded(ReasonNode, wait)
		return
	}
	src.object(time.Now())
	in.rate.object(time.Now())
	body := body{q: q, src: src, started: time.Now()}
	defer body.free()
	if object, ok := body.read(); ok {
		q.submit(object)
	}
}

// submit makes the record, passes it on and answers.
func (q *request) submit(object []byte) {
	in := q.in
	record, err := beef.AppendRecord(nil, q.topics, object)
	var sub beef.Submission
	if err == nil {
		sub, err = beef.ParseSubmission(record, in.cfg.MaxObject)
	}
	if fault := (*beef.FaultError)(nil); errors.As(err, &fault) {
		in.reject(fault.Reason, "http", q.remote(), "err", err)
		answerError(q.w, http.StatusBadRequest, fault.Reason)
		return
	}
	o, reason := in.claim(&sub, max(1, in.cfg.HTTP.DeliverCap), q)
	switch {
	case reason == ReasonDuplicate:
		in.reject(reason, "http", q.remote(), "topic", o.topicID.String())
		q.duplicate(o)
		return
	case reason != "":
		in.reject(reason, "http", q.remote(), "topic", o.topicID.String())
		answerError(q.w, http.StatusBadRequest, reason)
		return
	}
	if !in.backlog.TryAcquire(o.weight) {
		in.abandon(o)
		q.overloaded(ReasonBacklog, retryAfter)
		return
	}
	in.hand(o, &sub.Frame)
	q.confirm(o)
}

// confirm waits for the object's number, or for the object, and answers.
func (q *request) confirm(o *object) {
	numbered, wait := q.number, q.r.URL.Query().Get("wait") == "1"
	if wait {
		numbered = nil
	}
	t := time.NewTimer(q.in.cfg.Limits.Confirm)
	defer t.Stop()
	select {
	case seq := <-numbered:
		q.accept(o, seq)
	case err := <-q.result:
		if err != nil {
			unavailable(q.w, retryAfter, "not published: "+err.Error())
			return
		}
		q.accept(o, <-q.number) // was sent before the result
	case <-t.C:
		unavailable(q.w, retryAfter, "not confirmed in time; it may still be published")
	case <-q.ctx.Done():
		unavailable(q.w, retryAfter, "closing; it may still be published")
	}
}

func (q *request) accept(o *object, seq uint64) {
	q.answer(http.StatusAccepted, Submitted{
		ContentID: hex.EncodeToString(o.contentID[:]), TopicID: o.topicID.String(), Seq: seq, Fragments: o.count,
	})
}

// duplicate answers with the values of the first submission. One that is lost
// before it has a number was none.
func (q *request) duplicate(o *object) {
	ctx, cancel := context.WithTimeout(q.ctx, q.in.cfg.Limits.Confirm)
	defer cancel()
	seq, ok := q.in.claims.first(ctx, o.key)
	if !ok {
		unavailable(q.w, retryAfter, "submitted before, and not published")
		return
	}
	q.answer(http.StatusConflict, Submitted{ContentID: hex.EncodeToString(o.contentID[:]), TopicID: o.topicID.String(), Seq: seq})
}

func (q *request) answer(status int, s Submitted) {
	q.ctl.SetWriteDeadline(time.Now().Add(answerTime)) // a wait may have used it up
	writeJSON(q.w, status, s)
}

// refuse counts and answers what is no submission.
func (q *request) refuse(reason string, status int, text string) {
	q.in.counted.refused.add(reason)
	answerError(q.w, status, text)
}

// overloaded answers 503 and counts why.
func (q *request) overloaded(reason string, wait time.Duration) {
	q.in.counted.throttled.add(reason)
	unavailable(q.w, wait, "over a bound: "+reason)
}

// peer is the address of the publisher, or of the proxy in front.
func (q *request) peer() netip.Addr {
	ap, err := netip.ParseAddrPort(q.r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr()
}

func (q *request) remote() string { return q.r.RemoteAddr }

func (q *request) numbered(seq uint64) { q.number <- seq }

func (q *request) settled(err error) { q.result <- err }

// unavailable answers 503 and says when to come again, in whole seconds.
func unavailable(w http.ResponseWriter, wait time.Duration, text string) {
	seconds := max(1, int64((wait+time.Second-1)/time.Second))
	w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	answerError(w, http.StatusServiceUnavailable, text)
}

// answerError answers with a line of JSON that says what is wrong.
func answerError(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, struct {
		Error string `json:"error"`
	}{text})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // an error is the client's going away
}
