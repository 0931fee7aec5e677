package lane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"treecast/wire/beef"
)

// body reads the object of a request, within the bounds that hold for a raw door:
// memory that follows the bytes that came, a place among the large objects, a
// minimal pace.
type body struct {
	q       *request
	src     *source
	started time.Time
	large   bool // holds a place
}

// read returns the whole object; false when the request was answered.
func (b *body) read() (object []byte, ok bool) {
	in := b.q.in
	limit := in.cfg.MaxObject
	if b.q.r.ContentLength > int64(limit) {
		b.oversize(0)
		return nil, false
	}
	object = make([]byte, 0, max(512, min(b.q.r.ContentLength+1, largeObject)))
	for {
		if len(object) == cap(object) {
			object = slices.Grow(object, min(len(object), limit+1-len(object)))
		}
		if len(object) >= largeObject && !b.hold() {
			return nil, false
		}
		b.deadline(len(object))
		n, err := b.q.r.Body.Read(object[len(object):min(cap(object), limit+1)])
		object = object[:len(object)+n]
		b.src.read(time.Now(), n)
		switch {
		case len(object) > limit:
			b.oversize(len(object))
			return nil, false
		case errors.Is(err, io.EOF):
			b.q.ctl.SetReadDeadline(time.Time{}) // the answer may take longer
			return object, true
		case err != nil:
			b.broken(err)
			return nil, false
		}
	}
}

// deadline sets when the next bytes must be there, after the first have come: one
// that cannot be set is the server's own.
func (b *body) deadline(come int) {
	pace := b.q.in.cfg.Limits.Stall + time.Duration(come)*time.Second/slowest
	b.q.ctl.SetReadDeadline(b.started.Add(pace))
}

// oversize refuses an object over the bound, of which some bytes have come. Like
// at a raw door the rest is skipped up to twice the bound: most publishers read no
// answer before they have written all, and a reset would destroy it.
func (b *body) oversize(come int) {
	in, w := b.q.in, b.q.w
	in.reject(beef.ReasonOversize, "http", b.q.remote())
	most := 2 * in.cfg.MaxObject
	if b.q.r.ContentLength > int64(most) {
		come = most
	}
	for skip := make([]byte, 32<<10); come < most; {
		b.deadline(come)
		n, err := b.q.r.Body.Read(skip)
		come += n
		b.src.read(time.Now(), n)
		if err != nil {
			break // the end, or nobody to answer
		}
	}
	answerError(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the object is over %d bytes", in.cfg.MaxObject))
}

// hold takes a place among the large objects, waiting a little for one.
func (b *body) hold() bool {
	if b.large {
		return true
	}
	in := b.q.in
	if !in.large.TryAcquire(1) {
		ctx, cancel := context.WithTimeout(b.q.ctx, in.cfg.Limits.LargeWait)
		defer cancel()
		if in.large.Acquire(ctx, 1) != nil {
			b.q.overloaded(ReasonLarge, retryAfter)
			return false
		}
	}
	b.large = true
	return true
}

// free gives the place back.
func (b *body) free() {
	if b.large {
		b.q.in.large.Release(1)
	}
}

// broken ends a request whose body did not come.
func (b *body) broken(err error) {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		b.q.in.counted.closed.add(ReasonStalled)
		b.q.w.Header().Set("Connection", "close")
		answerError(b.q.w, http.StatusRequestTimeout, "the object came too slowly")
		return
	}
	b.q.in.counted.closed.add(ReasonBroken)
	answerError(b.q.w, http.StatusBadRequest, "the object was cut")
}
