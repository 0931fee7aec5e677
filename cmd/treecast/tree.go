package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"treecast/cmd/treecast/internal/client"
	"treecast/cmd/treecast/internal/view"
	"treecast/node/api"
)

// defaultAPI is where commands that ask a running node look for it.
const defaultAPI = "127.0.0.1:8730"

// apiFlags say which node to ask.
type apiFlags struct {
	addr      string
	tokenFile string
}

func (f *apiFlags) register(cmd *cobra.Command, addr string) {
	cmd.Flags().StringVar(&f.addr, "api", addr, "the node's API, HOST:PORT")
	cmd.Flags().StringVar(&f.tokenFile, "api-token-file", "", "file with the API's bearer token")
}

func newTreeCommand(a *app) *cobra.Command {
	var f apiFlags
	var dot bool
	var svg string
	cmd := &cobra.Command{
		Use:   "tree",
		Short: "show the tree as a running node sees it",
		Long: `Show a running node's parents and children in each of its cohorts, with their
bands and how full their queues are, as its API tells.`,
		Example: `  treecast tree --api 127.0.0.1:8730
  treecast tree --api 127.0.0.1:8730 --svg tree.svg
  treecast tree --api 127.0.0.1:8730 --dot | dot -Tpng > tree.png`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dot && a.json || svg != "" && (dot || a.json) {
				return usagef("tree: more than one of --dot, --svg and --json")
			}
			tree, err := client.Tree(cmd.Context(), f.addr, f.tokenFile)
			switch {
			case err != nil:
				return fmt.Errorf("tree: %w", err)
			case a.json:
				return json.NewEncoder(a.stdout).Encode(tree)
			case dot:
				return view.Dot(a.stdout, tree)
			case svg != "":
				return writeSVG(svg, tree)
			}
			return view.Own(a.stdout, tree)
		},
	}
	f.register(cmd, defaultAPI)
	cmd.Flags().BoolVar(&dot, "dot", false, "print a graph for Graphviz")
	cmd.Flags().StringVar(&svg, "svg", "", "draw into this file")
	return cmd
}

func writeSVG(path string, tree *api.Tree) error {
	var b bytes.Buffer
	if err := view.SVG(&b, tree); err != nil {
		return fmt.Errorf("tree: %w", err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("tree: %w", err)
	}
	return nil
}
