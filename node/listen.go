package node

import (
	"fmt"
	"io"
	"slices"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// portsFree makes sure that nobody else listens on a configured address. libp2p
// would not notice: it shares TCP ports with whoever is willing to.
func portsFree(listen []string) error {
	for _, text := range listen {
		addr, err := multiaddr.NewMultiaddr(text)
		if err != nil {
			return fmt.Errorf("node: listen on %q: %w", text, err)
		}
		if len(addr) < 2 {
			continue // libp2p will say what is wrong with it
		}
		var probe io.Closer
		switch addr[1].Code() {
		case multiaddr.P_TCP:
			probe, err = manet.Listen(addr[:2])
		case multiaddr.P_UDP:
			probe, err = manet.ListenPacket(addr[:2])
		default:
			continue
		}
		if err != nil {
			return fmt.Errorf("node: listen on %s: %w", text, err)
		}
		if err := probe.Close(); err != nil {
			return fmt.Errorf("node: listen on %s: %w", text, err)
		}
	}
	return nil
}

// listensOnAll makes sure of every configured address: libp2p is content if one
// of them works.
func listensOnAll(h host.Host, listen []string) error {
	have := h.Network().ListenAddresses()
	for _, text := range listen {
		want, err := multiaddr.NewMultiaddr(text)
		if err != nil {
			return fmt.Errorf("node: listen on %q: %w", text, err)
		}
		if slices.ContainsFunc(have, func(a multiaddr.Multiaddr) bool { return serves(a, want) }) {
			continue
		}
		if err := h.Network().Listen(want); err != nil { // again, to learn why
			return fmt.Errorf("node: listen on %s: %w", text, err)
		}
	}
	return nil
}

// serves says whether a listener's address is what was asked for, in which port 0
// stands for any.
func serves(have, want multiaddr.Multiaddr) bool {
	return slices.EqualFunc(have, want, func(h, w multiaddr.Component) bool {
		switch code := w.Code(); {
		case h.Code() != code:
			return false
		case code == multiaddr.P_TCP || code == multiaddr.P_UDP:
			return w.Value() == "0" || w.Value() == h.Value()
		}
		return h.Equal(&w)
	})
}
