package node

import (
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// TestBlameWindow blocks at the eighth forged chunk within a minute, not before
// and not for those that lie further apart.
func TestBlameWindow(t *testing.T) {
	b := newBlocker(time.Minute, &counters{})
	now := time.Unix(1000, 0)
	for i := range 100 {
		if b.blame("slow", now.Add(time.Duration(i)*9*time.Second)) {
			t.Fatalf("blocked at the %dth, 9 s apart", i+1)
		}
	}
	for i := range 7 {
		if b.blame("fast", now.Add(time.Duration(i)*8*time.Second)) {
			t.Fatalf("blocked at the %dth, 8 s apart", i+1)
		}
	}
	if !b.blame("fast", now.Add(56*time.Second)) {
		t.Error("not blocked at the eighth within a minute")
	}
}

// TestBlockEnds refuses both directions, for as long as configured.
func TestBlockEnds(t *testing.T) {
	var c counters
	b := newBlocker(50*time.Millisecond, &c)
	if !b.InterceptPeerDial("p") || !b.InterceptSecured(network.DirInbound, "p", nil) {
		t.Error("a stranger is refused")
	}
	b.block("p", time.Now())
	if b.InterceptPeerDial("p") || b.InterceptSecured(network.DirInbound, "p", nil) {
		t.Error("not refused")
	}
	if got := c[countBlockedPeer].Load(); got != 2 {
		t.Errorf("counted %d", got)
	}
	time.Sleep(60 * time.Millisecond) // the time that is tested
	if b.blocked("p") {
		t.Error("still refused")
	}
}

// TestBlockerBounds keeps what it remembers within its bound.
func TestBlockerBounds(t *testing.T) {
	b := newBlocker(time.Hour, &counters{})
	now := time.Unix(1000, 0)
	for i := range maxBlamed + 100 {
		p := peer.ID([]byte{byte(i >> 16), byte(i >> 8), byte(i)})
		b.blame(p, now)
		b.block(p, now)
	}
	if len(b.blames) > maxBlamed || len(b.until) > maxBlamed {
		t.Errorf("%d blamed, %d blocked", len(b.blames), len(b.until))
	}
}
