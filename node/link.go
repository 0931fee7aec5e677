package node

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// remeasure is after how many times the wait between pings a peer that is not pinged,
// as it gives other signs of life, is pinged for the round trip alone. That goes into
// deadlines of probes and of questions about silences, which have to be right within
// a few ms.
const remeasure = 12

// told round trips are wrong by at most roundTripStep, or one part in roundTripPart.
const (
	roundTripStep = time.Millisecond
	roundTripPart = 4
)

// link is one watched peer. What does not say otherwise is guarded by links.mu.
type link struct {
	id      peer.ID
	begin   time.Time    // when it was made
	life    atomic.Int64 // the last sign of life, nanoseconds after begin; not guarded
	cohorts map[*Cohort]int
	ctx     context.Context
	cancel  context.CancelFunc

	foreign  bool          // it serves no pings: the transport's own keepalive has to do
	tried    time.Time     // the last ping; zero: none yet
	measured time.Time     // the last that was answered, or begin
	told     time.Duration // the round trip that the cohorts know; 0 = none
	busy     bool          // a goroutine attends to it: asks and ping are that one's
	asks     bool          // by a ping; else it gives up a worn stream
	ping     pinger
}

func newLink(n *Node, id peer.ID, now time.Time) *link {
	ctx, cancel := context.WithCancel(context.Background())
	return &link{
		id: id, begin: now, measured: now, cohorts: make(map[*Cohort]int),
		ctx: ctx, cancel: cancel, ping: pinger{n: n, id: id},
	}
}

// seen notes a sign of life. Anybody may call it.
func (l *link) seen(now time.Time) { l.life.Store(int64(now.Sub(l.begin))) }

// heard is when the last sign of life came.
func (l *link) heard() time.Time { return l.begin.Add(time.Duration(l.life.Load())) }

// due is when the peer is to be pinged: at once when it is new, then when it has given
// no sign of life for the wait between pings, and now and then for the round trip.
func (l *link) due(w *Waits) time.Time {
	if l.tried.IsZero() {
		return l.begin
	}
	at := earlier(l.heard().Add(w.Ping), l.measured.Add(remeasure*w.Ping))
	if again := l.tried.Add(w.Ping); at.Before(again) {
		return again
	}
	return at
}

// patience is how long a ping of now may take: until the peer counts as dead, which it
// does when the ping has failed by then and nothing else came.
func (l *link) patience(now time.Time, w *Waits) time.Duration {
	return max(w.Dead-now.Sub(l.heard()), w.Dead-w.Ping)
}

// news says whether the cohorts should be told a round trip.
func (l *link) news(rtt time.Duration) bool {
	return l.told == 0 || (rtt-l.told).Abs() > max(roundTripStep, l.told/roundTripPart)
}
