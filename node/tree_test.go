package node_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"treecast/node"
	"treecast/tree"
	"treecast/wire"
)

// publishAll publishes payload(first) to payload(first+count-1) under indices of
// their own and waits for all receipts.
func publishAll(t testing.TB, pub *node.Publisher, first, count int) {
	t.Helper()
	receipts := make(chan error, count)
	for i := first; i < first+count; i++ {
		pub.PublishAtAsync(uint64(i), payload(i), func(err error) { receipts <- err })
	}
	for i := range count {
		select {
		case err := <-receipts:
			if err != nil {
				t.Fatalf("receipt %d: %v", i, err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("no receipt %d", i)
		}
	}
}

func publisher(t testing.TB, c *node.Cohort, n *node.Node) *node.Publisher {
	t.Helper()
	key, err := n.PublisherKey()
	if err != nil {
		t.Fatal(err)
	}
	pub, err := c.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pub.Close)
	return pub
}

// TestSlowChild has a child that never reads: its stream is reset with the code
// that says so, and another child gets every chunk.
func TestSlowChild(t *testing.T) {
	key := newKey(t)
	spec := feed("slow", key)
	n := start(t, node.Config{Limits: node.Limits{QueueFrames: 256}})
	c := open(t, n, spec, 8)
	good := start(t, node.Config{})
	child := join(t, good, n, spec.Topic, -1)
	attached(t, child, 1)
	s := rawStream(t, rawPeer(t, n), n)
	write(t, s, subscribeFrame(spec.Topic))
	eventually(t, "both are children", func() bool { return len(c.View().Children) == 2 })

	sub := subscribe(t, child)
	defer sub.Close()
	pub, err := c.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	defer pub.Close()
	const burst = 100 // less than fills the queue of a child that reads
	for i := range 20 {
		publishAll(t, pub, i*burst, burst)
		receive(t, sub, wire.Owner(key.Owner()), i*burst, burst)
	}
	eventually(t, "the slow child is gone", func() bool { return len(c.View().Children) == 1 })
	if got := c.Counters()[tree.CountSlow]; got != 1 {
		t.Errorf("counted %d slow children", got)
	}
	_, err = io.Copy(io.Discard, s)
	var reset *network.StreamError
	if !errors.As(err, &reset) || !reset.Remote || reset.ErrorCode != 0x510 {
		t.Errorf("the slow child reads %v, want a reset with code 0x510", err)
	}
}

// TestBeingSlow is reset as slow three times by a parent: the node says so.
func TestBeingSlow(t *testing.T) {
	spec := feed("being slow", newKey(t))
	h := rawHost(t, libp2p.ListenAddrStrings(loopbackTCP))
	h.SetStreamHandler(node.ProtocolID, func(s network.Stream) {
		buf, err := wire.NewReader(s, wire.NewPool()).Next()
		if err != nil {
			s.Reset()
			return
		}
		buf.Release()
		ack := wire.Ack{Status: wire.StatusOK, Spec: &spec}
		s.Write(wire.AppendFrame(nil, ack.Append(nil)))
		time.Sleep(20 * time.Millisecond) // so that the Ack is read before the reset
		s.ResetWithError(0x510)
	})
	entries, err := peer.AddrInfoToP2pAddrs(&peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()})
	if err != nil {
		t.Fatal(err)
	}
	n := start(t, node.Config{Timing: tree.Timing{EntryWait: time.Millisecond, EntryWaitMax: 10 * time.Millisecond}})
	slow := make(chan struct{}, 1)
	c, err := n.Join(node.CohortOptions{Topic: spec.Topic, Entries: entries, Report: func(r tree.Report) {
		if r.Kind == tree.ReportSlow {
			slow <- struct{}{}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-slow:
	case <-time.After(20 * time.Second):
		t.Errorf("not reported; %v", c.View())
	}
}

// TestHeal builds a broker, three relays and a leaf with two of them as parents,
// and closes the parents one after the other while chunks flow.
func TestHeal(t *testing.T) {
	broker := start(t, node.Config{Capacity: 3})
	key, err := broker.PublisherKey() // kept nowhere, so fresh at every call
	if err != nil {
		t.Fatal(err)
	}
	spec := feed("heal", key)
	top := open(t, broker, spec, 3)
	relays := make(map[wire.Overlay]*node.Node)
	for range 3 {
		r := start(t, node.Config{})
		attached(t, join(t, r, broker, spec.Topic, 0), 1)
		relays[r.Overlay()] = r
	}
	leaf := start(t, node.Config{})
	bottom := join(t, leaf, broker, spec.Topic, -1)
	attached(t, bottom, 2)
	sub := subscribe(t, bottom)
	defer sub.Close()
	pub, err := top.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	defer pub.Close()

	const each = 50
	for round := range 3 {
		publishAll(t, pub, round*each, each)
		receive(t, sub, wire.Owner(key.Owner()), round*each, each)
		if round == 2 {
			break
		}
		victim := bottom.View().Parents[0].Peer
		if err := relays[victim].Close(); err != nil {
			t.Fatal(err)
		}
		delete(relays, victim)
		want := min(2, len(relays))
		eventually(t, "the leaf has healed", func() bool {
			v := bottom.View()
			for _, p := range v.Parents {
				if p.Peer == victim {
					return false
				}
			}
			return len(v.Parents) >= want
		})
	}
}

// TestRestart closes a broker and starts it again from its data directory.
func TestRestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "node")
	cfg := node.Config{DataDir: dir, Listen: []string{loopbackTCP}}
	first, err := node.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	key, err := first.PublisherKey()
	if err != nil {
		t.Fatal(err)
	}
	spec := feed("restart", key)
	c := open(t, first, spec, 0)
	pub := publisher(t, c, first)
	publishAll(t, pub, 0, 3)
	index, err := pub.Reserve(3)
	if err != nil || index != 0 {
		t.Fatal(index, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if _, err := first.Open(spec); !errors.Is(err, node.ErrClosed) {
		t.Errorf("open after close: %v", err)
	}
	if _, err := pub.Publish(context.Background(), payload(0)); !errors.Is(err, node.ErrClosed) {
		t.Errorf("publish after close: %v", err)
	}

	second := start(t, cfg)
	if second.ID() != first.ID() || second.Overlay() != first.Overlay() {
		t.Error("another identity after a restart")
	}
	again := second.Cohort(spec.Topic)
	if again == nil {
		t.Fatal("the cohort was not reopened")
	}
	if same := open(t, second, spec, 0); same != again {
		t.Error("opening it once more made another")
	}
	other := spec
	other.Closed = true
	if _, err := second.Open(other); !errors.Is(err, node.ErrServed) {
		t.Errorf("open with another spec: %v", err)
	}
	pub = publisher(t, again, second)
	if index, err := pub.Publish(context.Background(), payload(1024)); err != nil || index != 1024 {
		t.Errorf("after a restart index %d, %v; want the next block's first", index, err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	third := start(t, cfg)
	if third.Cohort(spec.Topic) != nil {
		t.Error("a closed cohort was reopened")
	}
}

// TestGivenHost runs a node on a host that was made elsewhere and outlives it.
func TestGivenHost(t *testing.T) {
	h, err := libp2p.New(libp2p.ListenAddrStrings(loopbackTCP), libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	overlay := wire.Overlay{7}
	key := newKey(t)
	spec := feed("given", key)
	n := start(t, node.Config{Host: h, Overlay: &overlay})
	if n.Overlay() != overlay || n.ID() != h.ID() {
		t.Error("not the identity that was given")
	}
	c := open(t, n, spec, 0)
	peer := start(t, node.Config{})
	child, err := peer.Join(node.CohortOptions{Topic: spec.Topic, Entries: n.Addrs(), Spec: &spec})
	if err != nil {
		t.Fatal(err)
	}
	attached(t, child, 1)
	if v := c.View(); len(v.Children) != 1 || v.Children[0].Peer != peer.Overlay() {
		t.Errorf("children %v", v.Children)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child notices", func() bool { return len(child.View().Parents) == 0 })
	if len(h.Network().ListenAddresses()) == 0 {
		t.Error("the host was closed with the node")
	}
}

// TestRefusedEntry tells who waits why it does not get in.
func TestRefusedEntry(t *testing.T) {
	n, joiner := start(t, node.Config{}), start(t, node.Config{})
	c := join(t, joiner, n, wire.Topic{1}, 0)
	eventually(t, "the entry point refuses", func() bool { return n.Stats().Counters["unknown_topic"] > 0 })
	time.Sleep(50 * time.Millisecond) // until the answer is there
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	err := c.WaitAttached(ctx, 1)
	var refused *node.AckError
	if !errors.As(err, &refused) || refused.Status != wire.StatusUnknownTopic || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting ended with %v", err)
	}
	if _, err := joiner.Join(node.CohortOptions{Topic: wire.Topic{1}}); !errors.Is(err, node.ErrServed) {
		t.Errorf("second join: %v", err)
	}
}

// TestOpenByPeer lets a peer open cohorts, up to its bound, and reclaims those
// that nobody uses.
func TestOpenByPeer(t *testing.T) {
	n := start(t, node.Config{
		DataDir: t.TempDir(), OpenPolicy: node.OpenAnyone,
		Limits: node.Limits{OpenedPerPeer: 2}, Waits: node.Waits{Idle: 300 * time.Millisecond},
	})
	h := rawPeer(t, n)
	key := newKey(t)
	answers := []wire.Status{wire.StatusOK, wire.StatusOK, wire.StatusFull}
	var streams []network.Stream
	for i, want := range answers {
		s := rawStream(t, h, n)
		write(t, s, openFrame(feed(string(rune('a'+i)), key)))
		if ack := readAck(t, wire.NewReader(s, wire.NewPool())); ack.Status != want {
			t.Errorf("open %d: %v, want %v", i, ack.Status, want)
		}
		streams = append(streams, s)
	}
	if got := n.Stats().Counters["opened_per_peer"]; got != 1 {
		t.Errorf("counted %d", got)
	}
	streams[0].Reset()
	eventually(t, "the idle one is reclaimed", func() bool { return n.Stats().Counters["reclaimed"] == 1 })
	if got := len(n.Cohorts()); got != 1 {
		t.Errorf("%d cohorts left", got)
	}
}

// TestDeadPeer cuts a parent off that takes data but answers nothing: its
// connection is closed although the transport sees nothing wrong.
func TestDeadPeer(t *testing.T) {
	key := newKey(t)
	spec := feed("dead", key)
	n := start(t, node.Config{Waits: node.Waits{Ping: 50 * time.Millisecond, Dead: 200 * time.Millisecond}})
	c := open(t, n, spec, 8)
	h := rawPeer(t, n)
	h.SetStreamHandler("/ipfs/ping/1.0.0", func(s network.Stream) { io.Copy(io.Discard, s) })
	s := rawStream(t, h, n)
	write(t, s, subscribeFrame(spec.Topic))
	if ack := readAck(t, wire.NewReader(s, wire.NewPool())); ack.Status != wire.StatusOK {
		t.Fatal(ack.Status)
	}
	eventually(t, "the child is gone", func() bool { return len(c.View().Children) == 0 })
	if got := n.Stats().Counters["peer_dead"]; got == 0 {
		t.Error("not counted")
	}
}

// TestRoundTrips shows the measured round trip of a parent and a child.
func TestRoundTrips(t *testing.T) {
	key := newKey(t)
	spec := feed("rtt", key)
	n, m := start(t, node.Config{}), start(t, node.Config{})
	c := open(t, n, spec, 0)
	child := join(t, m, n, spec.Topic, 0)
	attached(t, child, 1)
	eventually(t, "the connection is protected", func() bool {
		return n.Host().ConnManager().IsProtected(m.ID(), "") && m.Host().ConnManager().IsProtected(n.ID(), "")
	})
	eventually(t, "both ends have measured", func() bool {
		up, down := child.View().Parents, c.View().Children
		return len(up) == 1 && up[0].RTT > 0 && len(down) == 1 && down[0].RTT > 0
	})
}

// TestRoundTripIsShared: a cohort that comes to a link which others measured learns the
// round trip without another ping.
func TestRoundTripIsShared(t *testing.T) {
	key := newKey(t)
	waits := node.Waits{Ping: time.Hour, Dead: 2 * time.Hour}
	n, m := start(t, node.Config{Waits: waits}), start(t, node.Config{Waits: waits})
	for _, name := range []string{"first", "second"} {
		spec := feed(name, key)
		c := open(t, n, spec, 0)
		child := join(t, m, n, spec.Topic, 0)
		attached(t, child, 1)
		eventually(t, "both ends know it", func() bool {
			up, down := child.View().Parents, c.View().Children
			return len(up) == 1 && up[0].RTT > 0 && len(down) == 1 && down[0].RTT > 0
		})
	}
}
