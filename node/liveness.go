package node

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
	"github.com/multiformats/go-multistream"
)

// protectTag marks connections that the connection manager must keep.
const protectTag = "treecast"

// pingsPerStream is how often one ping stream is used. The other end's service
// gives a stream 30 s in all.
const pingsPerStream = 4

// links watches the connections of parents and children: a peer that gives no
// sign of life is cut off, so that its streams end (PROTOCOL §5 Death). Frames
// count as life, so that pings queueing behind data of a slow line cut nobody off.
type links struct {
	n *Node

	mu    sync.RWMutex
	peers map[peer.ID]*link
}

// link is one watched peer.
type link struct {
	id      peer.ID
	last    atomic.Int64 // last sign of life, Unix nanoseconds
	cohorts map[*Cohort]int
	cancel  context.CancelFunc
}

func newLinks(n *Node) *links { return &links{n: n, peers: make(map[peer.ID]*link)} }

// watch adds one attachment of a peer.
func (x *links) watch(p peer.ID, c *Cohort) {
	x.mu.Lock()
	defer x.mu.Unlock()
	l := x.peers[p]
	if l == nil {
		ctx, cancel := context.WithCancel(context.Background())
		l = &link{id: p, cohorts: make(map[*Cohort]int), cancel: cancel}
		l.last.Store(time.Now().UnixNano())
		x.peers[p] = l
		x.n.host.ConnManager().Protect(p, protectTag)
		x.n.wg.Go(func() { x.run(ctx, l) }) // ends with the last attachment
	}
	l.cohorts[c]++
}

// unwatch takes away one attachment of a peer.
func (x *links) unwatch(p peer.ID, c *Cohort) {
	x.mu.Lock()
	defer x.mu.Unlock()
	l := x.peers[p]
	if l.cohorts[c]--; l.cohorts[c] == 0 {
		delete(l.cohorts, c)
	}
	if len(l.cohorts) == 0 {
		l.cancel()
		delete(x.peers, p)
		x.n.host.ConnManager().Unprotect(p, protectTag)
	}
}

// seen notes a sign of life of a peer, watched or not.
func (x *links) seen(p peer.ID) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if l := x.peers[p]; l != nil {
		l.last.Store(time.Now().UnixNano())
	}
}

// run pings one peer until its last attachment is gone.
func (x *links) run(ctx context.Context, l *link) {
	p := pinger{n: x.n, id: l.id, timeout: x.n.cfg.Waits.Dead - x.n.cfg.Waits.Ping}
	defer p.reset()
	tick := time.NewTicker(x.n.cfg.Waits.Ping)
	defer tick.Stop()
	for {
		rtt, err := p.ping(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			l.last.Store(time.Now().UnixNano())
			x.measured(l, rtt)
		case errors.Is(err, multistream.ErrNotSupported[protocol.ID]{}):
			return // then the transport's own keepalive has to do
		case !timedOut(err):
			// The peer, or the end of the connection, answered somehow.
		case time.Since(time.Unix(0, l.last.Load())) >= x.n.cfg.Waits.Dead:
			x.n.counts.add(countPeerDead)
			x.n.log.Info("connection closed: no sign of life", "peer", l.id)
			x.n.host.Network().ClosePeer(l.id) // whose streams then end, which ends this
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (x *links) measured(l *link, rtt time.Duration) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for c := range l.cohorts {
		c.measured(l.id, rtt)
	}
}

// pinger keeps one ping stream to a peer.
type pinger struct {
	n       *Node
	id      peer.ID
	timeout time.Duration
	raw     network.Stream // nil: none open
	used    int
}

// ping sends 32 random bytes and waits for them to come back.
func (p *pinger) ping(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	if p.raw == nil {
		raw, err := p.n.host.NewStream(network.WithNoDial(ctx, "ping"), p.id, ping.ID)
		if err != nil {
			return 0, err
		}
		p.raw, p.used = raw, 0
	}
	raw := p.raw
	stop := context.AfterFunc(ctx, func() { raw.SetDeadline(time.Unix(1, 0)) })
	rtt, err := p.echo()
	if p.used++; !stop() || err != nil || p.used == pingsPerStream {
		p.reset()
	}
	return rtt, err
}

func (p *pinger) echo() (time.Duration, error) {
	var sent, got [ping.PingSize]byte
	rand.Read(sent[:])
	begin := time.Now()
	if _, err := p.raw.Write(sent[:]); err != nil {
		return 0, err
	}
	if _, err := io.ReadFull(p.raw, got[:]); err != nil {
		return 0, err
	}
	if got != sent {
		return 0, errors.New("node: ping answered with other bytes")
	}
	return time.Since(begin), nil
}

func (p *pinger) reset() {
	if p.raw != nil {
		p.raw.Reset()
		p.raw = nil
	}
}
