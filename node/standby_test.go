package node_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/multiformats/go-multiaddr"

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

// A rawParent answers the first Subscribe of a peer with OK and later ones with the
// other's name, and notes what its child says of its chunks.
type rawParent struct {
	host   host.Host
	addr   multiaddr.Multiaddr // with /p2p
	stream chan network.Stream
	words  chan wire.Standby
}

func rawParents(t *testing.T, spec *wire.Spec) (list [2]*rawParent) {
	t.Helper()
	var named [2]wire.Candidate
	for i := range list {
		key := newKey(t)
		priv, err := crypto.UnmarshalSecp256k1PrivateKey(key.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		id, err := node.IdentityOf(key, 1)
		if err != nil {
			t.Fatal(err)
		}
		h := rawHost(t, libp2p.Identity(priv), libp2p.ListenAddrStrings(loopbackTCP))
		at := h.Addrs()[0].Encapsulate(multiaddr.StringCast("/p2p/" + h.ID().String()))
		named[i] = wire.Candidate{Addr: id.Overlay, Depth: 1, HasBand: true, Band: 2, Underlays: [][]byte{at.Bytes()}}
		list[i] = &rawParent{host: h, addr: at, stream: make(chan network.Stream, 1), words: make(chan wire.Standby, 16)}
	}
	for i, p := range list {
		var taken atomic.Bool
		p.host.SetStreamHandler(node.ProtocolID, func(s network.Stream) {
			r := wire.NewReader(s, wire.NewPool())
			if buf, err := r.Next(); err == nil {
				buf.Release()
			}
			if taken.Swap(true) {
				ack := wire.Ack{Status: wire.StatusFull, HasBand: true, Band: 2, Candidates: named[1-i : 2-i]}
				s.Write(wire.AppendFrame(nil, ack.Append(nil)))
				s.CloseWrite()
				return
			}
			ack := wire.Ack{Status: wire.StatusOK, Spec: spec, HasBand: true, Band: 2}
			s.Write(wire.AppendFrame(nil, ack.Append(nil)))
			p.stream <- s
			for { // ends with the stream
				buf, err := r.Next()
				if err != nil {
					return
				}
				var m wire.Broadcast
				if m.Parse(buf.Msg()) == nil && m.Kind == wire.KindStandby {
					p.words <- m.Standby
				}
				buf.Release()
			}
		})
	}
	return list
}

// says waits for a parent's child to say something.
func (p *rawParent) says(t *testing.T, wait time.Duration) {
	t.Helper()
	select {
	case got := <-p.words:
		if got.Wait() != wait {
			t.Fatalf("its child lets its chunks wait %v, want %v", got.Wait(), wait)
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("its child says nothing, want %v", wait)
	}
}

// TestLead has one of two parents bring all chunks first. The other is told that
// it may wait; and, once nothing comes any more, that it may not.
func TestLead(t *testing.T) {
	key := newKey(t)
	spec := feed("lead", key)
	parents := rawParents(t, &spec)
	n := start(t, node.Config{})
	c, err := n.Join(node.CohortOptions{Topic: spec.Topic, Spec: &spec, Entries: []multiaddr.Multiaddr{parents[0].addr, parents[1].addr}, Capacity: 8})
	if err != nil {
		t.Fatal(err)
	}
	attached(t, c, 2)
	var streams [2]network.Stream
	for i, p := range parents {
		streams[i] = <-p.stream
	}
	for i := range 16 {
		frame := wire.AppendFrame(nil, chunkOf(t, key, key.Owner(), spec.Topic, uint64(i), payload(i)))
		write(t, streams[0], frame)
		eventually(t, "the chunk is there", func() bool { return c.Counters()[tree.CountDelivered] == uint64(i)+1 })
		write(t, streams[1], frame)
	}
	parents[1].says(t, 200*time.Millisecond)
	parents[1].says(t, 0)
	if len(parents[0].words) > 0 {
		t.Errorf("the lead is told %v", <-parents[0].words)
	}
	if got := c.Counters()[tree.CountLeadFailed]; got != 1 {
		t.Errorf("a lead failed %d times", got)
	}
}
