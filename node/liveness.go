package node

import (
	"errors"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-multistream"
)

// protectTag marks connections that the connection manager must keep.
const protectTag = "treecast"

// links watches the connections of parents and children: a peer that gives no
// sign of life is cut off, so that its streams end (PROTOCOL §5 Death). Frames
// count as life, so that pings queueing behind data of a slow line cut nobody off,
// and a peer that sends some is not pinged: due has the rule.
//
// One timer serves all links, as each time that a machine wakes for nothing costs
// more than what there is to do.
type links struct {
	n    *Node
	wake chan struct{} // capacity 1: a link may be due earlier than was planned

	mu    sync.Mutex
	peers map[peer.ID]*link
}

func newLinks(n *Node) *links {
	return &links{n: n, wake: make(chan struct{}, 1), peers: make(map[peer.ID]*link)}
}

// watch adds one attachment of a peer.
func (x *links) watch(p peer.ID, c *Cohort) *link {
	x.mu.Lock()
	defer x.mu.Unlock()
	l := x.peers[p]
	if l == nil {
		l = newLink(x.n, p, time.Now())
		x.peers[p] = l
		x.n.host.ConnManager().Protect(p, protectTag)
		x.signal()
	}
	l.cohorts[c]++
	if l.told > 0 {
		c.measured(p, l.told)
	}
	return l
}

// unwatch takes away one attachment of a peer.
func (x *links) unwatch(l *link, c *Cohort) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if l.cohorts[c]--; l.cohorts[c] == 0 {
		delete(l.cohorts, c)
	}
	if len(l.cohorts) > 0 {
		return
	}
	l.cancel()
	delete(x.peers, l.id)
	x.n.host.ConnManager().Unprotect(l.id, protectTag)
	if !l.busy { // else whoever is at it sees that it was cancelled
		c.wg.Go(l.ping.reset) // ends with the reset; closing the connection ends that
	}
}

// seen notes a sign of life of a peer, watched or not.
func (x *links) seen(p peer.ID, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if l := x.peers[p]; l != nil {
		l.seen(now)
	}
}

// heard is when a peer that is watched last gave a sign of life; zero: it is not watched.
func (x *links) heard(p peer.ID) (at time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if l := x.peers[p]; l != nil {
		at = l.heard()
	}
	return at
}

func (x *links) signal() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// run is the goroutine that has links pinged when they are due. It ends with the node.
func (x *links) run() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var due []*link
	for {
		select {
		case <-timer.C:
		case <-x.wake:
		case <-x.n.ctx.Done():
			return
		}
		var next time.Time
		due, next = x.plan(time.Now(), due[:0])
		for _, l := range due {
			x.n.wg.Go(func() { x.attend(l) }) // ends with its timeout, or with the link
		}
		clear(due)
		if next.IsZero() {
			timer.Stop()
		} else {
			timer.Reset(time.Until(next))
		}
	}
}

// pingSlack is the part of the time between pings by which one may be early, so
// that those of several links go out together.
const pingSlack = 5

// plan appends the links that want attention at now, and takes them as attended to;
// and it says when to look again, zero if there is nothing to wait for.
func (x *links) plan(now time.Time, dst []*link) (_ []*link, next time.Time) {
	early := x.n.cfg.Waits.Ping / pingSlack
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range x.peers {
		if l.foreign {
			continue
		}
		switch {
		case l.busy:
		case !l.due(&x.n.cfg.Waits).After(now.Add(early)):
			l.busy, l.asks, l.tried = true, true, now
			dst = append(dst, l)
		case l.ping.worn(now):
			l.busy, l.asks = true, false
			dst = append(dst, l)
		}
		if at := l.due(&x.n.cfg.Waits); at.After(now) { // else it is busy, and tells when it is not
			next = earlier(next, at)
		}
	}
	return dst, next
}

// attend pings a link's peer, or only gives up a stream that is worn.
func (x *links) attend(l *link) {
	var rtt time.Duration
	var err error
	if l.asks {
		rtt, err = l.ping.ping(l.ctx, l.patience(time.Now(), &x.n.cfg.Waits))
	} else {
		l.ping.reset()
	}
	x.mu.Lock()
	l.busy = false
	gone := l.ctx.Err() != nil
	now := time.Now()
	switch {
	case gone || !l.asks:
	case err == nil:
		l.seen(now)
		x.measured(l, rtt, now)
	case errors.Is(err, multistream.ErrNotSupported[protocol.ID]{}):
		l.foreign = true
	}
	if !l.due(&x.n.cfg.Waits).After(now) {
		x.signal()
	}
	x.mu.Unlock()
	switch {
	case gone:
		l.ping.reset()
	case err != nil && timedOut(err) && now.Sub(l.heard()) >= x.n.cfg.Waits.Dead:
		x.n.counts.add(countPeerDead)
		x.n.log.Info("connection closed: no sign of life", "peer", l.id)
		x.n.host.Network().ClosePeer(l.id) // whose streams then end, and the link
	}
}

// measured tells the cohorts a round trip that is news to them. It is called with mu
// held.
func (x *links) measured(l *link, rtt time.Duration, now time.Time) {
	l.measured = now
	if !l.news(rtt) {
		return
	}
	l.told = rtt
	for c := range l.cohorts {
		c.measured(l.id, rtt)
	}
}
