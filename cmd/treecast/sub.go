package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"treecast/cmd/treecast/internal/client"
	"treecast/node/api"
)

// subFlags are the flags of `treecast sub`.
type subFlags struct {
	api    apiFlags
	since  string
	format string
	count  int
}

func newSubCommand(a *app) *cobra.Command {
	var f subFlags
	cmd := &cobra.Command{
		Use:   "sub TOPIC",
		Short: "follow a cohort on a running node",
		Long: `Follow a cohort that a running node is in, through the node's API. TOPIC is 64
hexadecimal digits, a name, or beef. It says on stderr how the node is attached, then
prints each chunk: as a line of JSON (json), its payload as a line of hexadecimal
digits (hex), or its payload as it is (raw).

Each publisher's chunks come in the order of their indices. With --since they begin
with those that the node keeps, from that index of each publisher on, or from the
oldest with "all", and go on with what comes. Indices that are not there are shown:
as an object with "gap" in json, on stderr otherwise.

It ends after --count chunks, on an interrupt, or with exit code 1 when the node ends
it.`,
		Example: `  treecast sub beef --api 127.0.0.1:8730
  treecast sub news --since all --format hex --count 10`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(a.json, cmd.Flags().Changed("format")); err != nil {
				return err
			}
			return f.run(cmd.Context(), a, args[0])
		},
	}
	f.api.register(cmd, defaultAPI)
	cmd.Flags().StringVar(&f.since, "since", "", "begin with what the node keeps, from this index on, or all")
	cmd.Flags().StringVar(&f.format, "format", "json", "json, hex or raw")
	cmd.Flags().IntVar(&f.count, "count", 0, "end after this many chunks; 0 = no end")
	return cmd
}

func (f *subFlags) check(asJSON, chosen bool) error {
	var faults []string
	if f.since != "" && f.since != "all" {
		if _, err := strconv.ParseUint(f.since, 10, 63); err != nil {
			faults = append(faults, fmt.Sprintf("sub: --since %q: want an index or all", f.since))
		}
	}
	switch f.format {
	case "json", "hex", "raw":
	default:
		faults = append(faults, fmt.Sprintf("sub: --format %q: want json, hex or raw", f.format))
	}
	if asJSON && chosen && f.format != "json" {
		faults = append(faults, "sub: --json goes with --format json")
	}
	if f.count < 0 {
		faults = append(faults, fmt.Sprintf("sub: --count %d is negative", f.count))
	}
	if len(faults) > 0 {
		return &usageError{faults: faults}
	}
	return nil
}

func (f *subFlags) run(ctx context.Context, a *app, topic string) error {
	left := f.count
	err := client.Follow(ctx, f.api.addr, f.api.tokenFile, topicOf(topic), f.since, func(m *api.Message) error {
		switch {
		case m.Attached:
			_, err := fmt.Fprintf(a.stderr, "attached, parents: %d\n", m.Parents)
			return err
		case m.Gap != nil && f.format != "json":
			_, err := fmt.Fprintln(a.stderr, gapText(m))
			return err
		}
		if err := f.print(a, m); err != nil {
			return err
		}
		if m.Gap != nil {
			return nil
		}
		if left--; left == 0 {
			return errCounted
		}
		return nil
	})
	if err != nil && !errors.Is(err, errCounted) {
		return fmt.Errorf("sub: %w", err)
	}
	return nil
}

// gapText says what is not there.
func gapText(m *api.Message) string {
	what := "missing"
	if m.Gap.Void {
		what = "never published"
	}
	return fmt.Sprintf("%s: %s %d to %d", m.Owner, what, m.Gap.From, m.Gap.To)
}

func (f *subFlags) print(a *app, m *api.Message) error {
	switch f.format {
	case "hex":
		_, err := fmt.Fprintln(a.stdout, m.Payload)
		return err
	case "raw":
		b, err := hex.DecodeString(m.Payload)
		if err != nil {
			return fmt.Errorf("payload: %w", err)
		}
		_, err = a.stdout.Write(b)
		return err
	}
	return json.NewEncoder(a.stdout).Encode(m)
}
