package node

import (
	"bytes"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"treecast/wire"
)

// TestKeyFile keeps a key, for this user alone, and shows it nowhere.
func TestKeyFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dir")
	if _, err := LoadKey(dir, NodeKeyFile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no key: %v", err)
	}
	key, err := LoadOrMakeKey(dir, NodeKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	again, err := LoadOrMakeKey(dir, NodeKeyFile)
	if err != nil || !bytes.Equal(again.Bytes(), key.Bytes()) {
		t.Errorf("another key the second time, %v", err)
	}
	path := filepath.Join(dir, NodeKeyFile)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	secret := hex.EncodeToString(key.Bytes())
	for _, bad := range []string{"", secret[:63], secret[:63] + "x", strings.Repeat("0", 64), strings.Repeat("f", 64), secret + "00"} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := LoadOrMakeKey(dir, NodeKeyFile)
		if err == nil {
			t.Errorf("key file %q was accepted", bad)
		} else if strings.Contains(err.Error(), secret[:8]) {
			t.Errorf("the error shows the key: %v", err)
		}
	}
}

// TestNoKeyInLogs starts a node with everything logged.
func TestNoKeyInLogs(t *testing.T) {
	var log bytes.Buffer
	dir := t.TempDir()
	n, err := New(Config{DataDir: dir, Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.PublisherKey(); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{NodeKeyFile, PublisherKeyFile} {
		secret, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if len(secret) != 65 || strings.Contains(log.String(), string(secret[:64])) {
			t.Errorf("%s is in the log", name)
		}
	}
	if !strings.Contains(log.String(), n.Overlay().String()) {
		t.Error("the log does not name the node")
	}
}

// TestOverlayOfPeer derives the same overlay from a key and from the peer ID that
// libp2p authenticates, and gives peers of other keys a place of their own.
func TestOverlayOfPeer(t *testing.T) {
	key, err := LoadOrMakeKey("", NodeKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	id, err := IdentityOf(key, 7)
	if err != nil {
		t.Fatal(err)
	}
	if got := overlayOfPeer(id.PeerID, 7); got != id.Overlay {
		t.Errorf("overlay %v, want %v", got, id.Overlay)
	}
	if got := overlayOfPeer(id.PeerID, 8); got == id.Overlay {
		t.Error("the network ID makes no difference")
	}
	if owner, err := ownerOfPeer(id.PeerID); err != nil || owner != id.EthAddress {
		t.Errorf("address %x, %v", owner, err)
	}
	_, pub, err := crypto.GenerateEd25519Key(nil)
	if err != nil {
		t.Fatal(err)
	}
	ed, err := peer.IDFromPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ownerOfPeer(ed); err == nil {
		t.Error("an ed25519 key has an Ethereum address")
	}
	if overlayOfPeer(ed, 1) == (wire.Overlay{}) {
		t.Error("no overlay")
	}
}
