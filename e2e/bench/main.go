package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

func main() {
	if os.Getenv(partRole) == "" {
		if code, done := isolate(); done {
			os.Exit(code)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	played, err := playPart(ctx, os.Args[1:])
	if !played {
		err = command(ctx, os.Args[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// command runs what the arguments name.
func command(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	only := flags.String("only", "", "run the workloads alone whose name matches this `regexp`; the curves (^cost-) run with it alone")
	rounds := flags.Int("rounds", 3, "how often each side runs each workload")
	seconds := flags.Duration("measure", 6*time.Second, "how long a run is measured")
	warm := flags.Duration("warm", 3*time.Second, "how long a run goes on before it is measured")
	out := flags.String("out", "build/bench", "`folder` for bench.json and the plots")
	smoke := flags.Bool("smoke", false, "the two small closed rows of bench-smoke")
	list := flags.Bool("list", false, "print the names of the workloads, and about how long each takes")
	strict := flags.Bool("strict", false, "fail when a threshold is missed")
	profileDir := flags.String("profile", "", "`folder` for a CPU profile of each run, and what it goes to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var pattern *regexp.Regexp
	if *only != "" {
		var err error
		if pattern, err = regexp.Compile(*only); err != nil {
			return fmt.Errorf("bench: --only: %w", err)
		}
	}
	if *rounds < 1 {
		return fmt.Errorf("bench: --rounds %d: want at least 1", *rounds)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("bench: %q: no such argument", flags.Arg(0))
	}
	begin := time.Now()
	b := &bench{
		rounds: *rounds, only: pattern, times: times{*warm, *seconds}, profiles: profiles{dir: *profileDir},
		say: func(format string, args ...any) {
			fmt.Fprintf(os.Stderr, "%6.0f s "+format+"\n", append([]any{time.Since(begin).Seconds()}, args...)...)
		},
	}
	if *list {
		return b.listJobs(os.Stdout)
	}
	for _, dir := range []string{*out, *profileDir} {
		if dir == "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("bench: %w", err)
		}
	}
	rows, err := b.all(ctx, *smoke)
	if len(rows) == 0 {
		return err
	}
	// What is there is of use, also when a later one failed.
	return errors.Join(err, b.profiles.report(os.Stdout, rows), report(*out, rows, *strict))
}

// report prints the tables of a run and writes its files to a folder.
func report(dir string, rows []row, strict bool) error {
	table(os.Stdout, rows)
	list := decide(theClaims(), rows)
	verdictTable(os.Stdout, list)
	err := errors.Join(writeJSON(dir, rows), writeVerdicts(dir, list), writePlots(dir, rows), writeCurves(dir, rows))
	if n := missed(list); strict && n > 0 {
		err = errors.Join(err, fmt.Errorf("bench: %d thresholds missed", n))
	}
	return err
}
