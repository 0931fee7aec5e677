// Package tree imports a logger, an address, and protobuf.
package tree

import (
	"log/slog"  // want import
	"net/netip" // want import
	"os/signal" // want import

	"github.com/libp2p/go-libp2p/core/peer" // want import
	"google.golang.org/protobuf/proto"      // want import

	bps "treecast/proto" // want import
)

// X is there to use the imports.
func X(*slog.Logger, netip.Addr, peer.ID, proto.Message, *bps.Probe) { signal.Reset() }
