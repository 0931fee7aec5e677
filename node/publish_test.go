package node_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"treecast/node"
	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// signed is the chunk of a feed's index.
func signed(t testing.TB, key *soc.Key, topic wire.Topic, index uint64, data string) soc.Chunk {
	t.Helper()
	id, span, owner := soc.FeedID(topic[:], index), soc.Span(len(data)), key.Owner()
	sig, err := key.Sign(&id, span[:], []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return soc.Chunk{ID: id[:], Owner: owner[:], Signature: sig[:], Span: span[:], Payload: []byte(data)}
}

// TestReceipts publishes chunks that were signed elsewhere, good and bad.
func TestReceipts(t *testing.T) {
	key, stranger := newKey(t), newKey(t)
	spec := feed("receipts", key)
	reports := make(chan tree.Report, 10)
	c, err := start(t, node.Config{}).Open(spec, node.CohortOptions{Report: func(r tree.Report) { reports <- r }})
	if err != nil {
		t.Fatal(err)
	}
	sub := subscribe(t, c)
	defer sub.Close()
	ctx := context.Background()
	forged := signed(t, stranger, spec.Topic, 1, "forged")
	owner := key.Owner()
	forged.Owner = owner[:]
	malformed := signed(t, key, spec.Topic, 1, "malformed")
	malformed.Span = malformed.Span[:7]
	for _, tc := range []struct {
		name  string
		chunk soc.Chunk
		want  tree.Receipt
	}{
		{"first", signed(t, key, spec.Topic, 0, "first"), tree.ReceiptDone},
		{"again", signed(t, key, spec.Topic, 0, "first"), tree.ReceiptDuplicate},
		{"other content", signed(t, key, spec.Topic, 0, "other"), tree.ReceiptEquivocation},
		{"not admitted", signed(t, stranger, spec.Topic, 1, "mine"), tree.ReceiptInvalid},
		{"forged", forged, tree.ReceiptInvalid},
		{"next", signed(t, key, spec.Topic, 1, "next"), tree.ReceiptDone},
	} {
		err := c.Publish(ctx, tc.chunk)
		var refused *node.ReceiptError
		switch {
		case tc.want == tree.ReceiptDone:
			if err != nil {
				t.Errorf("%s: %v", tc.name, err)
			}
		case !errors.As(err, &refused) || refused.Receipt != tc.want:
			t.Errorf("%s: %v, want receipt %d", tc.name, err, tc.want)
		}
	}
	first, second := signed(t, key, spec.Topic, 0, "first"), signed(t, key, spec.Topic, 0, "other")
	r := <-reports
	if e := r.Equivocation; r.Kind != tree.ReportEquivocation || !bytes.Equal(e.First[:], first.Signature) || !bytes.Equal(e.Second[:], second.Signature) {
		t.Errorf("reported %+v", r)
	}
	if err := c.Publish(ctx, malformed); !errors.Is(err, soc.ErrNonCanonical) {
		t.Errorf("malformed: %v", err)
	}
	for i, want := range []string{"first", "next"} {
		m, err := sub.Next(ctx)
		if err != nil || string(m.Payload) != want || !m.HasIndex || m.Index != uint64(i) {
			t.Fatalf("message %d: %q index %d, %v", i, m.Payload, m.Index, err)
		}
		m.Release()
	}
	pub, err := c.Publisher(key) // the feed goes on behind what is known
	if err != nil {
		t.Fatal(err)
	}
	if index, err := pub.Publish(ctx, []byte("third")); err != nil || index != 2 {
		t.Errorf("index %d, %v", index, err)
	}
	pub.Close()
	pub.Close()
	if _, err := pub.Publish(ctx, []byte("x")); !errors.Is(err, node.ErrClosed) {
		t.Errorf("after close: %v", err)
	}
	if err := pub.PublishAt(ctx, 9, nil); !errors.Is(err, node.ErrClosed) {
		t.Errorf("after close: %v", err)
	}
}

// TestPublisherRefused names what keeps a publisher from being.
func TestPublisherRefused(t *testing.T) {
	key := newKey(t)
	n := start(t, node.Config{})
	c, err := n.Join(node.CohortOptions{Topic: wire.Topic{1}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Publisher(key); !errors.Is(err, node.ErrNoSpec) {
		t.Errorf("without a spec: %v", err)
	}
	owner := key.Owner()
	spec := wire.Spec{Topic: soc.Keccak256(owner[:]), Binding: wire.BindingOwner, Regime: wire.RegimeExplicitSingle, Admin: owner[:]}
	c = open(t, n, spec, 0)
	if _, err := c.Publisher(key); err == nil || !strings.Contains(err.Error(), "OWNER") {
		t.Errorf("without indices: %v", err)
	}
	invalid := feed("invalid", key)
	invalid.Admin = nil
	if _, err := n.Open(invalid); !errors.Is(err, tree.ErrSpec) {
		t.Errorf("invalid spec: %v", err)
	}
}

// TestSlowSubscription ends a subscription that is not read, and nothing else.
func TestSlowSubscription(t *testing.T) {
	key := newKey(t)
	spec := feed("subscription", key)
	n := start(t, node.Config{})
	c := open(t, n, spec, 0)
	slow, err := c.Subscribe(node.SubscribeOptions{Buffer: 10})
	if err != nil {
		t.Fatal(err)
	}
	good := subscribe(t, c)
	var handled atomic.Int64
	stop := c.Handle(func(m node.Message) { handled.Add(1) })
	pub, err := c.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	defer pub.Close()
	publishAll(t, pub, 0, 30)
	receive(t, good, wire.Owner(key.Owner()), 0, 30)
	count := 0
	for m, err := range slow.All(context.Background()) {
		if err != nil {
			if !errors.Is(err, node.ErrSlow) {
				t.Errorf("ended with %v", err)
			}
			break
		}
		m.Release()
		count++
	}
	if count != 10 {
		t.Errorf("%d messages before the end, want 10", count)
	}
	eventually(t, "the handler saw all", func() bool { return handled.Load() == 30 })
	stop()
	publishAll(t, pub, 30, 1)
	if got := handled.Load(); got != 30 {
		t.Errorf("handled %d after stop", got)
	}
	good.Close()
	slow.Close()
	eventually(t, "all buffers are back", func() bool { return n.Stats().Buffers == 0 })
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Subscribe(node.SubscribeOptions{}); !errors.Is(err, node.ErrClosed) {
		t.Errorf("subscribe after close: %v", err)
	}
	if _, err := good.Next(context.Background()); !errors.Is(err, node.ErrClosed) {
		t.Errorf("next after close: %v", err)
	}
	if v := c.View(); v.Topic != spec.Topic {
		t.Error("no view after close")
	}
}

// TestPublishWhileClosing ends every publication with one answer.
func TestPublishWhileClosing(t *testing.T) {
	key := newKey(t)
	c := open(t, start(t, node.Config{}), feed("closing", key), 0)
	pub, err := c.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	defer pub.Close()
	const count = 2000
	var answers atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for i := range count {
			pub.PublishAtAsync(uint64(i), []byte("x"), func(error) { answers.Add(1) })
		}
	}()
	time.Sleep(20 * time.Millisecond) // somewhere in the middle
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
	eventually(t, "each has its answer", func() bool { return answers.Load() == count })
}

// TestSharedDataDir keeps a second node out of a data directory.
func TestSharedDataDir(t *testing.T) {
	dir := t.TempDir()
	start(t, node.Config{DataDir: dir})
	if n, err := node.New(node.Config{DataDir: dir}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("second node: %v", err)
		if err == nil {
			n.Close()
		}
	}
}

// TestPortInUse names the address, also if the node could listen on others.
func TestPortInUse(t *testing.T) {
	for _, transport := range []string{loopbackTCP, loopbackQUIC} {
		taken := start(t, node.Config{Listen: []string{transport}}).Host().Addrs()[0].String()
		for _, listen := range [][]string{{taken}, {loopbackQUIC, taken}, {taken, loopbackTCP}} {
			if n, err := node.New(node.Config{Listen: listen}); err == nil || !strings.Contains(err.Error(), taken) {
				t.Errorf("listening on %v: %v", listen, err)
				if err == nil {
					n.Close()
				}
			}
		}
	}
}

// TestConfigRefused names the field at fault.
func TestConfigRefused(t *testing.T) {
	for field, cfg := range map[string]node.Config{
		"Capacity":           {Capacity: 2},
		"Parents":            {Parents: 3},
		"OpenPolicy":         {OpenPolicy: 9},
		"Verifiers":          {Verifiers: -1},
		"Limits.QueueFrames": {Limits: node.Limits{QueueFrames: -1}},
		"Waits.Dead":         {Waits: node.Waits{Dead: time.Second, Ping: time.Second}},
		"nonsense":           {Listen: []string{"nonsense"}},
	} {
		if n, err := node.New(cfg); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
			if err == nil {
				n.Close()
			}
		}
	}
}
