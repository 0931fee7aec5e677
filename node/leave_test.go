package node_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"treecast/node"
	"treecast/tree"
	"treecast/wire"
)

// TestLeave has a relay leave while chunks flow: its child has another parent
// before it lets the relay go, and gets every chunk once.
func TestLeave(t *testing.T) {
	t.Parallel()
	broker := start(t, node.Config{Capacity: 3})
	key := newKey(t)
	spec := feed("leave", key)
	top := open(t, broker, spec, 3)
	relays := make(map[wire.Overlay]*node.Node)
	for range 3 {
		r := start(t, node.Config{})
		attached(t, join(t, r, broker, spec.Topic, 0), 1)
		relays[r.Overlay()] = r
	}
	var mu sync.Mutex
	fewest := 2
	leaf := start(t, node.Config{})
	bottom, err := leaf.Join(node.CohortOptions{
		Topic: spec.Topic, Entries: broker.Addrs(), Capacity: -1,
		Report: func(r tree.Report) {
			if r.Kind == tree.ReportDetached {
				mu.Lock()
				fewest = min(fewest, r.Parents)
				mu.Unlock()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	attached(t, bottom, 2)
	sub := subscribe(t, bottom)
	defer sub.Close()
	pub, err := top.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	defer pub.Close()

	const count = 300
	published := make(chan struct{})
	go func() {
		defer close(published)
		for i := range count {
			pub.PublishAtAsync(uint64(i), payload(i), func(error) {})
			time.Sleep(time.Millisecond)
		}
	}()
	leaver := relays[bottom.View().Parents[0].Peer]
	part := leaver.Cohort(spec.Topic)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := leaver.Leave(ctx); err != nil {
		t.Error(err)
	}
	if err := part.Leave(ctx); err != nil {
		t.Errorf("leaving a closed cohort: %v", err)
	}
	if got := leaver.Stats().Counters["left"]; got != 1 {
		t.Errorf("counted %d departures", got)
	}
	<-published
	receive(t, sub, wire.Owner(key.Owner()), 0, count)
	for _, p := range bottom.View().Parents {
		if p.Peer == leaver.Overlay() {
			t.Error("the leaver is still a parent")
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if fewest != 2 {
		t.Errorf("the child went down to %d parents", fewest)
	}
}

// TestLeaveFlushes leaves a foreign child that does not move and reads nothing
// until the leaver has closed its half: it finds all that was queued for it.
func TestLeaveFlushes(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	spec := feed("leave flushes", key)
	n := start(t, node.Config{Capacity: 4})
	c := open(t, n, spec, 4)
	s := rawStream(t, rawPeer(t, n), n)
	write(t, s, subscribeFrame(spec.Topic))
	r := wire.NewReader(s, wire.NewPool())
	if ack := readAck(t, r); ack.Status != wire.StatusOK {
		t.Fatal(ack.Status)
	}
	pub, err := c.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	defer pub.Close()
	const count = 500 // more than the transport takes unread
	publishAll(t, pub, 0, count)
	left := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		left <- c.Leave(ctx)
	}()
	eventually(t, "the core has left", func() bool { return n.Stats().Counters["left"] == 1 })
	chunks, reparents := 0, 0
	for {
		buf, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("after %d chunks: %v", chunks, err)
		}
		var msg wire.Broadcast
		if err := msg.Parse(buf.Msg()); err != nil {
			t.Fatal(err)
		}
		switch msg.Kind {
		case wire.KindSoc:
			chunks++
		case wire.KindReparent:
			reparents++
		}
		buf.Release()
	}
	if chunks != count || reparents != 1 {
		t.Errorf("%d chunks, %d reparents; want %d and 1", chunks, reparents, count)
	}
	s.Close()
	if err := <-left; err != nil {
		t.Error(err)
	}
	if n.Cohort(spec.Topic) != nil {
		t.Error("the cohort is still there")
	}
}

// TestLeaveGivesUp ends with its context when a child does not move.
func TestLeaveGivesUp(t *testing.T) {
	key := newKey(t)
	spec := feed("leave gives up", key)
	dir := t.TempDir()
	n := start(t, node.Config{DataDir: dir})
	c := open(t, n, spec, 4)
	s := rawStream(t, rawPeer(t, n), n)
	write(t, s, subscribeFrame(spec.Topic))
	if ack := readAck(t, wire.NewReader(s, wire.NewPool())); ack.Status != wire.StatusOK {
		t.Fatal(ack.Status)
	}
	eventually(t, "there is a child", func() bool { return len(c.View().Children) == 1 })
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := n.Leave(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("left with %v", err)
	}
	if _, err := n.Open(spec); !errors.Is(err, node.ErrClosed) {
		t.Errorf("open after Leave: %v", err)
	}
	if err := n.Leave(context.Background()); err != nil {
		t.Errorf("second time: %v", err)
	}
	again := start(t, node.Config{DataDir: dir})
	if again.Cohort(spec.Topic) == nil {
		t.Error("a cohort that the node left is not reopened")
	}
}

// TestHalfClosedChildThatResets is noticed although nothing is sent to it: its
// slot is free again, also where the transport tells no reader of the reset.
func TestHalfClosedChildThatResets(t *testing.T) {
	for _, transport := range []string{loopbackTCP, loopbackQUIC} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			key := newKey(t)
			spec := feed("half closed", key)
			n := start(t, node.Config{Listen: []string{transport}})
			c := open(t, n, spec, 4)
			s := rawStream(t, rawPeer(t, n), n)
			write(t, s, subscribeFrame(spec.Topic))
			r := wire.NewReader(s, wire.NewPool())
			if ack := readAck(t, r); ack.Status != wire.StatusOK {
				t.Fatal(ack.Status)
			}
			if err := s.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			pub, err := c.Publisher(key)
			if err != nil {
				t.Fatal(err)
			}
			defer pub.Close()
			time.Sleep(1200 * time.Millisecond) // over which it is looked at, and stays
			publishAll(t, pub, 0, 1)
			s.SetReadDeadline(time.Now().Add(5 * time.Second))
			buf, err := r.Next()
			if err != nil {
				t.Fatalf("a half-closed child gets no chunk: %v", err)
			}
			buf.Release()
			s.ResetWithError(network.StreamNoError)
			eventually(t, "the child is gone", func() bool { return len(c.View().Children) == 0 })
		})
	}
}
