package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"treecast/cmd/treecast/internal/client"
	"treecast/wire/beef"
)

// receiveFlags are the flags of `treecast receive`.
type receiveFlags struct {
	listen    string
	from      string
	tokenFile string
	topics    []string
	versions  []string
	out       string
	count     int
	timeout   time.Duration
	objectMax int
	resume    string
}

func newReceiveCommand(a *app) *cobra.Command {
	var f receiveFlags
	cmd := &cobra.Command{
		Use:   "receive",
		Short: "take delivery records from an edge",
		Long: `Take delivery records, either from edges that dial us (--listen) or from a lane
that we dial (--from): a node's listening lane, or at a URL the lanes of its HTTP
API, ws:// for a WebSocket and http:// for a stream. Each object may be kept as a file named by its SHA-256.
With --resume NAME the lane goes on where the last one of that name was. Over TCP
and a WebSocket each record is acknowledged when it has been taken, so nothing is
lost whichever side dies; a stream goes on behind what the node has written whole.

It ends when --count distinct objects have come, when --timeout is over, on an
interrupt, or, with --from, when the lane closes. The exit code is 1 if fewer
objects came than --count says or if a record was refused.`,
		Example: `  treecast receive --listen 127.0.0.1:9000 --out objects --count 1000 --timeout 1m
  treecast receive --from edge.example:8729 --topics tm_ship --json
  treecast receive --from edge.example:8729 --topics tm_ship --resume shop --out objects
  treecast receive --from ws://edge.example:8730 --token-file token --topics tm_ship --out objects`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.run(cmd.Context(), a)
		},
	}
	cmd.Flags().StringVar(&f.listen, "listen", "", "wait for edges at this address, HOST:PORT")
	cmd.Flags().StringVar(&f.from, "from", "", "connect to the listening lane at HOST:PORT, or to ws://HOST:PORT or http://HOST:PORT")
	cmd.Flags().StringVar(&f.tokenFile, "token-file", "", "with a URL in --from: file with the API's bearer token")
	cmd.Flags().StringSliceVar(&f.topics, "topics", nil, "with --from: topics to elect, names or 64 hexadecimal digits; none = all")
	cmd.Flags().StringSliceVar(&f.versions, "versions", nil, "with --from: versions to elect: beef, beefv2, atomic; none = all")
	cmd.Flags().StringVar(&f.resume, "resume", "",
		"with --from: name to go on under; the node, which must retain, keeps what was not taken under it")
	cmd.Flags().StringVar(&f.out, "out", "", "directory for the objects, one file each, named by its SHA-256")
	cmd.Flags().IntVar(&f.count, "count", 0, "end after this many distinct objects; 0 = no end")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "end after this long; 0 = never")
	cmd.Flags().IntVar(&f.objectMax, "object-max", 0, "longest object in bytes; 0 = 16 MiB")
	return cmd
}

func (f *receiveFlags) check() error {
	var faults []string
	switch {
	case f.listen == "" && f.from == "":
		faults = append(faults, "receive: neither --listen nor --from")
	case f.listen != "" && f.from != "":
		faults = append(faults, "receive: both --listen and --from")
	}
	if f.listen != "" && len(f.topics)+len(f.versions)+len(f.resume) > 0 {
		faults = append(faults, "receive: --topics, --versions and --resume go with --from; an edge that dials has its own")
	}
	if f.tokenFile != "" && !client.IsURL(f.from) {
		faults = append(faults, "receive: --token-file goes with a URL in --from")
	}
	if f.count < 0 {
		faults = append(faults, fmt.Sprintf("receive: --count %d is negative", f.count))
	}
	if f.objectMax < 0 || f.objectMax > 1<<30 {
		faults = append(faults, fmt.Sprintf("receive: --object-max %d: want 0 to %d", f.objectMax, 1<<30))
	}
	if len(faults) > 0 {
		return &usageError{faults: faults}
	}
	return nil
}

// errTimeout is the cause of an end by --timeout, errCounted of one by --count.
var (
	errTimeout = errors.New("timeout")
	errCounted = errors.New("count reached")
)

func (f *receiveFlags) run(ctx context.Context, a *app) error {
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return fmt.Errorf("receive: --out: %w", err)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if f.timeout > 0 {
		t := time.AfterFunc(f.timeout, func() { cancel(errTimeout) })
		defer t.Stop()
	}
	inbox := newInbox(f.out)
	if a.json {
		inbox.print = json.NewEncoder(a.stdout).Encode
	} else {
		inbox.print = func(v any) error { return printReceived(a.stdout, v) }
	}
	consumer := &client.Consumer{
		MaxObject: f.objectMax,
		Handle: func(_ net.Addr, d beef.Delivery) error {
			err := inbox.take(d)
			if err != nil {
				cancel(err)
			}
			return err
		},
		Refuse: func(r client.Refusal) {
			inbox.Refused++
			fmt.Fprintf(a.stderr, "treecast: receive: %s\n", oneLine(r.Err.Error()))
		},
	}
	inbox.enough = func() {
		if f.count > 0 && inbox.Objects >= f.count {
			cancel(errCounted)
		}
	}
	var err error
	election := client.Election{Topics: f.topics, Versions: f.versions, Resume: f.resume}
	switch {
	case f.listen != "":
		err = f.serve(ctx, a, consumer)
	case client.IsURL(f.from):
		err = consumer.FetchURL(ctx, f.from, f.tokenFile, election)
	default:
		err = consumer.Fetch(ctx, f.from, election)
	}
	switch cause := context.Cause(ctx); {
	case cause == nil && inbox.Refused > 0:
		err = nil // each one was named when it came
	case errors.Is(cause, errTimeout), errors.Is(cause, errCounted), errors.Is(cause, context.Canceled):
		err = nil
	case cause != nil:
		err = cause
	}
	if perr := inbox.print(inbox.summary()); err == nil {
		err = perr
	}
	switch {
	case err != nil:
		return fmt.Errorf("receive: %w", err)
	case f.count > 0 && inbox.Objects < f.count:
		return fmt.Errorf("receive: %d of %d objects came", inbox.Objects, f.count)
	case inbox.Refused > 0:
		return errFailed
	}
	return nil
}

func (f *receiveFlags) serve(ctx context.Context, a *app, c *client.Consumer) error {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", f.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	a.log.Info("waiting for edges", "addr", ln.Addr().String())
	return c.Serve(ctx, ln)
}

// printReceived prints a record or the summary for people.
func printReceived(w io.Writer, v any) (err error) {
	switch v := v.(type) {
	case received:
		_, err = fmt.Fprintf(w, "%s  %7d  %-6s  %s\n", v.SHA256, v.ObjectBytes, v.Version, v.TopicID[:16])
	case receivedSummary:
		_, err = fmt.Fprintf(w, "%d records, %d objects, %s, %d duplicates, %d refused, %.1f s\n",
			v.Records, v.Objects, byteText(v.Bytes), v.Duplicates, v.Refused, v.ElapsedS)
	}
	return err
}
