package node_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"

	"treecast/node"
	"treecast/wire"
	"treecast/wire/soc"
)

// askAs subscribes with a place of its own at a node, and returns the answer, and
// the count of chunks that come.
func askAs(t *testing.T, h host.Host, n *node.Node, topic wire.Topic, fed bool) (wire.Status, *atomic.Int64) {
	t.Helper()
	s := rawStream(t, h, n)
	sub := wire.Subscribe{Topic: topic, HasBand: true, Band: 3, Named: true, Version: 1, Fed: fed}
	write(t, s, wire.AppendFrame(nil, sub.Append(nil)))
	r := wire.NewReader(s, wire.NewPool())
	ack := readAck(t, r)
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
	return ack.Status, chunks
}

// TestLuxuryWaits is about the frames for a child that the broker feeds: they wait
// until they are worth a write, for a while at most, and no longer once the child
// says that the broker is gone.
func TestLuxuryWaits(t *testing.T) {
	key := newKey(t)
	spec := feed("luxury", key)
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
		relay := start(t, node.Config{Waits: node.Waits{Luxury: wait}, Limits: node.Limits{QueueFrames: frames}})
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
	h := rawPeer(t, relay)
	_, fed := askAs(t, h, relay, spec.Topic, true)
	_, plain := askAs(t, rawPeer(t, relay), relay, spec.Topic, false)
	publish(100)
	has("the other child has the chunk", plain, 1)
	time.Sleep(50 * time.Millisecond)
	has("the child that the broker feeds has nothing", fed, 0)
	const full = 8 // chunks that are worth a write
	for range full {
		publish(soc.MaxPayload)
	}
	has("all that waited goes in one", fed, full+1)
	publish(100)
	has("the other child has the next", plain, full+2)
	if status, _ := askAs(t, h, relay, spec.Topic, false); status != wire.StatusFull {
		t.Fatalf("a second stream of one child: %v", status)
	}
	publish(100)
	has("without the broker nothing waits, nor what did", fed, full+3)

	relay = relayOf(time.Millisecond, 0)
	_, fed = askAs(t, rawPeer(t, relay), relay, spec.Topic, true)
	for i := range int64(3) {
		publish(100)
		has("it comes after a while", fed, i+1)
	}

	relay = relayOf(time.Hour, 8)
	_, fed = askAs(t, rawPeer(t, relay), relay, spec.Topic, true)
	for range 5 {
		publish(100)
	}
	has("no queue gets over half full by waiting", fed, 5)

	relay = relayOf(-1, 0)
	_, fed = askAs(t, rawPeer(t, relay), relay, spec.Topic, true)
	publish(100)
	has("it comes at once", fed, 1)
}
