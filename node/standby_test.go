package node_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"treecast/node"
	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// rawChild subscribes with a place of its own at a node, and returns the stream, and
// the count of chunks that come.
func rawChild(t *testing.T, n *node.Node, topic wire.Topic) (network.Stream, *atomic.Int64) {
	t.Helper()
	s := rawStream(t, rawPeer(t, n), n)
	sub := wire.Subscribe{Topic: topic, HasBand: true, Band: 3, Named: true, Version: 1}
	write(t, s, wire.AppendFrame(nil, sub.Append(nil)))
	r := wire.NewReader(s, wire.NewPool())
	if ack := readAck(t, r); ack.Status != wire.StatusOK {
		t.Fatalf("the child is answered %v", ack.Status)
	}
	chunks := new(atomic.Int64)
	go func() { // ends with the stream
		for {
			buf, err := r.Next()
			if err != nil {
				return
			}
			var m wire.Broadcast
			if m.Parse(buf.Msg()) == nil && m.Kind == wire.KindSoc {
				chunks.Add(1)
			}
			buf.Release()
		}
	}()
	return s, chunks
}

// standBy has a child say how long its chunks may wait.
func standBy(t *testing.T, s network.Stream, wait time.Duration) {
	t.Helper()
	write(t, s, wire.AppendFrame(nil, wire.AppendStandby(nil, wire.Standby{WaitMS: uint32(wait.Milliseconds())})))
}

// TestStandbyWaits is about the frames for a child that says they may wait: they do
// until they are worth a write, for that time at most, and no longer once the child
// takes its word back.
func TestStandbyWaits(t *testing.T) {
	key := newKey(t)
	spec := feed("standby", key)
	n := start(t, node.Config{})
	c := open(t, n, spec, 8)
	pub, err := c.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	defer pub.Close()
	index := uint64(0)
	publish := func(size int) {
		t.Helper()
		receipt := make(chan error, 1)
		pub.PublishAtAsync(index, make([]byte, size), func(err error) { receipt <- err })
		if err := <-receipt; err != nil {
			t.Fatal(err)
		}
		index++
	}
	relayOf := func(wait time.Duration, frames int) *node.Node {
		relay := start(t, node.Config{Timing: tree.Timing{Standby: wait}, Limits: node.Limits{QueueFrames: frames}})
		attached(t, join(t, relay, n, spec.Topic, 8), 1)
		return relay
	}
	has := func(what string, chunks *atomic.Int64, want int64) {
		t.Helper()
		eventually(t, what, func() bool { return chunks.Load() >= want })
		if got := chunks.Load(); got != want {
			t.Fatalf("%s: %d chunks, want %d", what, got, want)
		}
	}

	relay := relayOf(time.Hour, 0)
	late, waits := rawChild(t, relay, spec.Topic)
	_, plain := rawChild(t, relay, spec.Topic)
	told := func(s network.Stream, wait time.Duration, chunks *atomic.Int64) {
		t.Helper()
		standBy(t, s, wait)
		// What was said has arrived when chunks wait.
		eventually(t, "chunks wait", func() bool {
			before := chunks.Load()
			publish(100)
			time.Sleep(20 * time.Millisecond)
			return chunks.Load() == before
		})
	}
	told(late, time.Hour, waits)
	had, all := waits.Load(), plain.Load()
	const full = 8 // chunks that are worth a write
	for range full {
		publish(soc.MaxPayload)
	}
	eventually(t, "the other child has all", func() bool { return plain.Load() == all+full })
	eventually(t, "all that waited goes in one", func() bool { return waits.Load() > had+full/2 })
	publish(100)
	standBy(t, late, 0)
	eventually(t, "what waited goes when the child takes its word back", func() bool { return waits.Load() == plain.Load() && plain.Load() == all+full+1 })
	publish(100)
	has("and what follows", waits, all+full+2)

	relay = relayOf(0, 0)
	late, waits = rawChild(t, relay, spec.Topic)
	standBy(t, late, time.Millisecond)
	for i := range int64(3) {
		publish(100)
		has("it comes after a while", waits, i+1)
	}

	relay = relayOf(time.Hour, 8)
	late, waits = rawChild(t, relay, spec.Topic)
	told(late, time.Hour, waits)
	for range 5 {
		publish(100)
	}
	eventually(t, "no queue gets over half full by waiting", func() bool { return waits.Load() >= 5 })

	relay = relayOf(-1, 0)
	late, waits = rawChild(t, relay, spec.Topic)
	standBy(t, late, time.Hour)
	for i := range int64(5) {
		publish(100)
		has("it comes at once", waits, i+1)
	}
}
