package node

import (
	"context"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-multistream"
)

// negotiateLimit is how long closing a stream waits for the answer to its protocol.
const negotiateLimit = 10 * time.Second

// reach connects to a peer under the addresses given and those known. Unlike the
// host's Connect it does not wait for identify: nothing that it tells is needed to
// subscribe, and it takes a round trip or two more.
func (n *Node) reach(ctx context.Context, info peer.AddrInfo) error {
	n.host.Peerstore().AddAddrs(info.ID, info.Addrs, peerstore.TempAddrTTL)
	_, err := n.host.Network().DialPeer(ctx, info.ID)
	return err
}

// open opens a stream to a peer that is connected. Unlike the host's NewStream it
// does not wait for identify, and it does not ask first whether the peer speaks the
// protocol: the first write says so, and the first read fails if it does not.
func (n *Node) open(ctx context.Context, id peer.ID, proto protocol.ID) (network.Stream, error) {
	raw, err := n.host.Network().NewStream(network.WithNoDial(ctx, "connected"), id)
	if err != nil {
		return nil, fmt.Errorf("node: open stream: %w", err)
	}
	if err := raw.SetProtocol(proto); err != nil { // over a limit
		raw.ResetWithError(network.StreamResourceLimitExceeded)
		return nil, fmt.Errorf("node: open stream: %w", err)
	}
	return &selecting{raw, multistream.NewMSSelect(raw, proto)}, nil
}

// selecting is a stream whose protocol is agreed on with its first bytes.
type selecting struct {
	network.Stream
	lazy multistream.LazyConn
}

func (s *selecting) Read(p []byte) (int, error)  { return s.lazy.Read(p) }
func (s *selecting) Write(p []byte) (int, error) { return s.lazy.Write(p) }

// Close reads the answer to the protocol first, which must not take forever.
func (s *selecting) Close() error {
	s.Stream.SetReadDeadline(time.Now().Add(negotiateLimit))
	return s.lazy.Close()
}

// CloseWrite sends the protocol first, should nothing have been written yet.
func (s *selecting) CloseWrite() error {
	if f, ok := s.lazy.(interface{ Flush() error }); ok {
		f.Flush() // an error is the stream's, which the next call says too
	}
	return s.Stream.CloseWrite()
}
