package node_test

import (
	"testing"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/identify"

	"treecast/node"
)

// TestJoinBeforeIdentify: a node joins although nobody has told it yet what the
// other end speaks.
func TestJoinBeforeIdentify(t *testing.T) {
	h := rawHost(t, libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"))
	release := make(chan struct{})
	defer close(release)
	h.SetStreamHandler(identify.ID, func(s network.Stream) {
		<-release
		s.Reset()
	})
	key := newKey(t)
	broker := start(t, node.Config{Host: h})
	cb := open(t, broker, feed("before identify", key), 4)

	n := start(t, node.Config{})
	told, err := n.Host().EventBus().Subscribe([]any{new(event.EvtPeerIdentificationCompleted), new(event.EvtPeerIdentificationFailed)})
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	c := join(t, n, broker, cb.Topic(), 4)
	attached(t, c, 1)
	select {
	case ev := <-told.Out():
		t.Errorf("attached after %T", ev)
	default:
	}
	s := subscribe(t, c)
	pub, err := cb.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	defer pub.Close()
	publishAll(t, pub, 0, 10)
	receive(t, s, pub.Owner(), 0, 10)
}

// TestOtherProtocol: a peer that does not speak the protocol is no entry point, and
// the next one is taken.
func TestOtherProtocol(t *testing.T) {
	other := rawHost(t, libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"))
	broker := start(t, node.Config{})
	cb := open(t, broker, feed("other protocol", newKey(t)), 4)
	addrs, err := peer.AddrInfoToP2pAddrs(host.InfoFromHost(other))
	if err != nil {
		t.Fatal(err)
	}
	n := start(t, node.Config{})
	c, err := n.Join(node.CohortOptions{Topic: cb.Topic(), Entries: append(addrs, broker.Addrs()...), Capacity: 4})
	if err != nil {
		t.Fatal(err)
	}
	attached(t, c, 1)
	if got := n.Stats().Counters["dial_broken"]; got == 0 {
		t.Error("the peer that speaks something else was never counted")
	}
}
