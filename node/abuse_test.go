package node_test

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"treecast/node"
	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// rawPeer is a host that speaks whatever a test wants, connected to n.
func rawPeer(t testing.TB, n *node.Node) host.Host {
	t.Helper()
	priv, _, err := crypto.GenerateSecp256k1Key(nil)
	if err != nil {
		t.Fatal(err)
	}
	h := rawHost(t, libp2p.Identity(priv), libp2p.NoListenAddrs)
	connect(t, h, n)
	return h
}

func rawHost(t testing.TB, opts ...libp2p.Option) host.Host {
	t.Helper()
	h, err := libp2p.New(append(opts, libp2p.DisableMetrics(), libp2p.ResourceManager(&network.NullResourceManager{}))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func connect(t testing.TB, h host.Host, n *node.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := h.Connect(ctx, peer.AddrInfo{ID: n.ID(), Addrs: n.Host().Addrs()}); err != nil {
		t.Fatal(err)
	}
}

func rawStream(t testing.TB, h host.Host, n *node.Node) network.Stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	s, err := h.NewStream(ctx, n.ID(), node.ProtocolID)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Reset() })
	s.SetDeadline(time.Now().Add(20 * time.Second))
	return s
}

func write(t testing.TB, s network.Stream, b []byte) {
	t.Helper()
	if _, err := s.Write(b); err != nil {
		t.Fatal(err)
	}
}

// readAck reads the answer to a first frame.
func readAck(t testing.TB, r *wire.Reader) wire.Ack {
	t.Helper()
	buf, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	defer buf.Release()
	ack, err := wire.ParseAck(buf.Msg())
	if err != nil {
		t.Fatal(err)
	}
	return ack
}

func subscribeFrame(topic wire.Topic) []byte {
	s := wire.Subscribe{Topic: topic}
	return wire.AppendFrame(nil, s.Append(nil))
}

func openFrame(spec wire.Spec) []byte {
	o := wire.Open{Spec: spec}
	return wire.AppendFrame(nil, o.Append(nil))
}

// chunkOf is the message with a chunk of a feed, signed by key in the name of owner.
func chunkOf(t testing.TB, key *soc.Key, owner soc.Owner, topic wire.Topic, index uint64, data []byte) []byte {
	t.Helper()
	id, span := soc.FeedID(topic[:], index), soc.Span(len(data))
	sig, err := key.Sign(&id, span[:], data)
	if err != nil {
		t.Fatal(err)
	}
	return wire.AppendSoc(nil, &wire.Soc{ID: id[:], Owner: owner[:], Signature: sig[:], Span: span[:], Payload: data, Index: index, HasIndex: true})
}

// TestBadFirstFrame sends what is no first frame: the stream is reset at once,
// the reason counted, and the connection stays.
func TestBadFirstFrame(t *testing.T) {
	n := start(t, node.Config{Waits: node.Waits{Handshake: 300 * time.Millisecond}})
	h := rawPeer(t, n)
	for _, tc := range []struct {
		name, counter string
		bytes         []byte
	}{
		{"length 0", "bad_length", []byte{0}},
		{"length 16385", "bad_length", []byte{0x81, 0x80, 0x01}},
		{"non-minimal length", "bad_length", []byte{0xa2, 0x80, 0x00}},
		{"overlong length", "bad_length", bytes.Repeat([]byte{0xff}, 10)},
		{"topic of 31 bytes", "bad_first_frame", wire.AppendFrame(nil, append([]byte{0x0a, 31}, make([]byte, 31)...))},
		{"no protobuf", "bad_first_frame", wire.AppendFrame(nil, []byte{0xff, 0xff, 0xff})},
		{"a probe", "bad_first_frame", wire.AppendFrame(nil, []byte{0x1a, 2, 8, 1})},
		{"silence", "handshake_timeout", nil},
		{"half a frame", "handshake_timeout", subscribeFrame(wire.Topic{})[:10]},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := n.Stats().Counters[tc.counter]
			s := rawStream(t, h, n)
			if tc.bytes == nil { // the stream only exists for the other end once something was sent
				s.Write(nil)
			}
			write(t, s, tc.bytes)
			begin := time.Now()
			if got, err := io.ReadAll(s); err == nil || len(got) > 0 {
				t.Errorf("read %x, %v; want a reset", got, err)
			}
			if d := time.Since(begin); d > 5*time.Second {
				t.Errorf("reset after %v", d)
			}
			if got := n.Stats().Counters[tc.counter]; got != before+1 {
				t.Errorf("counter %s is %d, want %d", tc.counter, got, before+1)
			}
			if len(h.Network().ConnsToPeer(n.ID())) == 0 {
				t.Error("the connection was closed")
			}
		})
	}
}

// TestFirstFrameAnswers checks the answers that need no cohort.
func TestFirstFrameAnswers(t *testing.T) {
	key := newKey(t)
	spec := feed("served", key)
	other := spec
	other.Closed = true
	invalid := feed("invalid", key)
	invalid.Binding = 0
	n := start(t, node.Config{})
	open(t, n, spec, 0)
	h := rawPeer(t, n)
	wrapped := func(open bool, msg []byte) []byte {
		tag := byte(0x12)
		if open {
			tag = 0x0a
		}
		return wire.AppendFrame(nil, append([]byte{tag, byte(len(msg))}, msg...))
	}
	for _, tc := range []struct {
		name  string
		bytes []byte
		want  wire.Status
	}{
		{"unknown topic", subscribeFrame(wire.Topic{1}), wire.StatusUnknownTopic},
		{"subscribe", subscribeFrame(spec.Topic), wire.StatusOK},
		{"wrapped subscribe", wrapped(false, (&wire.Subscribe{Topic: spec.Topic}).Append(nil)), wire.StatusOK},
		{"open as served", openFrame(spec), wire.StatusOK},
		{"wrapped open as served", wrapped(true, (&wire.Open{Spec: spec}).Append(nil)), wire.StatusOK},
		{"open with another spec", openFrame(other), wire.StatusRejected},
		{"open with an unknown binding", openFrame(invalid), wire.StatusRejected},
		{"open by a stranger", openFrame(feed("new", key)), wire.StatusRejected},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := rawStream(t, h, n)
			r := wire.NewReader(s, wire.NewPool())
			write(t, s, tc.bytes)
			ack := readAck(t, r)
			if ack.Status != tc.want {
				t.Fatalf("answer %v, want %v", ack.Status, tc.want)
			}
			if tc.want == wire.StatusOK && !ack.Spec.Equal(&spec) {
				t.Errorf("spec %v", ack.Spec)
			}
			if tc.want != wire.StatusOK {
				if _, err := r.Next(); err != io.EOF {
					t.Errorf("after a refusal: %v, want its half closed", err)
				}
			}
			s.Reset()
			eventually(t, "the slot is free again", func() bool { return n.Stats().Streams == 0 })
		})
	}
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within 20 s: %s", what)
		}
	}
}

// TestHandshakeMemory bounds what a bad first frame makes both ends allocate.
func TestHandshakeMemory(t *testing.T) {
	n := start(t, node.Config{})
	h := rawPeer(t, n)
	attempt := func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		s, err := h.NewStream(ctx, n.ID(), node.ProtocolID)
		if err != nil {
			t.Fatal(err)
		}
		s.SetDeadline(time.Now().Add(10 * time.Second))
		s.Write([]byte{0x81, 0x80, 0x01}) // one byte over the limit
		if _, err := io.Copy(io.Discard, s); err == nil {
			t.Fatal("not reset")
		}
		s.Reset()
	}
	attempt()
	const attempts = 1000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range attempts {
		attempt()
	}
	runtime.ReadMemStats(&after)
	each := (after.TotalAlloc - before.TotalAlloc) / attempts
	t.Logf("%d bytes an attempt", each)
	if each > 64<<10 {
		t.Errorf("%d bytes an attempt", each)
	}
}

// TestStreamsPerPeer bounds the streams of one peer.
func TestStreamsPerPeer(t *testing.T) {
	n := start(t, node.Config{Limits: node.Limits{StreamsPerPeer: 4}})
	h := rawPeer(t, n)
	for range 4 {
		s := rawStream(t, h, n)
		write(t, s, []byte{60}) // the first byte of a frame
	}
	eventually(t, "four streams are open", func() bool { return n.Stats().Streams == 4 })
	s := rawStream(t, h, n)
	write(t, s, subscribeFrame(wire.Topic{}))
	if _, err := io.ReadAll(s); err == nil {
		t.Error("the fifth stream was not reset")
	}
	if got := n.Stats().Counters["streams_per_peer"]; got != 1 {
		t.Errorf("counted %d", got)
	}
}

// TestForeignChild attaches a peer that knows no extension field: it gets the
// chunks, byte for byte as the publisher's node made them, also after it closed its
// own half; and a bad frame after the handshake ends its stream.
func TestForeignChild(t *testing.T) {
	key := newKey(t)
	spec := feed("foreign", key)
	n := start(t, node.Config{})
	c := open(t, n, spec, 8)
	h, bad := rawHost(t, libp2p.NoListenAddrs), rawPeer(t, n) // h has a key as browsers do
	connect(t, h, n)
	s := rawStream(t, h, n)
	write(t, s, subscribeFrame(spec.Topic))
	r := wire.NewReader(s, wire.NewPool())
	if ack := readAck(t, r); ack.Status != wire.StatusOK {
		t.Fatal(ack.Status)
	}
	if err := s.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	s2 := rawStream(t, bad, n)
	write(t, s2, subscribeFrame(spec.Topic))
	if ack := readAck(t, wire.NewReader(s2, wire.NewPool())); ack.Status != wire.StatusOK {
		t.Fatal(ack.Status)
	}
	write(t, s2, []byte{3, 0xff, 0xff, 0xff})
	if _, err := io.ReadAll(s2); err == nil {
		t.Error("a bad frame did not end the stream")
	}
	eventually(t, "one child is left", func() bool { return len(c.View().Children) == 1 })

	pub, err := c.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	defer pub.Close()
	ctx := context.Background()
	for i := range 10 {
		if index, err := pub.Publish(ctx, payload(i)); err != nil || index != uint64(i) {
			t.Fatal(index, err)
		}
		buf, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(buf.Msg(), chunkOf(t, key, key.Owner(), spec.Topic, uint64(i), payload(i))) {
			t.Fatalf("chunk %d: other bytes", i)
		}
		buf.Release()
	}
	if err := s.Reset(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no child is left", func() bool {
		pub.Publish(ctx, payload(0)) // yamux tells of the reset when something is written
		return len(c.View().Children) == 0
	})
}

// TestMemoryBudget answers FULL while queues hold more than they may.
func TestMemoryBudget(t *testing.T) {
	key := newKey(t)
	spec := feed("budget", key)
	n := start(t, node.Config{Memory: 1})
	c := open(t, n, spec, 8)
	h := rawPeer(t, n)
	s := rawStream(t, h, n)
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
	subscribe := func() wire.Status {
		s := rawStream(t, rawPeer(t, n), n)
		defer s.Reset()
		write(t, s, subscribeFrame(spec.Topic))
		return readAck(t, wire.NewReader(s, wire.NewPool())).Status
	}
	publishAll(t, pub, 0, 3000) // more than its window takes, less than its queue
	eventually(t, "a child that does not read spends the budget", func() bool { return subscribe() == wire.StatusFull })
	s.Reset()
	eventually(t, "it is there again", func() bool { return subscribe() == wire.StatusOK })
}

// TestForgerBlocked has a child publish forged chunks: the eighth ends its
// connection, and it cannot come back.
func TestForgerBlocked(t *testing.T) {
	key := newKey(t)
	spec := feed("forger", key)
	n := start(t, node.Config{})
	c := open(t, n, spec, 8)
	h := rawPeer(t, n)
	s := rawStream(t, h, n)
	write(t, s, subscribeFrame(spec.Topic))
	if ack := readAck(t, wire.NewReader(s, wire.NewPool())); ack.Status != wire.StatusOK {
		t.Fatal(ack.Status)
	}
	owner, forger := key.Owner(), newKey(t)
	for i := range 8 {
		write(t, s, wire.AppendFrame(nil, chunkOf(t, forger, owner, spec.Topic, uint64(i), []byte("fake"))))
	}
	eventually(t, "the connection is closed", func() bool { return len(h.Network().ConnsToPeer(n.ID())) == 0 })
	if got := c.Counters()[tree.CountForged]; got != 8 {
		t.Errorf("counted %d forged", got)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := h.Connect(ctx, peer.AddrInfo{ID: n.ID(), Addrs: n.Host().Addrs()})
	if err == nil { // the dialler may finish before the other end refuses
		eventually(t, "the second connection is closed", func() bool { return len(h.Network().ConnsToPeer(n.ID())) == 0 })
	}
	if got := n.Stats().Counters["forgers_blocked"]; got != 1 {
		t.Errorf("counted %d forgers", got)
	}
}
