package node

import (
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// watched makes links of those peers at a time, which no goroutine attends to.
func watched(now time.Time, ids ...peer.ID) (*links, *Node) {
	n := &Node{cfg: Config{Waits: Waits{Ping: 5 * time.Second, Dead: 10 * time.Second}}}
	x := newLinks(n)
	for _, id := range ids {
		x.peers[id] = newLink(n, id, now)
	}
	return x, n
}

// planned are the peers that a plan has pinged, in order of their IDs, and those
// whose stream is given up.
func planned(x *links, now time.Time) (pinged, worn []peer.ID, next time.Time) {
	due, next := x.plan(now, nil)
	for _, l := range due {
		if l.asks {
			pinged = append(pinged, l.id)
		} else {
			worn = append(worn, l.id)
		}
	}
	slices.Sort(pinged)
	slices.Sort(worn)
	return pinged, worn, next
}

// done ends what a plan has begun: an answer after a millisecond, or none.
func done(x *links, now time.Time, answered bool, ids ...peer.ID) {
	for _, id := range ids {
		l := x.peers[id]
		l.busy = false
		if answered {
			l.seen(now.Add(time.Millisecond))
			l.measured = now.Add(time.Millisecond)
		}
	}
}

// TestPingsAreForTheQuiet: a peer whose frames come is not pinged, but for the round
// trip now and then; one that falls quiet is, within the wait between pings.
func TestPingsAreForTheQuiet(t *testing.T) {
	begin := time.Now()
	x, n := watched(begin, "quiet", "sends")
	pinged, _, next := planned(x, begin)
	if !slices.Equal(pinged, []peer.ID{"quiet", "sends"}) {
		t.Fatalf("new ones pinged: %q", pinged)
	}
	done(x, begin, true, pinged...)
	counts := map[peer.ID]int{}
	looks := 0
	for next.Sub(begin) < 10*time.Minute {
		now := next
		looks++
		x.peers["sends"].seen(now.Add(-25 * time.Millisecond))
		pinged, _, next = planned(x, now)
		if !next.After(now) {
			t.Fatalf("the next look at %v is not after %v", next.Sub(begin), now.Sub(begin))
		}
		for _, id := range pinged {
			if gap := now.Sub(x.peers[id].heard()); id == "quiet" && gap > n.cfg.Waits.Ping {
				t.Errorf("pinged %v after the last sign of life", gap)
			}
			counts[id]++
		}
		done(x, now, true, pinged...)
	}
	if counts["quiet"] < 119 || counts["quiet"] > 122 {
		t.Errorf("a quiet peer was pinged %d times in 10 min", counts["quiet"])
	}
	if counts["sends"] < 9 || counts["sends"] > 10 {
		t.Errorf("one that sends was pinged %d times in 10 min", counts["sends"])
	}
	if looks > 125 {
		t.Errorf("looked %d times", looks)
	}
	last := begin.Add(11 * time.Minute) // from now on nothing comes
	x.peers["sends"].seen(last)
	pinged, _, next = planned(x, last)
	done(x, last, true, pinged...) // the round trips
	x.peers["sends"].seen(last)
	for at := next; ; at = next {
		pinged, _, next = planned(x, at)
		if gap := at.Sub(last); gap > n.cfg.Waits.Ping {
			t.Fatalf("not pinged within %v", gap)
		}
		if slices.Contains(pinged, "sends") {
			return
		}
		done(x, at, true, pinged...)
	}
}

// TestPingsTogether: links that are due at about the same time share a look.
func TestPingsTogether(t *testing.T) {
	begin := time.Now()
	ids := []peer.ID{"a", "b", "c", "d"}
	x, _ := watched(begin, ids...)
	for i, id := range ids {
		x.peers[id].tried = begin
		x.peers[id].seen(begin.Add(time.Duration(i) * 300 * time.Millisecond))
	}
	_, _, next := planned(x, begin.Add(time.Second))
	if want := begin.Add(5 * time.Second); !next.Equal(want) {
		t.Errorf("looks again after %v", next.Sub(begin))
	}
	if pinged, _, _ := planned(x, next); !slices.Equal(pinged, ids) {
		t.Errorf("pinged %q", pinged)
	}
}

// TestPingUnderWay is not repeated, and its link is not waited for once it is overdue:
// that would be a loop without a pause.
func TestPingUnderWay(t *testing.T) {
	begin := time.Now()
	x, n := watched(begin, "slow")
	if pinged, _, next := planned(x, begin); len(pinged) != 1 || !next.Equal(begin.Add(n.cfg.Waits.Ping)) {
		t.Fatalf("pinged %q, next %v", pinged, next.Sub(begin))
	}
	now := begin.Add(6 * time.Second)
	if pinged, worn, next := planned(x, now); len(pinged)+len(worn) > 0 || !next.IsZero() {
		t.Errorf("pinged %q, given up %q, next %v", pinged, worn, next.Sub(begin))
	}
	done(x, now, false, "slow") // it timed out, yet frames came meanwhile
	x.peers["slow"].seen(now)
	if pinged, _, next := planned(x, now); len(pinged) > 0 || !next.Equal(now.Add(n.cfg.Waits.Ping)) {
		t.Errorf("pinged %q, next %v", pinged, next.Sub(now))
	}
	x.peers["slow"].foreign = true
	if pinged, _, next := planned(x, now.Add(time.Hour)); len(pinged) > 0 || !next.IsZero() {
		t.Errorf("pinged %q, next %v", pinged, next.Sub(now))
	}
}

// TestPingPatience: a peer counts as dead the full wait after its last sign of life,
// whenever it was pinged.
func TestPingPatience(t *testing.T) {
	begin := time.Now()
	_, n := watched(begin)
	l := newLink(n, "a", begin)
	for _, tc := range []struct{ silent, want time.Duration }{
		{0, 10 * time.Second},
		{4 * time.Second, 6 * time.Second},
		{5 * time.Second, 5 * time.Second},
		{9 * time.Second, 5 * time.Second}, // it was pinged before, for something else
	} {
		if got := l.patience(begin.Add(tc.silent), &n.cfg.Waits); got != tc.want {
			t.Errorf("silent for %v: %v, want %v", tc.silent, got, tc.want)
		}
	}
}

// TestRoundTripNews: cohorts hear of a round trip that matters to a deadline.
func TestRoundTripNews(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		told, now time.Duration
		want      bool
	}{
		{0, ms / 10, true},
		{ms / 10, ms, false},
		{ms / 10, 2 * ms, true},
		{100 * ms, 125 * ms, false},
		{100 * ms, 126 * ms, true},
		{100 * ms, 74 * ms, true},
		{2 * ms, ms / 10, true},
	} {
		l := &link{told: tc.told}
		if got := l.news(tc.now); got != tc.want {
			t.Errorf("%v after %v: %v", tc.now, tc.told, got)
		}
	}
}

// TestWornPingStream: a stream is given up before the other end's service gives it up,
// also when nothing is to be pinged.
func TestWornPingStream(t *testing.T) {
	begin := time.Now()
	x, _ := watched(begin, "a")
	l := x.peers["a"]
	l.tried, l.ping.raw, l.ping.opened, l.ping.used = begin, struct{ network.Stream }{}, begin, begin
	for _, at := range []time.Duration{4, 8, 12} {
		now := begin.Add(at * time.Second)
		l.seen(now)
		pinged, worn, _ := planned(x, now)
		if len(pinged) > 0 || (len(worn) == 1) != (at == 12) {
			t.Errorf("after %d s: pinged %q, given up %q", at, pinged, worn)
		}
	}
	p := pinger{raw: l.ping.raw, opened: begin, used: begin.Add(20 * time.Second)}
	if p.worn(begin.Add(24*time.Second)) || !p.worn(begin.Add(25*time.Second)) {
		t.Error("used for less or more than its time")
	}
	p.raw = nil
	if p.worn(begin.Add(time.Hour)) {
		t.Error("there is none")
	}
}
