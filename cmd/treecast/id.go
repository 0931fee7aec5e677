package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"treecast/cmd/treecast/internal/client"
	"treecast/node"
)

// identity is who a node is; the fields of `treecast id --json`.
type identity struct {
	PeerID     string   `json:"peer_id"`
	Overlay    string   `json:"overlay"`
	EthAddress string   `json:"eth_address"`
	Addrs      []string `json:"addrs"` // multiaddrs with /p2p; only a running node has any
}

func newIDCommand(a *app) *cobra.Command {
	var api apiFlags
	var dataDir string
	var networkID uint64
	cmd := &cobra.Command{
		Use:   "id",
		Short: "say who a node is",
		Long: `Say who a node is: of a running one with --api, its addresses included, else by
the key in its data directory.`,
		Example: `  treecast id --api 127.0.0.1:8730
  treecast id --data-dir broker --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var id identity
			if api.addr != "" {
				tree, err := client.Tree(cmd.Context(), api.addr, api.tokenFile)
				if err != nil {
					return fmt.Errorf("id: %w", err)
				}
				id = identity{tree.PeerID, tree.Overlay, tree.EthAddress, tree.Addrs}
			} else {
				var err error
				if id, err = storedIdentity(dataDir, networkID); err != nil {
					return err
				}
			}
			if a.json {
				return json.NewEncoder(a.stdout).Encode(id)
			}
			_, err := fmt.Fprintf(a.stdout, "peer id      %s\noverlay      %s\neth address  %s\n%s",
				id.PeerID, id.Overlay, id.EthAddress, addrLines(id.Addrs))
			return err
		},
	}
	api.register(cmd, "")
	cmd.Flags().StringVar(&dataDir, "data-dir", defaultDataDir(), "directory with the node's key")
	cmd.Flags().Uint64Var(&networkID, "network-id", 1, "part of the overlay address")
	return cmd
}

func addrLines(addrs []string) string {
	var b strings.Builder
	for _, a := range addrs {
		fmt.Fprintf(&b, "address      %s\n", a)
	}
	return b.String()
}

// storedIdentity derives the identity from the key in a data directory.
func storedIdentity(dataDir string, networkID uint64) (identity, error) {
	if dataDir == "" {
		return identity{}, usagef("id: --data-dir is missing")
	}
	if networkID == 0 {
		return identity{}, usagef("id: --network-id 0: want at least 1")
	}
	key, err := node.LoadKey(dataDir, node.NodeKeyFile)
	if errors.Is(err, os.ErrNotExist) {
		return identity{}, fmt.Errorf("id: no node key in %s: a node makes one at its first start", dataDir)
	}
	if err != nil {
		return identity{}, fmt.Errorf("id: %w", err)
	}
	id, err := node.IdentityOf(key, networkID)
	if err != nil {
		return identity{}, fmt.Errorf("id: %w", err)
	}
	return identity{id.PeerID.String(), id.Overlay.String(), fmt.Sprintf("%x", id.EthAddress), []string{}}, nil
}
