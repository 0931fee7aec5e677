package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is what the Makefile has the linker set; empty for a plain go build.
var version string

// buildFacts is what `treecast version` says.
type buildFacts struct {
	Version  string `json:"version"`            // the Makefile's, else the module's
	Revision string `json:"revision,omitempty"` // commit, if the build knew one
	Modified bool   `json:"modified,omitempty"` // the commit's files were changed
	Go       string `json:"go"`
	Platform string `json:"platform"`
	CGO      bool   `json:"cgo"`
}

func readBuildFacts() buildFacts {
	facts := buildFacts{Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return facts
	}
	if facts.Version = version; version == "" {
		facts.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			facts.Revision = s.Value
		case "vcs.modified":
			facts.Modified = s.Value == "true"
		case "CGO_ENABLED":
			facts.CGO = s.Value == "1"
		}
	}
	return facts
}

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print what this binary was built from",
		Example: "  treecast version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			facts := readBuildFacts()
			if a.json {
				return json.NewEncoder(a.stdout).Encode(facts)
			}
			fmt.Fprintf(a.stdout, "treecast %s", facts.Version)
			if facts.Revision != "" {
				fmt.Fprintf(a.stdout, " (%.12s", facts.Revision)
				if facts.Modified {
					fmt.Fprint(a.stdout, ", modified")
				}
				fmt.Fprint(a.stdout, ")")
			}
			_, err := fmt.Fprintf(a.stdout, ", %s, %s\n", facts.Go, facts.Platform)
			return err
		},
	}
}
