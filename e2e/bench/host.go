package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"

	"treecast/node"
)

// traffic is what hosts wrote to their streams.
type traffic struct {
	data   atomic.Uint64 // bytes of the protocol under test
	other  atomic.Uint64 // bytes of all others: pings, identify
	writes atomic.Uint64 // calls of Write on the protocol under test
}

// A meteredHost counts what it writes to its streams. It stands in front of the
// hosts of both sides, so that both are counted in the same place and pay the
// same for it. Bytes are counted where they are written: what comes in was
// written by another of the hosts.
type meteredHost struct {
	host.Host
	traffic *traffic
	muted   atomic.Bool
}

// newHost makes a host on loopback as both sides have it: tcp, noise, yamux.
func newHost(key crypto.PrivKey, t *traffic) (*meteredHost, error) {
	opts := []libp2p.Option{
		libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"),
		libp2p.Transport(tcp.NewTCPTransport),
		libp2p.Security(noise.ID, noise.New),
		libp2p.Muxer(yamux.ID, yamux.DefaultTransport),
		libp2p.ResourceManager(&network.NullResourceManager{}),
		libp2p.DisableRelay(),
		libp2p.DisableMetrics(),
		libp2p.Ping(true),
	}
	if key != nil {
		opts = append(opts, libp2p.Identity(key))
	}
	h, err := libp2p.New(opts...)
	if err != nil {
		return nil, fmt.Errorf("bench: host: %w", err)
	}
	return &meteredHost{Host: h, traffic: t}, nil
}

// mute keeps the host connected and has it send nothing any more on the protocol
// under test, whoever it belongs to.
func (h *meteredHost) mute() { h.muted.Store(true) }

// cut ends the host as a crash would.
func (h *meteredHost) cut() error { return h.Host.Network().Close() }

func measured(id protocol.ID) bool {
	return id == node.ProtocolID || id == node.RecoverProtocolID || strings.HasPrefix(string(id), "/meshsub/")
}

func (h *meteredHost) wrap(s network.Stream) network.Stream {
	if s == nil {
		return nil
	}
	return &meteredStream{Stream: s, h: h, data: measured(s.Protocol())}
}

// NewStream is Host's.
func (h *meteredHost) NewStream(ctx context.Context, p peer.ID, ids ...protocol.ID) (network.Stream, error) {
	s, err := h.Host.NewStream(ctx, p, ids...)
	if err != nil {
		return nil, err
	}
	return h.wrap(s), nil
}

// Network is Host's, with streams that count too.
func (h *meteredHost) Network() network.Network { return &meteredNetwork{h.Host.Network(), h} }

// meteredNetwork is for those who open their streams below the host.
type meteredNetwork struct {
	network.Network
	h *meteredHost
}

// NewStream is Network's.
func (n *meteredNetwork) NewStream(ctx context.Context, p peer.ID) (network.Stream, error) {
	s, err := n.Network.NewStream(ctx, p)
	if err != nil {
		return nil, err
	}
	return n.h.wrap(s), nil
}

// Backoff is the swarm's, which the node clears before it dials.
func (n *meteredNetwork) Backoff() *swarm.DialBackoff { return n.Network.(*swarm.Swarm).Backoff() }

// SetStreamHandler is Host's.
func (h *meteredHost) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	h.Host.SetStreamHandler(id, func(s network.Stream) { handle(h.wrap(s)) })
}

// SetStreamHandlerMatch is Host's.
func (h *meteredHost) SetStreamHandlerMatch(id protocol.ID, match func(protocol.ID) bool, handle network.StreamHandler) {
	h.Host.SetStreamHandlerMatch(id, match, func(s network.Stream) { handle(h.wrap(s)) })
}

type meteredStream struct {
	network.Stream
	h    *meteredHost
	data bool
}

// SetProtocol is Stream's.
func (s *meteredStream) SetProtocol(id protocol.ID) error {
	s.data = measured(id)
	return s.Stream.SetProtocol(id)
}

// Write counts and passes on, unless the host is mute.
func (s *meteredStream) Write(b []byte) (int, error) {
	if !s.data {
		n, err := s.Stream.Write(b)
		s.h.traffic.other.Add(uint64(n))
		return n, err
	}
	if s.h.muted.Load() {
		return len(b), nil
	}
	n, err := s.Stream.Write(b)
	s.h.traffic.data.Add(uint64(n))
	s.h.traffic.writes.Add(1)
	return n, err
}

// connections are the connections among hosts that have all of them.
func connections(hosts []*meteredHost) (n int) {
	for _, h := range hosts {
		n += len(h.Host.Network().Conns())
	}
	return n / 2
}
