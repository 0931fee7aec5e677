package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

func main() {
	if code, done := isolate(); done {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// command runs what the arguments name.
func command(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := flags.String("only", "", "run the workloads alone whose name matches this `regexp`")
	rounds := flags.Int("rounds", 3, "how often each side runs each workload")
	seconds := flags.Duration("measure", 8*time.Second, "how long a run is measured")
	warm := flags.Duration("warm", 3*time.Second, "how long a run goes on before it is measured")
	out := flags.String("out", "build/bench", "`folder` for bench.json and the plots")
	smoke := flags.Bool("smoke", false, "the two small closed rows of bench-smoke")
	list := flags.Bool("list", false, "print the names of the workloads")
	profiles := flags.String("profile", "", "`folder` for a CPU profile of each run")
	if err := flags.Parse(args); err != nil {
		return err
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("bench: --only: %w", err)
	}
	if *rounds < 1 {
		return fmt.Errorf("bench: --rounds %d: want at least 1", *rounds)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("bench: %q: no such argument", flags.Arg(0))
	}
	begin := time.Now()
	b := &bench{
		rounds: *rounds, only: pattern, times: times{*warm, *seconds}, profile: profile{*profiles},
		say: func(format string, args ...any) {
			fmt.Fprintf(os.Stderr, "%6.0f s "+format+"\n", append([]any{time.Since(begin).Seconds()}, args...)...)
		},
	}
	if *list {
		for _, w := range workloads(b.times) {
			fmt.Println(w.name)
		}
		return nil
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	rows, err := b.all(ctx, *smoke)
	if len(rows) > 0 { // what is there is of use, also when a later one failed
		table(os.Stdout, rows)
		if werr := writeJSON(*out, rows); err == nil {
			err = werr
		}
	}
	return err
}

// all runs what is wanted, in order.
func (b *bench) all(ctx context.Context, smoke bool) (rows []row, err error) {
	if smoke {
		return b.shared(ctx, smokeWorkloads())
	}
	list := workloads(b.times)
	for i := range list {
		if !b.only.MatchString(list[i].name) {
			continue
		}
		b.say("%s", list[i].name)
		more, err := b.compare(ctx, &list[i])
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}
