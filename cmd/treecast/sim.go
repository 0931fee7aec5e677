package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"treecast/e2e/sim"
)

// simFlags are the flags of `treecast sim` that do not go into its Config as
// they are.
type simFlags struct {
	cfg          sim.Config
	relays       float64
	sigma        float64
	entry, rules string
	trace        string
}

func newSimCommand(a *app) *cobra.Command {
	var f simFlags
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "simulate a large tree: builds, storms, failures",
		Long: `Simulate a cohort of many nodes, each of them the core that the node runs, with
latencies, failures and messages on the way, all from one seed: the same seed
gives the same run, event for event.

The order is: build up, storm, churn, turnover, leaves, burst. After each failure
the graph is checked for rings, islands, and nodes that another one cuts off.`,
		Example: `  treecast sim --nodes 10000 --capacity 16 --seed 1 --json
  treecast sim --nodes 10000 --churn 0.2 --seed 7
  treecast sim --nodes 300 --rules plain --churn 0.1`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.simulate(cmd.Context(), &f) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.cfg.Nodes, "nodes", sim.DefaultNodes, "nodes that join first, the broker apart")
	flags.IntVar(&f.cfg.Capacity, "capacity", sim.DefaultCapacity, "child slots of the broker and of each relay")
	flags.IntVar(&f.cfg.Budget, "budget", 0, "walkers of a first search; 0 = the core's default")
	flags.Float64Var(&f.relays, "relays", 1, "share of the nodes that relay, 0 to 1")
	flags.Float64Var(&f.cfg.Churn, "churn", 0, "share of the nodes that fail one by one, each healed before the next")
	flags.Float64Var(&f.cfg.Turnover, "turnover", 0, "this many times the nodes: one fails and one joins")
	flags.Float64Var(&f.cfg.Leave, "leave", 0, "share of the nodes that leave gracefully")
	flags.Float64Var(&f.cfg.Burst, "burst", 0, "share of the nodes that fail at once, at the end")
	flags.IntVar(&f.cfg.Storm, "storm", 0, "nodes that join within 100 ms after the build-up")
	flags.StringVar(&f.entry, "entry", string(sim.EntryBroker), "where nodes ask first: broker or random")
	flags.StringVar(&f.rules, "rules", string(sim.RulesOurs), "ours, or plain: SWIP-61 without ranks, walkers and displacement")
	flags.DurationVar(&f.cfg.RTTMedian, "rtt-median", sim.DefaultRTTMedian, "median round trip between two nodes")
	flags.Float64Var(&f.sigma, "rtt-sigma", sim.DefaultRTTSigma, "spread of the lognormal round trips; 0 = all alike")
	flags.Float64Var(&f.cfg.Foreign, "foreign", 0, "share of foreign nodes: plain SWIP-61 relays and SWIP-60 leaves, half each")
	flags.Uint64Var(&f.cfg.Seed, "seed", 1, "all chance there is")
	flags.StringVar(&f.trace, "trace", "", "file for one line an event")
	return cmd
}

// simulate runs one simulation and prints its result.
func (a *app) simulate(ctx context.Context, f *simFlags) (err error) {
	cfg := f.cfg
	cfg.Stop = func() bool { return ctx.Err() != nil }
	cfg.Entry, cfg.Rules = sim.Entry(f.entry), sim.Rules(f.rules)
	// In a Config zero is the default and negative is none.
	cfg.Relays, cfg.RTTSigma = orNone(f.relays), orNone(f.sigma)
	if err := cfg.Check(); err != nil {
		return usagef("%v", err)
	}
	if f.trace != "" {
		file, err := os.Create(f.trace)
		if err != nil {
			return fmt.Errorf("sim: trace: %w", err)
		}
		defer func() {
			if closed := file.Close(); err == nil && closed != nil {
				err = fmt.Errorf("sim: trace: %w", closed)
			}
		}()
		cfg.Trace = file
	}
	bar := newProgress(a.stderr, false)
	cfg.Progress = func(p sim.Progress) { bar.draw(p.Done, p.Total, p.Part) }
	r, err := sim.Run(cfg)
	bar.end()
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("sim: interrupted: %w", ctx.Err())
	}
	if a.json {
		return json.NewEncoder(a.stdout).Encode(r)
	}
	return writeSim(a.stdout, &r)
}

// orNone maps a flag's zero to a Config's none.
func orNone(v float64) float64 {
	if v == 0 {
		return -1
	}
	return v
}

// writeSim prints a result for people.
func writeSim(out io.Writer, r *sim.Result) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	row("nodes", "%d, seed %d: %d joins, %d failures, %d leaves", r.Nodes, r.Seed, r.Joins, r.Failures, r.Leaves)
	row("depth", "mean %.2f (ideal %.2f), max %d", r.Depth.Mean, r.Depth.Ideal, r.Depth.Max)
	row("two parents", "%.3f %% of those not under the broker", 100*r.DualParentedShare)
	row("at rest", "%d dominated, %d islands, %d rings", r.Dominated, r.Islands, r.Cycles)
	row("a join", "%.1f probe frames (at most %d at one node), %.2f subscribes, p50 %.1f and p95 %.1f round trips",
		r.FramesPerJoin, r.FramesMaxNode, r.SubscribesPerJoin, r.JoinRTT.P50, r.JoinRTT.P95)
	row("a healing", "p50 %.1f, p95 %.1f, max %.1f round trips; %d failed", r.HealRTT.P50, r.HealRTT.P95, r.HealRTT.Max, r.HealFailed)
	row("chunks", "%d published, %d missing, %d surfaced twice", r.Published, r.Missing, r.DuplicatesSurfaced)
	row("invariants", "%d violated", r.InvariantViolations)
	row("trace", "sha256 %s", r.TraceSHA256)
	row("took", "%v", time.Duration(r.ElapsedS*float64(time.Second)).Round(time.Millisecond))
	return w.Flush()
}
