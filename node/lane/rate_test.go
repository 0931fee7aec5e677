package lane

import (
	"net/netip"
	"testing"
	"time"
)

func TestBucket(t *testing.T) {
	now := time.Unix(0, 0)
	b := newBucket(10)
	if wait := b.take(now, 10); wait != 0 {
		t.Errorf("a second's worth waits %v", wait)
	}
	if wait := b.take(now, 5); wait != 500*time.Millisecond {
		t.Errorf("half of one more waits %v", wait)
	}
	now = now.Add(time.Second)
	if wait := b.take(now, 5); wait != 0 {
		t.Errorf("what is paid back waits %v", wait)
	}
	now = now.Add(time.Hour)
	if !b.full(now) {
		t.Error("not full after an hour")
	}
	if wait := b.take(now, 30); wait != 2*time.Second {
		t.Errorf("more is saved up than a second's worth: %v", wait)
	}
	none := newBucket(-1)
	if wait := none.take(now, 1e12); wait != 0 || !none.full(now) {
		t.Errorf("no limit waits %v", wait)
	}
}

func TestSourceOf(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.1":         "192.0.2.1/32",
		"::ffff:192.0.2.1":  "192.0.2.1/32",
		"2001:db8::1:2:3:4": "2001:db8::/64",
		"fe80::1%eth0":      "fe80::/64",
	} {
		if got := sourceOf(netip.MustParseAddr(addr)); got.String() != want {
			t.Errorf("%s: %v, want %s", addr, got, want)
		}
	}
}

// TestSources: rates outlive connections, the bound on their number holds.
func TestSources(t *testing.T) {
	now := time.Unix(0, 0)
	s := newSources(&IngressLimits{Objects: 1, Bytes: -1, SourceConns: 1})
	from := sourceOf(netip.MustParseAddr("192.0.2.1"))
	src, ok := s.enter(now, from)
	if !ok {
		t.Fatal("refused")
	}
	if _, ok := s.enter(now, from); ok {
		t.Error("a second connection was let in")
	}
	src.object(now)
	s.leave(now, from)
	again, ok := s.enter(now, from)
	if !ok || again.object(now) == 0 {
		t.Error("connecting anew paid the debt back")
	}
	for i := range 2 * maxSources {
		one := sourceOf(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
		src, ok := s.enter(now, one)
		if !ok {
			t.Fatal("refused")
		}
		src.object(now)
		s.leave(now, one)
	}
	if n := len(s.from); n > maxSources {
		t.Errorf("%d sources are kept, want at most %d", n, maxSources)
	}
	if s.from[from] != again {
		t.Error("a connected source was swept away")
	}
}
