package node_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"

	"treecast/node"
	"treecast/node/retain"
	"treecast/node/retain/order"
	"treecast/tree"
	"treecast/wire"
)

// inOrder takes the chunks first to first+count-1, in order and none late, and
// compares every byte.
func inOrder(t testing.TB, s *node.Subscription, first, count int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for i := first; i < first+count; i++ {
		m, err := s.Next(ctx)
		switch {
		case err != nil:
			t.Fatalf("waiting for %d: %v", i, err)
		case m.Gap != nil:
			t.Fatalf("waiting for %d: gap %+v", i, *m.Gap)
		case !m.HasIndex || m.Index != uint64(i) || m.Late:
			t.Fatalf("got index %d (late: %v), want %d", m.Index, m.Late, i)
		case !bytes.Equal(m.Payload, payload(i)):
			t.Fatalf("index %d has other bytes", i)
		}
		m.Release()
	}
}

// gapFollows takes word of a gap.
func gapFollows(t testing.TB, s *node.Subscription, want node.Gap) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	m, err := s.Next(ctx)
	if err != nil || m.Gap == nil || *m.Gap != want {
		t.Fatalf("got %+v, %v, want gap %+v", m, err, want)
	}
}

// patient holds chunks for as long as a slow machine may take to recover others.
var patient = order.Config{Hold: 20 * time.Second}

// cut ends a node as a crash would: nothing is said to anybody.
func cut(n *node.Node) { n.Host().Network().Close() }

func withGaps(t testing.TB, c *node.Cohort) *node.Subscription {
	t.Helper()
	s, err := c.Subscribe(node.SubscribeOptions{Gaps: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestBothParentsLost kills both parents of a leaf while chunks flow. It finds
// another, and what it missed it asks for.
func TestBothParentsLost(t *testing.T) {
	broker := start(t, node.Config{Capacity: 3})
	key := newKey(t)
	spec := feed("both parents", key)
	top := open(t, broker, spec, 3)
	relays := make(map[wire.Overlay]*node.Node)
	for range 3 {
		r := start(t, node.Config{})
		attached(t, join(t, r, broker, spec.Topic, 0), 1)
		relays[r.Overlay()] = r
	}
	leaf := start(t, node.Config{Recovery: patient})
	bottom := join(t, leaf, broker, spec.Topic, -1)
	attached(t, bottom, 2)
	sub := withGaps(t, bottom)
	pub, err := top.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	defer pub.Close()

	publishAll(t, pub, 0, 50)
	inOrder(t, sub, 0, 50)
	const flow = 3000
	published := make(chan error, flow)
	go func() { // ends with the last call
		for i := 50; i < 50+flow; i++ {
			pub.PublishAtAsync(uint64(i), payload(i), func(err error) { published <- err })
		}
	}()
	inOrder(t, sub, 50, 500)
	for _, p := range bottom.View().Parents {
		cut(relays[p.Peer])
	}
	inOrder(t, sub, 550, flow-500)
	for range flow {
		if err := <-published; err != nil {
			t.Fatal(err)
		}
	}
	if n := bottom.Counters()[tree.CountRecovered]; n == 0 {
		t.Error("nothing was recovered")
	}
	eventually(t, "all buffers are back", func() bool { return leaf.Stats().Buffers == 0 })
}

// TestRelayRecoversForItsChildren has a relay lose its parent; what it recovers
// reaches its child in order.
func TestRelayRecoversForItsChildren(t *testing.T) {
	broker := start(t, node.Config{})
	key := newKey(t)
	spec := feed("relay recovers", key)
	top := open(t, broker, spec, 3)
	relay, leaf := start(t, node.Config{}), start(t, node.Config{Recovery: patient})
	middle := join(t, relay, broker, spec.Topic, 0)
	attached(t, middle, 1)
	bottom := join(t, leaf, relay, spec.Topic, -1)
	attached(t, bottom, 1)
	sub := withGaps(t, bottom)
	pub, err := top.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	defer pub.Close()
	const flow = 500
	for next := 0; middle.Counters()[tree.CountRecovered] == 0; next += flow {
		if next == 40*flow {
			t.Fatal("the relay recovered nothing")
		}
		closed := make(chan error, 1)
		go func() { // ends with the connection
			time.Sleep(5 * time.Millisecond) // so that chunks flow; any moment will do
			closed <- relay.Host().Network().ClosePeer(broker.ID())
		}()
		publishAll(t, pub, next, flow)
		inOrder(t, sub, next, flow)
		<-closed
		attached(t, middle, 1)
	}
}

// TestEdgeRestart closes a node that keeps its chunks, and starts it again when
// others have come meanwhile: it goes on where it was.
func TestEdgeRestart(t *testing.T) {
	broker := start(t, node.Config{})
	key := newKey(t)
	spec := feed("edge restart", key)
	top := open(t, broker, spec, 0)
	pub, err := top.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	defer pub.Close()
	cfg := node.Config{DataDir: filepath.Join(t.TempDir(), "edge"), Retain: node.Retain{Size: 64 << 20}, Listen: []string{loopbackTCP}}
	for round := range 3 {
		edge, err := node.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		c := join(t, edge, broker, spec.Topic, -1)
		sub := withGaps(t, c)
		if round == 0 {
			attached(t, c, 1)
			publishAll(t, pub, 0, 100)
		}
		inOrder(t, sub, 100*round, 100)
		if n := c.Counters()[tree.CountRecovered]; (n == 0) != (round == 0) {
			t.Errorf("round %d: %d recovered", round, n)
		}
		if err := edge.Close(); err != nil {
			t.Fatal(err)
		}
		publishAll(t, pub, 100*round+100, 100)
	}
	edge, err := node.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer edge.Close()
	c := join(t, edge, broker, spec.Topic, -1)
	inOrder(t, withGaps(t, c), 300, 100)
	var p retain.Page
	if next, err := c.Read(wire.Owner(key.Owner()), 150, 159, &p); err != nil || next != 160 || len(p.Chunks) != 10 {
		t.Errorf("read %d chunks up to %d, %v", len(p.Chunks), next, err)
	}
}

// TestBrokerRestart publishes at a broker that keeps its chunks and starts it
// again. Those that it confirmed can be had from it, and the rest of its block of
// indices is no gap.
func TestBrokerRestart(t *testing.T) {
	cfg := node.Config{DataDir: filepath.Join(t.TempDir(), "broker"), Retain: node.Retain{Size: 64 << 20}, Listen: []string{loopbackTCP}}
	first, err := node.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	key := newKey(t)
	spec := feed("broker restart", key)
	leafCfg := node.Config{DataDir: filepath.Join(t.TempDir(), "leaf"), Retain: node.Retain{Size: 64 << 20}, Listen: []string{loopbackTCP}}
	leaf, err := node.New(leafCfg)
	if err != nil {
		t.Fatal(err)
	}
	top := open(t, first, spec, 0)
	bottom := join(t, leaf, first, spec.Topic, -1)
	attached(t, bottom, 1)
	sub := withGaps(t, bottom)
	pub, err := top.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pub.Reserve(40); err != nil {
		t.Fatal(err)
	}
	publishAll(t, pub, 0, 20)
	inOrder(t, sub, 0, 20)
	if err := leaf.Close(); err != nil {
		t.Fatal(err)
	}
	publishAll(t, pub, 20, 20)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}

	second := start(t, cfg)
	leaf = start(t, leafCfg)
	bottom = join(t, leaf, second, spec.Topic, -1)
	sub = withGaps(t, bottom)
	inOrder(t, sub, 20, 20)
	void := node.Gap{From: 40, To: 1023, Void: true}
	gapFollows(t, sub, void)
	own := withGaps(t, second.Cohort(spec.Topic))
	pub = func() *node.Publisher {
		pub, err := second.Cohort(spec.Topic).Publisher(key)
		if err != nil {
			t.Fatal(err)
		}
		return pub
	}()
	defer pub.Close()
	if index, err := pub.Publish(context.Background(), payload(1024)); err != nil || index != 1024 {
		t.Fatal(index, err)
	}
	inOrder(t, sub, 1024, 1)
	inOrder(t, own, 1024, 1)
}

// TestGapAndLate publishes with a hole: what comes behind it waits, then passes;
// what comes into it is late.
func TestGapAndLate(t *testing.T) {
	recovery := order.Config{Hold: 100 * time.Millisecond, EntryWait: 50 * time.Millisecond}
	broker := start(t, node.Config{Recovery: recovery})
	key := newKey(t)
	spec := feed("gap", key)
	top := open(t, broker, spec, 0)
	leaf := start(t, node.Config{Recovery: recovery})
	bottom := join(t, leaf, broker, spec.Topic, -1)
	attached(t, bottom, 1)
	subs := []*node.Subscription{withGaps(t, top), withGaps(t, bottom)}
	plain := subscribe(t, bottom)
	defer plain.Close()
	ctx := context.Background()
	publish := func(i int) {
		t.Helper()
		if err := top.Publish(ctx, signed(t, key, spec.Topic, uint64(i), string(payload(i)))); err != nil {
			t.Fatal(err)
		}
	}
	publish(0)
	publish(3)
	for _, s := range subs {
		inOrder(t, s, 0, 1)
		gapFollows(t, s, node.Gap{From: 1, To: 2})
		inOrder(t, s, 3, 1)
	}
	eventually(t, "all was asked for", func() bool { return leaf.Stats().Counters["recover_asked"] >= 3 })
	publish(2)
	for _, s := range append(subs, plain) {
		want := []uint64{2}
		if s == plain {
			want = []uint64{0, 3, 2}
		}
		for _, index := range want {
			m, err := s.Next(ctx)
			if err != nil || m.Gap != nil || m.Index != index || m.Late != (index == 2) {
				t.Fatalf("got %+v, %v, want %d", m, err, index)
			}
			m.Release()
		}
	}
	if n := broker.Stats().Counters["recover_answered"]; n == 0 {
		t.Error("the broker answered nothing")
	}
	eventually(t, "all buffers are back", func() bool { return broker.Stats().Buffers == 0 && leaf.Stats().Buffers == 0 })
}

// TestGapAcrossRestart closes a node while it recovers what it has passed by, and
// starts it again: it goes on with that, and what comes is late.
func TestGapAcrossRestart(t *testing.T) {
	broker := start(t, node.Config{Recovery: order.Config{Hold: 50 * time.Millisecond}})
	key := newKey(t)
	spec := feed("gap across restart", key)
	top := open(t, broker, spec, 0)
	cfg := node.Config{
		DataDir: filepath.Join(t.TempDir(), "edge"), Retain: node.Retain{Size: 64 << 20}, Listen: []string{loopbackTCP},
		Recovery: order.Config{Hold: 50 * time.Millisecond, EntryWait: 100 * time.Millisecond, Tries: 1 << 20},
	}
	edge, err := node.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := join(t, edge, broker, spec.Topic, -1)
	attached(t, c, 1)
	sub := withGaps(t, c)
	publish := func(i int) {
		t.Helper()
		if err := top.Publish(context.Background(), signed(t, key, spec.Topic, uint64(i), string(payload(i)))); err != nil {
			t.Fatal(err)
		}
	}
	publish(0)
	publish(3)
	inOrder(t, sub, 0, 1)
	gapFollows(t, sub, node.Gap{From: 1, To: 2})
	inOrder(t, sub, 3, 1)
	if err := edge.Close(); err != nil {
		t.Fatal(err)
	}
	edge = start(t, cfg)
	c = join(t, edge, broker, spec.Topic, -1)
	if got := c.Progress(nil); len(got) != 1 || got[0].Begin != 1 || got[0].Next != 4 || got[0].Firm != 1 {
		t.Errorf("progress after the restart: %+v", got)
	}
	attached(t, c, 1)
	cut(edge) // what is published now can only be recovered
	for i := range 2 {
		publish(1 + i)
	}
	if err := edge.Close(); err != nil {
		t.Fatal(err)
	}
	edge = start(t, cfg)
	c = join(t, edge, broker, spec.Topic, -1)
	eventually(t, "the gap is recovered", func() bool {
		got := c.Progress(nil)
		return len(got) == 1 && got[0].Firm == 4 && got[0].Late == 2
	})
	if n := c.Counters()[tree.CountRecovered]; n != 2 {
		t.Errorf("%d recovered", n)
	}
	publish(4)
	eventually(t, "nothing is lost", func() bool { return len(keptOf(t, c, wire.Owner(key.Owner()), 0, 4)) == 5 })
}

// keptOf are the indices that a node keeps.
func keptOf(t testing.TB, c *node.Cohort, owner wire.Owner, from, to uint64) (list []uint64) {
	t.Helper()
	var p retain.Page
	for from <= to {
		next, err := c.Read(owner, from, to, &p)
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Chunks {
			list = append(list, p.Chunks[i].Index)
		}
		from = next
	}
	return list
}

// TestConfirmedIsStored looks into the store of a node that confirmed chunks.
func TestConfirmedIsStored(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "node")
	n, err := node.New(node.Config{DataDir: dir, Retain: node.Retain{Size: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	key := newKey(t)
	spec := feed("confirmed", key)
	c := open(t, n, spec, 0)
	pub, err := c.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	publishAll(t, pub, 0, 30)
	pub.Close()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := retain.OpenStore(retain.StoreConfig{Dir: filepath.Join(dir, "retain"), Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	feeds, err := s.Feeds(spec.Topic)
	if err != nil || len(feeds) != 1 || feeds[0].First != 0 || feeds[0].Last != 29 || feeds[0].Next != 30 {
		t.Errorf("stored %+v, %v", feeds, err)
	}
}

func TestRetainConfig(t *testing.T) {
	for _, cfg := range []node.Config{
		{Retain: node.Retain{Size: 1}},
		{Retain: node.Retain{Size: -1}},
		{Retain: node.Retain{Age: -1}},
		{Retain: node.Retain{Ring: retain.RingConfig{Min: -1}}},
		{Recovery: order.Config{Hold: -1}},
		{Recovery: order.Config{Root: true}},
	} {
		_, err := node.New(cfg)
		if err == nil || !strings.Contains(err.Error(), "Retain") && !strings.Contains(err.Error(), "Recovery") {
			t.Errorf("%+v, %+v: %v", cfg.Retain, cfg.Recovery, err)
		}
	}
}

// request asks a node by hand, and returns what comes before the end.
func request(t testing.TB, h host.Host, n *node.Node, frame []byte) (chunks int, end *wire.RecoverEnd, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	s, err := h.NewStream(ctx, n.ID(), node.RecoverProtocolID)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Reset()
	s.SetDeadline(time.Now().Add(10 * time.Second))
	write(t, s, frame)
	r := wire.NewReader(s, wire.NewPool())
	for {
		buf, err := r.Next()
		if err != nil {
			return chunks, nil, err
		}
		var a wire.RecoverAnswer
		if err := a.Parse(buf.Msg()); err != nil {
			t.Fatal(err)
		}
		if a.End != nil {
			return chunks, a.End, nil
		}
		chunks++
	}
}

// TestWhoMayAsk asks as a stranger, with requests good and bad.
func TestWhoMayAsk(t *testing.T) {
	key := newKey(t)
	public, closed := feed("public", key), feed("closed", key)
	closed.Closed = true
	n := start(t, node.Config{})
	owner := wire.Owner(key.Owner())
	for _, spec := range []wire.Spec{public, closed} {
		c := open(t, n, spec, 0)
		for i := range uint64(5) {
			if err := c.Publish(context.Background(), signed(t, key, spec.Topic, i, "x")); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask := func(topic wire.Topic, from, to uint64) []byte {
		req := wire.RecoverRequest{Topic: topic, Owner: owner, Range: wire.IndexRange{From: from, To: to}}
		return wire.AppendFrame(nil, req.Append(nil))
	}
	h := rawPeer(t, n)
	chunks, end, err := request(t, h, n, ask(public.Topic, 1, 9))
	if err != nil || chunks != 4 || len(end.Missing) != 1 || end.Missing[0] != (wire.IndexRange{From: 5, To: 9}) {
		t.Errorf("%d chunks, %+v, %v", chunks, end, err)
	}
	for name, frame := range map[string][]byte{
		"closed":    ask(closed.Topic, 0, 4),
		"unknown":   ask(wire.Topic{9}, 0, 4),
		"too many":  ask(public.Topic, 0, wire.MaxRecover),
		"malformed": {1, 0x80},
		"no length": {0},
	} {
		var reset *network.StreamError
		if chunks, end, err := request(t, h, n, frame); !errors.As(err, &reset) || !reset.Remote || chunks > 0 || end != nil {
			t.Errorf("%s: %d chunks, %+v, %v", name, chunks, end, err)
		}
	}
	eventually(t, "all is counted", func() bool { // chunks are when the answer has gone
		got := n.Stats().Counters
		return got["recover_refused"] == 2 && got["recover_answered"] == 1 && got["recover_chunks_served"] == 4
	})
}

// TestOneRequestAtATime asks twice at once: the second is refused.
func TestOneRequestAtATime(t *testing.T) {
	key := newKey(t)
	spec := feed("one request", key)
	n := start(t, node.Config{})
	c := open(t, n, spec, 0)
	big := strings.Repeat("x", 4096)
	for i := range uint64(1000) {
		if err := c.Publish(context.Background(), signed(t, key, spec.Topic, i, big)); err != nil {
			t.Fatal(err)
		}
	}
	req := wire.RecoverRequest{Topic: spec.Topic, Owner: wire.Owner(key.Owner()), Range: wire.IndexRange{From: 0, To: 999}}
	frame := wire.AppendFrame(nil, req.Append(nil))
	h := rawPeer(t, n)
	first := make(chan int, 1)
	go func() { // ends with its request
		chunks, _, _ := request(t, h, n, frame)
		first <- chunks
	}()
	eventually(t, "one is being answered", func() bool { return n.Stats().Counters["recover_answered"] == 1 })
	chunks, _, err := request(t, h, n, frame)
	var reset *network.StreamError
	if !errors.As(err, &reset) || !reset.Remote { // who is refused knows that it was not silence
		t.Errorf("the second got %d chunks, %v", chunks, err)
	}
	if chunks := <-first; chunks != 1000 {
		t.Errorf("the first got %d chunks", chunks)
	}
	if got := n.Stats().Counters["recover_busy"]; got != 1 {
		t.Errorf("%d refused", got)
	}
	if _, end, err := request(t, h, n, frame); err != nil || end.Missing != nil {
		t.Error(end, err)
	}
}
