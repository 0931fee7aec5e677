package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"treecast/cmd/treecast/internal/demo"
)

func newDemoCommand(a *app) *cobra.Command {
	var cfg demo.Config
	var hold bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "run a whole network in one process and check every byte",
		Long: `Run a whole network in one process, all of it over real sockets on loopback: a
broker with a TCP ingress, relays, and consumers behind leaves with dialled
egress lanes. Objects are submitted through the ingress, relays are cut off or
leave on the way, and every byte is compared at every consumer. It ends with the tree and
the numbers; the exit code is 0 only if nothing is missing, corrupted, or
surfaced twice.`,
		Example: `  treecast demo
  treecast demo --nodes 24 --capacity 4 --objects 300 --rate 200 --kill 1 --consumers 6 --json
  treecast demo --objects-dir objects --out received`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			faults := cfg.Faults()
			if len(faults) > 0 {
				return &usageError{faults: faults}
			}
			cfg.Log = a.log
			if !cmd.Flags().Changed("log-level") {
				cfg.Log = slog.New(slog.DiscardHandler) // a demo of many nodes shows numbers instead
			}
			bar := newProgress(a.stderr, false)
			cfg.Progress = func(phase string, done, total int) { bar.draw(done, total, phase) }
			var shown error
			cfg.Ended = func(d *demo.Demo) {
				bar.end()
				shown = a.showDemo(d)
				if hold {
					fmt.Fprintln(a.stderr, "the network runs on until it is interrupted")
					<-cmd.Context().Done()
				}
			}
			d, err := demo.Run(cmd.Context(), cfg)
			bar.end()
			switch {
			case err != nil && d != nil:
				return errors.Join(err, a.showDemo(d))
			case err != nil:
				return err
			case shown != nil:
				return shown
			case !d.Report.OK:
				return errFailed
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&cfg.Nodes, "nodes", 24, "nodes of the network: broker, relays and consumers' leaves")
	flags.IntVar(&cfg.Capacity, "capacity", 4, "child slots of the broker and of each relay")
	flags.IntVar(&cfg.Objects, "objects", 200, "objects to submit")
	flags.IntVar(&cfg.ObjectBytes, "object-bytes", 1500, "bytes of each object")
	flags.StringVar(&cfg.ObjectsDir, "objects-dir", "", "submit the files of this directory instead")
	flags.Float64Var(&cfg.Rate, "rate", 100, "objects a second")
	flags.IntVar(&cfg.Kill, "kill", 1, "relays to cut off between a third and two thirds of the objects")
	flags.IntVar(&cfg.Leave, "leave", 0, "relays that leave gracefully, taking turns with those")
	flags.IntVar(&cfg.Consumers, "consumers", 6, "consumers, each behind a leaf of its own")
	flags.StringVar(&cfg.Transport, "transport", "tcp", "tcp or quic")
	flags.Uint64Var(&cfg.Seed, "seed", 1, "seed of the objects' bytes")
	flags.DurationVar(&cfg.Timeout, "timeout", time.Minute, "give up after this long")
	flags.StringVar(&cfg.Out, "out", "", "directory for consumer-N/SHA256 files of what was delivered")
	flags.StringVar(&cfg.API, "api", "", "serve the broker's API at this address while it runs")
	flags.BoolVar(&hold, "hold", false, "keep the network running at the end, until interrupted")
	return cmd
}

// showDemo prints what a demo showed.
func (a *app) showDemo(d *demo.Demo) error {
	if a.json {
		return json.NewEncoder(a.stdout).Encode(d.Report)
	}
	if err := d.DrawTree(a.stdout); err != nil {
		return err
	}
	io.WriteString(a.stdout, "\n") // an error comes with the table as well
	return d.Report.WriteTable(a.stdout)
}
