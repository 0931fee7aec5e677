package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes (see the package comment).
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// environment is everything that a command sees of the world outside, so that
// tests run a whole command line in their own process.
type environment struct {
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	environ func() []string
}

// app is what the subcommands share: the outside world and the global flags.
type app struct {
	environment
	json      bool
	logLevel  string
	logFormat string
	log       *slog.Logger // set before a subcommand starts
	started   bool         // the command line was understood
}

// usageError is a wrong command line or a half-configured node: one fault or
// several, each of them one line.
type usageError struct{ faults []string }

func (e *usageError) Error() string { return strings.Join(e.faults, "; ") }

func usagef(format string, args ...any) error {
	return &usageError{faults: []string{fmt.Sprintf(format, args...)}}
}

// errFailed ends a command with exitFailure after it has said everything
// itself.
var errFailed = errors.New("failed")

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, env environment) int {
	a := &app{environment: env}
	root := newRootCommand(a)
	root.SetArgs(bindAddresses(args))
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	if errors.Is(err, errFailed) {
		return exitFailure
	}
	if usage := (*usageError)(nil); errors.As(err, &usage) {
		for _, fault := range usage.faults {
			fmt.Fprintf(env.stderr, "treecast: %s\n", oneLine(fault))
		}
		return exitUsage
	}
	fmt.Fprintf(env.stderr, "treecast: %s\n", oneLine(err.Error()))
	if !a.started {
		return exitUsage
	}
	return exitFailure
}

// oneLine keeps the promise of one line a fault whatever a library says.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "treecast",
		Short: "multicast of signed chunks and BEEF objects through a tree of peers",
		Long: `treecast carries objects from a few publishers to many consumers through a tree
of libp2p nodes that heals itself.

Settings come from flags, else from the environment (TREECAST_DATA_DIR for
--data-dir; lists are separated by spaces), else, for a node, from a YAML file
(--config), else from the defaults.

Exit code: 0 on success, 1 on failure, 2 on wrong usage.`,
		Example: `  treecast demo
  treecast node --broker --ingress-tcp --data-dir broker
  treecast tree --api 127.0.0.1:8730`,
		SilenceUsage:               true,
		SilenceErrors:              true,
		DisableSuggestions:         true,
		SuggestionsMinimumDistance: 0,
		Args:                       cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("no command given; `treecast --help` lists them")
		},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := applySettings(cmd, a.environ); err != nil {
				return err
			}
			log, err := newLogger(a.stderr, a.logLevel, a.logFormat)
			if err != nil {
				return err
			}
			a.log = log
			quietLibp2p(log, a.logLevel)
			a.started = true
			return nil
		},
	}
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "print JSON on stdout: one object, or one a line for a stream")
	flags.StringVar(&a.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&a.logFormat, "log-format", "text", "text or json")
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.AddCommand(
		newDecodeCommand(a),
		newDemoCommand(a),
		newIDCommand(a),
		newNodeCommand(a),
		newReceiveCommand(a),
		newSimCommand(a),
		newSubCommand(a),
		newSubmitCommand(a),
		newTreeCommand(a),
		newVersionCommand(a),
	)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(&cobra.Command{Hidden: true, Use: "no-help"})
	return root
}
