package node

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
)

// The other end's service gives a ping stream 30 s in all, and 10 s between two
// pings. One is used again while it is not near either.
const (
	pingStreamAge  = 24 * time.Second
	pingStreamRest = 8 * time.Second
)

// pinger keeps one ping stream to a peer. Its user calls one method at a time.
type pinger struct {
	n      *Node
	id     peer.ID
	raw    network.Stream // nil: none open
	opened time.Time
	used   time.Time
}

// worn says whether there is a stream that will not do for another ping.
func (p *pinger) worn(now time.Time) bool {
	return p.raw != nil && (now.Sub(p.opened) > pingStreamAge || now.Sub(p.used) > pingStreamRest)
}

// ping sends 32 random bytes and waits for them to come back, at most that long.
func (p *pinger) ping(ctx context.Context, timeout time.Duration) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	now := time.Now()
	if p.worn(now) {
		p.reset()
	}
	if p.raw == nil {
		raw, err := p.n.host.NewStream(network.WithNoDial(ctx, "ping"), p.id, ping.ID)
		if err != nil {
			return 0, err
		}
		p.raw, p.opened = raw, now
	}
	p.used = now
	raw := p.raw
	stop := context.AfterFunc(ctx, func() { raw.SetDeadline(time.Unix(1, 0)) })
	rtt, err := p.echo()
	if !stop() || err != nil {
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

// reset gives the stream up. It may block behind a stalled connection.
func (p *pinger) reset() {
	if p.raw != nil {
		p.raw.Reset()
		p.raw = nil
	}
}
