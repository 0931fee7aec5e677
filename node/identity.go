package node

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"treecast/wire"
	"treecast/wire/soc"
)

// Files of the data directory that hold a key: 64 hex digits and a line feed,
// mode 0600.
const (
	NodeKeyFile      = "node.key"
	PublisherKeyFile = "publisher.key"
)

// Identity is who a node is: everything follows from its key (PROTOCOL §1).
type Identity struct {
	PeerID     peer.ID
	Overlay    wire.Overlay
	EthAddress soc.Owner
}

// IdentityOf derives an identity from a node key and a network ID, with a zero
// nonce.
func IdentityOf(key *soc.Key, networkID uint64) (Identity, error) {
	priv, err := crypto.UnmarshalSecp256k1PrivateKey(key.Bytes())
	if err != nil {
		return Identity{}, fmt.Errorf("node: identity: %w", err)
	}
	id, err := peer.IDFromPrivateKey(priv)
	if err != nil {
		return Identity{}, fmt.Errorf("node: identity: %w", err)
	}
	owner := key.Owner()
	return Identity{PeerID: id, Overlay: soc.Overlay(owner, networkID, soc.Hash{}), EthAddress: owner}, nil
}

// LoadKey reads the key in the file name of dataDir, one of NodeKeyFile and
// PublisherKeyFile. The error wraps os.ErrNotExist if there is none, and never
// shows the file's content.
func LoadKey(dataDir, name string) (*soc.Key, error) {
	path := filepath.Join(dataDir, name)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("node: key: %w", err)
	}
	secret, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil { // hex's own error would show a digit
		return nil, fmt.Errorf("node: key %s: not hexadecimal", path)
	}
	key, err := soc.KeyFromBytes(secret)
	if err != nil {
		return nil, fmt.Errorf("node: key %s: %w", path, err)
	}
	return key, nil
}

// LoadOrMakeKey is LoadKey, but makes and stores a fresh key where there is
// none. Without a dataDir the key is fresh and not kept.
func LoadOrMakeKey(dataDir, name string) (*soc.Key, error) {
	if dataDir != "" {
		key, err := LoadKey(dataDir, name)
		if !errors.Is(err, os.ErrNotExist) {
			return key, err
		}
	}
	key, err := soc.NewKey()
	if err != nil || dataDir == "" {
		return key, err
	}
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, fmt.Errorf("node: key: %w", err)
	}
	text := hex.AppendEncode(nil, key.Bytes())
	if err := writeFile(filepath.Join(dataDir, name), append(text, '\n')); err != nil {
		return nil, fmt.Errorf("node: key: %w", err)
	}
	return key, nil
}

// ownerOfPeer is the Ethereum address of a peer whose ID embeds a secp256k1 key.
func ownerOfPeer(id peer.ID) (soc.Owner, error) {
	pub, err := id.ExtractPublicKey()
	if err != nil {
		return soc.Owner{}, fmt.Errorf("node: peer %s: %w", id, err)
	}
	if _, ok := pub.(*crypto.Secp256k1PublicKey); !ok {
		return soc.Owner{}, fmt.Errorf("node: peer %s: key of type %s", id, pub.Type())
	}
	raw, err := pub.Raw()
	if err != nil {
		return soc.Owner{}, fmt.Errorf("node: peer %s: %w", id, err)
	}
	return soc.OwnerFromPublicKey(raw)
}

// overlayOfPeer is the default of Config.OverlayOf. A peer whose key has no
// Ethereum address, as browsers have, still needs a place in the tree that
// nobody else can take: the hash of its peer ID.
func overlayOfPeer(id peer.ID, networkID uint64) wire.Overlay {
	owner, err := ownerOfPeer(id)
	if err != nil {
		return soc.Keccak256([]byte("treecast-peer"), []byte(id))
	}
	return soc.Overlay(owner, networkID, soc.Hash{})
}
