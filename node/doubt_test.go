package node_test

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"treecast/node"
)

// A line passes connections on to an address until it is cut: then what they carry
// goes nowhere, and neither end hears of it.
type line struct {
	addr multiaddr.Multiaddr // of the node behind it
	cut  atomic.Bool
}

func newLine(t *testing.T, to *node.Node) *line {
	t.Helper()
	info := to.Addrs()[0]
	target, id := multiaddr.SplitLast(info)
	addr, err := manet.ToNetAddr(target)
	if err != nil {
		t.Fatal(err)
	}
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	own, err := manet.FromNetAddr(in.Addr())
	if err != nil {
		t.Fatal(err)
	}
	l := &line{addr: own.Encapsulate(id.Multiaddr())}
	pass := func(dst, src net.Conn) { // ends with either connection
		buf := make([]byte, 64<<10)
		for {
			n, err := src.Read(buf)
			if err != nil {
				if !l.cut.Load() {
					dst.Close()
				}
				return
			}
			if !l.cut.Load() {
				dst.Write(buf[:n])
			}
		}
	}
	go func() { // ends with the test
		for {
			a, err := in.Accept()
			if err != nil {
				return
			}
			b, err := net.Dial("tcp", addr.String())
			if err != nil {
				a.Close()
				return
			}
			t.Cleanup(func() { a.Close(); b.Close() })
			go pass(a, b)
			go pass(b, a)
		}
	}()
	return l
}

// TestStuckConnection: the only parent is the broker, there is nobody else to ask, and
// the connection to it carries nothing any more, as when a router has forgotten it.
func TestStuckConnection(t *testing.T) {
	broker := start(t, node.Config{})
	key := newKey(t)
	spec := feed("stuck", key)
	top := open(t, broker, spec, 3)
	l := newLine(t, broker)
	leaf := start(t, node.Config{Recovery: patient, Waits: node.Waits{Doubt: 500 * time.Millisecond}})
	bottom, err := leaf.Join(node.CohortOptions{
		Topic: spec.Topic, Entries: []multiaddr.Multiaddr{l.addr}, Capacity: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	attached(t, bottom, 1)
	sub := withGaps(t, bottom)
	pub, err := top.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	defer pub.Close()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { // ends with stop
		defer close(ended)
		for i := 0; ctx.Err() == nil; i++ {
			pub.PublishAtAsync(uint64(i), payload(i), func(error) {})
			time.Sleep(20 * time.Millisecond)
		}
	}()
	defer func() { stop(); <-ended }()
	inOrder(t, sub, 0, 50)
	l.cut.Store(true)
	inOrder(t, sub, 50, 100)
	if leaf.Stats().Counters["connection_dead"] == 0 {
		t.Error("not counted")
	}
}

// TestDoubt has an entry point answer no Subscribe. The connection to it is closed if
// it answers nothing else either, and only then.
func TestDoubt(t *testing.T) {
	swallow := func(s network.Stream) { io.Copy(io.Discard, s) }
	for name, c := range map[string]struct {
		pings func(h host.Host)
		dies  bool
	}{
		"answers pings":   {func(host.Host) {}, false},
		"serves no pings": {func(h host.Host) { h.RemoveStreamHandler(ping.ID) }, false},
		"says nothing":    {func(h host.Host) { h.SetStreamHandler(ping.ID, swallow) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			priv, _, err := crypto.GenerateSecp256k1Key(nil)
			if err != nil {
				t.Fatal(err)
			}
			h := rawHost(t, libp2p.Identity(priv), libp2p.ListenAddrStrings(loopbackTCP))
			h.SetStreamHandler(node.ProtocolID, swallow)
			c.pings(h)
			addrs, err := peer.AddrInfoToP2pAddrs(host.InfoFromHost(h))
			if err != nil {
				t.Fatal(err)
			}
			n := start(t, node.Config{Waits: node.Waits{Ack: 200 * time.Millisecond, Doubt: 300 * time.Millisecond}})
			key := newKey(t)
			if _, err := n.Join(node.CohortOptions{Topic: feed(name, key).Topic, Entries: addrs}); err != nil {
				t.Fatal(err)
			}
			count := func(name string) uint64 { return n.Stats().Counters[name] }
			if c.dies {
				eventually(t, "the connection is closed", func() bool { return count("connection_dead") > 0 })
				return
			}
			eventually(t, "three silences", func() bool { return count("dial_silent") >= 3 })
			time.Sleep(400 * time.Millisecond) // longer than the last doubt
			if count("connection_dead") > 0 {
				t.Error("the connection was closed")
			}
		})
	}
}
