package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"treecast/node/retain"
	"treecast/wire"
)

const (
	// recoverRate is the bytes per second of one answer (PROTOCOL §8).
	recoverRate = 16 << 20
	// maxAnswers bounds the requests that are answered at a time, maxStrangers those
	// of peers that are neither parents nor children: these find a place when many
	// others have lost their parents.
	maxAnswers   = 64
	maxStrangers = maxAnswers / 2
	// liveFirst bytes in the queues to a peer hold its answer back, for at most
	// yieldAtMost a page.
	liveFirst   = 64 << 10
	yieldAtMost = 100 * time.Millisecond
	yieldPoll   = 2 * time.Millisecond
)

// answers is the set of requests that are being answered: one a peer and cohort.
type answers struct {
	mu        sync.Mutex
	set       map[answerKey]bool // value: a stranger's
	strangers int
}

type answerKey struct {
	peer  peer.ID
	topic wire.Topic
}

// begin enters a request; false: there is one already, or too many.
func (x *answers) begin(k answerKey, stranger bool) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.set[k]; ok || len(x.set) >= maxAnswers || stranger && x.strangers >= maxStrangers {
		return false
	}
	if x.set == nil {
		x.set = make(map[answerKey]bool)
	}
	x.set[k] = stranger
	if stranger {
		x.strangers++
	}
	return true
}

func (x *answers) end(k answerKey) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.set[k] {
		x.strangers--
	}
	delete(x.set, k)
}

// refusedRequest says that a request is not answered, and counts as what.
type refusedRequest struct{ as counter }

func (e *refusedRequest) Error() string { return "node: recover: refused: " + counterNames[e.as] }

// answerRequest serves one stream of the recovery protocol. libp2p calls it in a
// goroutine of its own.
func (n *Node) answerRequest(raw network.Stream) {
	if !n.enter() {
		raw.Reset()
		return
	}
	defer n.wg.Done()
	ok, full := n.streams.accept(raw)
	if full {
		n.counts.add(countStreamsPerPeer)
	}
	if !ok {
		raw.ResetWithError(network.StreamResourceLimitExceeded)
		return
	}
	defer n.streams.remove(raw)
	if err := n.answer(raw); err != nil {
		var refused *refusedRequest
		if errors.As(err, &refused) {
			n.counts.add(refused.as)
		}
		n.log.Debug("request not answered", "peer", raw.Conn().RemotePeer(), "err", err)
		raw.ResetWithError(network.StreamProtocolViolation)
		return
	}
	raw.Close()
}

// answer reads the request and writes the answer.
func (n *Node) answer(raw network.Stream) error {
	id := raw.Conn().RemotePeer()
	if n.blocker.refuse(id) {
		return &refusedRequest{countRecoverRefused}
	}
	raw.SetReadDeadline(time.Now().Add(n.cfg.Waits.Handshake))
	buf, err := wire.NewReader(raw, n.pool).Next()
	if err != nil {
		return err
	}
	req, err := wire.ParseRecoverRequest(buf.Msg())
	buf.Release()
	if err != nil {
		n.countMalformed(err)
		return err
	}
	c := n.Cohort(req.Topic)
	if c == nil {
		return &refusedRequest{countRecoverRefused}
	}
	may, stranger := c.answers(id)
	if !may {
		return &refusedRequest{countRecoverRefused}
	}
	key := answerKey{id, req.Topic}
	if !n.answering.begin(key, stranger) {
		return &refusedRequest{countRecoverBusy}
	}
	over := sync.OnceFunc(func() { n.answering.end(key) })
	defer over()
	n.counts.add(countRecoverAnswered)
	ctx, cancel := context.WithCancel(n.ctx)
	defer cancel()
	a := retain.Answer{
		Log: c.loop.log, Request: req, Rate: recoverRate,
		Yield: func(ctx context.Context) error { return c.yield(ctx, raw) },
		Pending: func() (list []wire.IndexRange) {
			c.call(func(l *loop) { list = l.order.Pending(req.Owner, req.Range, nil) })
			return list
		},
		Ending: over,
	}
	chunks, err := retain.Serve(ctx, &countingWriter{raw, &n.traffic}, &a)
	n.counts[countRecoverServed].Add(uint64(chunks))
	return err
}

// countingWriter counts what goes out.
type countingWriter struct {
	network.Stream
	all *traffic
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.Stream.Write(p)
	w.all.out.Add(uint64(n))
	return n, err
}

// answers says whether a peer may ask: parents and children; others as they may
// subscribe, without an auth (PROTOCOL §8).
func (c *Cohort) answers(p peer.ID) (may, stranger bool) {
	c.call(func(l *loop) {
		attached := false
		for _, s := range l.streams {
			attached = attached || s.link != nil && s.peer == p
		}
		spec := l.core.View().Spec
		may, stranger = attached || spec != nil && !spec.Closed, !attached
	})
	return may, stranger
}

// yield waits while much of the cohort's own traffic is queued for the peer, and
// gives the next page its time.
func (c *Cohort) yield(ctx context.Context, raw network.Stream) error {
	var to []*stream
	c.call(func(l *loop) {
		for _, s := range l.streams {
			if s.peer == raw.Conn().RemotePeer() {
				to = append(to, s)
			}
		}
	})
	busy := func() bool {
		for _, s := range to {
			if _, _, bytes := s.out.fill(); bytes > liveFirst {
				return true
			}
		}
		return false
	}
	until := time.Now().Add(yieldAtMost)
	for busy() && time.Now().Before(until) {
		select {
		case <-time.After(yieldPoll):
		case <-c.done:
			return ErrClosed
		case <-ctx.Done():
			return fmt.Errorf("node: recover: %w", ctx.Err())
		}
	}
	return raw.SetWriteDeadline(time.Now().Add(c.n.cfg.Waits.Write))
}
