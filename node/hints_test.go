package node

import (
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"treecast/wire"
	"treecast/wire/soc"
)

func testPeer(t testing.TB) (peer.ID, wire.Overlay) {
	t.Helper()
	key, err := soc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	id, err := IdentityOf(key, 1)
	if err != nil {
		t.Fatal(err)
	}
	return id.PeerID, id.Overlay
}

func deriveTest(p peer.ID) (wire.Overlay, error) { return overlayOfPeer(p, 1), nil }

// TestHintRules checks which addresses are believed (PROTOCOL §6).
func TestHintRules(t *testing.T) {
	id, overlay := testPeer(t)
	other, _ := testPeer(t)
	for _, tc := range []struct {
		addr    string // %s is the peer ID
		from    scope
		allow   bool
		believe bool
	}{
		{"/ip4/8.8.8.8/tcp/1634/p2p/%s", scopeGlobal, false, true},
		{"/ip4/8.8.8.8/udp/1634/quic-v1/p2p/%s", scopeGlobal, false, true},
		{"/ip6/2606:4700::1111/tcp/1634/p2p/%s", scopeGlobal, false, true},
		{"/ip4/8.8.8.8/tcp/443/p2p/%s", scopeGlobal, false, true},
		{"/ip4/8.8.8.8/tcp/1023/p2p/%s", scopeGlobal, false, false},
		{"/ip4/8.8.8.8/tcp/22/p2p/%s", scopeGlobal, true, false},
		{"/ip4/8.8.8.8/tcp/0/p2p/%s", scopeGlobal, false, false},
		{"/ip4/8.8.8.8/tcp/1634", scopeGlobal, false, false},
		{"/ip4/8.8.8.8/tcp/1634/p2p/" + other.String(), scopeGlobal, false, false},
		{"/ip4/8.8.8.8/tcp/1634/ws/p2p/%s", scopeGlobal, false, false},
		{"/ip4/8.8.8.8/udp/1634/p2p/%s", scopeGlobal, false, false},
		{"/dns4/example.org/tcp/1634/p2p/%s", scopeGlobal, true, false},
		{"/ip4/10.0.0.1/tcp/1634/p2p/%s", scopeGlobal, false, false},
		{"/ip4/10.0.0.1/tcp/1634/p2p/%s", scopePrivate, false, true},
		{"/ip4/10.0.0.1/tcp/1634/p2p/%s", scopeLoopback, false, true},
		{"/ip4/10.0.0.1/tcp/1634/p2p/%s", scopeRefused, false, false},
		{"/ip4/10.0.0.1/tcp/1634/p2p/%s", scopeGlobal, true, true},
		{"/ip4/100.64.0.1/tcp/1634/p2p/%s", scopeGlobal, false, false},
		{"/ip6/fd00::1/tcp/1634/p2p/%s", scopeGlobal, false, false},
		{"/ip4/127.0.0.1/tcp/1634/p2p/%s", scopePrivate, false, false},
		{"/ip4/127.0.0.1/tcp/1634/p2p/%s", scopeLoopback, false, true},
		{"/ip6/::1/tcp/1634/p2p/%s", scopeLoopback, false, true},
		{"/ip6/::ffff:127.0.0.1/tcp/1634/p2p/%s", scopeGlobal, false, false},
		{"/ip4/169.254.169.254/tcp/8080/p2p/%s", scopeLoopback, true, false},
		{"/ip6/fe80::1/tcp/1634/p2p/%s", scopeLoopback, true, false},
		{"/ip6zone/eth0/ip6/fe80::1/tcp/1634/p2p/%s", scopeLoopback, true, false},
		{"/ip4/0.0.0.0/tcp/1634/p2p/%s", scopeLoopback, true, false},
		{"/ip4/224.0.0.1/tcp/1634/p2p/%s", scopeLoopback, true, false},
		{"/ip4/8.8.8.8/tcp/1634/p2p/" + other.String() + "/p2p-circuit/p2p/%s", scopeGlobal, true, false},
	} {
		text := tc.addr
		if text[len(text)-2:] == "%s" {
			text = fmt.Sprintf(text, id)
		}
		a, err := multiaddr.NewMultiaddr(text)
		if err != nil {
			t.Fatal(text, err)
		}
		rules := hintRules{allowPrivate: tc.allow, derive: deriveTest}
		info, refused := rules.judge(overlay, [][]byte{a.Bytes()}, tc.from)
		if got := info.ID == id && len(info.Addrs) == 1; got != tc.believe || refused == 1 == got {
			t.Errorf("%s from scope %d, private allowed %v: believed %v, want %v", tc.addr, tc.from, tc.allow, got, tc.believe)
		}
	}
}

// TestHintBounds checks garbage and the number of addresses tried.
func TestHintBounds(t *testing.T) {
	id, overlay := testPeer(t)
	rules := hintRules{derive: deriveTest}
	var hints [][]byte
	for i := range 5 {
		hints = append(hints, multiaddr.StringCast(fmt.Sprintf("/ip4/8.8.8.%d/tcp/1634/p2p/%s", i+1, id)).Bytes())
	}
	hints = append(hints, nil, []byte{0xff}, []byte("garbage"), hints[0][:7])
	info, refused := rules.judge(overlay, hints, scopeGlobal)
	if len(info.Addrs) != maxHintAddrs || refused != 4 {
		t.Errorf("%d addresses to try, %d refused; want %d and 4", len(info.Addrs), refused, maxHintAddrs)
	}
}

// TestFailedHints checks that an address rests for a minute after it failed.
func TestFailedHints(t *testing.T) {
	var f failedHints
	now := time.Unix(1000, 0)
	addrs := func() []multiaddr.Multiaddr {
		return []multiaddr.Multiaddr{
			multiaddr.StringCast("/ip4/8.8.8.8/tcp/1"), multiaddr.StringCast("/ip4/8.8.8.8/tcp/2"),
		}
	}
	f.add(addrs()[:1], now)
	if got := f.filter(addrs(), now.Add(59*time.Second)); len(got) != 1 || !got[0].Equal(addrs()[1]) {
		t.Errorf("within a minute %v", got)
	}
	if got := f.filter(addrs(), now.Add(time.Minute)); len(got) != 2 {
		t.Errorf("after a minute %v", got)
	}
	for i := range maxFailedHints + 100 {
		f.add([]multiaddr.Multiaddr{multiaddr.StringCast(fmt.Sprintf("/ip4/1.1.%d.%d/tcp/1", i>>8, i&255))}, now)
	}
	if len(f.addrs) > maxFailedHints {
		t.Errorf("%d addresses remembered", len(f.addrs))
	}
}
