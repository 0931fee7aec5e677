package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"treecast/cmd/treecast/internal/client"
	"treecast/wire/beef"
)

// submitFlags are the flags of `treecast submit`.
type submitFlags struct {
	to        string
	proto     string
	tokenFile string
	wait      bool
	topics    []string
	rate      float64
	timeout   time.Duration
	progress  bool
}

// submitSummary is what `treecast submit --json` prints.
type submitSummary struct {
	Objects    int     `json:"objects"`
	Bytes      int64   `json:"bytes"`                // of the objects, without their records
	Duplicates int     `json:"duplicates,omitempty"` // over http: of the objects, submitted before
	ElapsedS   float64 `json:"elapsed_s"`
}

func newSubmitCommand(a *app) *cobra.Command {
	var f submitFlags
	cmd := &cobra.Command{
		Use:   "submit FILE...",
		Short: "send BEEF files to an ingress as submission records",
		Long: `Send BEEF objects, one a file, to a node's ingress, in the order given.

Over tcp they are submission records on one connection; the command ends when the
ingress has settled them all and closes. Over udp each is a datagram, and nothing
tells whether it arrived; --rate keeps below what the ingress takes. Neither
answers: what it makes of an object is seen at the consumers and in the node's
counters. Over http each object has an answer, with --wait once it was broadcast,
and an ingress that has no room is asked again when it says.`,
		Example: `  treecast submit --to 127.0.0.1:8725 --topics tm_ship,tm_slap objects/*.beef
  treecast submit --to 127.0.0.1:8725 --proto udp --rate 50 --topics tm_ship objects/*.beef
  treecast submit --to 127.0.0.1:8730 --proto http --token-file token --wait --topics tm_ship objects/*.beef`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			if err := f.check(files); err != nil {
				return err
			}
			summary, err := f.submit(cmd.Context(), files, newProgress(a.stderr, f.progress))
			if err != nil {
				return fmt.Errorf("submit: %w", err)
			}
			if a.json {
				return json.NewEncoder(a.stdout).Encode(summary)
			}
			_, err = fmt.Fprintf(a.stdout, "%d objects submitted, %s in %.1f s\n",
				summary.Objects, byteText(summary.Bytes), summary.ElapsedS)
			return err
		},
	}
	cmd.Flags().StringVar(&f.to, "to", "", "the ingress, HOST:PORT; with --proto http the API, or a URL")
	cmd.Flags().StringVar(&f.proto, "proto", "tcp", "tcp, udp or http")
	cmd.Flags().StringVar(&f.tokenFile, "token-file", "", "with --proto http: file with the ingress's bearer token")
	cmd.Flags().BoolVar(&f.wait, "wait", false, "with --proto http: wait for each object until it was broadcast")
	cmd.Flags().StringSliceVar(&f.topics, "topics", nil, "topic names, the first of them the one the objects are sent under")
	cmd.Flags().Float64Var(&f.rate, "rate", 0, "objects a second; 0 = as fast as the ingress reads")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "give up after this long; 0 = never")
	cmd.Flags().BoolVar(&f.progress, "progress", false, "draw a progress bar on stderr even if it is no terminal")
	return cmd
}

// check reports every fault of the flags and the files at once, before
// anything is sent.
func (f *submitFlags) check(files []string) error {
	var faults []string
	if f.to == "" {
		faults = append(faults, "submit: --to is missing: the ingress, HOST:PORT")
	}
	if f.proto != "tcp" && f.proto != "udp" && f.proto != "http" {
		faults = append(faults, fmt.Sprintf("submit: --proto %q is none of tcp, udp, http", f.proto))
	}
	if f.proto != "http" && (f.tokenFile != "" || f.wait) {
		faults = append(faults, "submit: --token-file and --wait go with --proto http")
	}
	if f.rate < 0 {
		faults = append(faults, fmt.Sprintf("submit: --rate %v is negative", f.rate))
	}
	faults = append(faults, topicFaults("submit", f.topics)...)
	if len(faults) > 0 {
		return &usageError{faults: faults}
	}
	for _, name := range files {
		if err := checkObjectFile(name); err != nil {
			return fmt.Errorf("submit: %w", err)
		}
	}
	return nil
}

// topicFaults judges topic names by what a record can hold.
func topicFaults(command string, topics []string) (faults []string) {
	if len(topics) == 0 || len(topics) > beef.MaxTopics {
		return []string{fmt.Sprintf("%s: --topics: %d names, want 1 to %d", command, len(topics), beef.MaxTopics)}
	}
	// A record with any right object has the faults of its names alone.
	if _, err := beef.AppendRecord(nil, topics, []byte{0x01, 0x00, 0xBE, 0xEF}); err != nil {
		faults = append(faults, fmt.Sprintf("%s: --topics: a name is UTF-8 of 1 to %d bytes: %v", command, beef.MaxTopicName, err))
	}
	return faults
}

// checkObjectFile looks at a file's first bytes: an ingress would drop an
// object without a marker and not say so.
func checkObjectFile(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	var head [4]byte
	n, err := io.ReadFull(file, head[:])
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return err
	}
	if _, ok := beef.MarkerOf(head[:n]); !ok {
		return fmt.Errorf("%s: starts with %x, which marks no BEEF object", name, head[:n])
	}
	return nil
}

func (f *submitFlags) submit(ctx context.Context, files []string, bar *progress) (submitSummary, error) {
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("not done within %v", f.timeout))
		defer cancel()
	}
	start := time.Now()
	sender, err := f.sender(ctx)
	if err != nil {
		return submitSummary{}, err
	}
	defer sender.Close()
	defer bar.end()
	for i, name := range files {
		object, err := os.ReadFile(name)
		if err != nil {
			return submitSummary{}, err
		}
		if err := sender.Send(ctx, f.topics, object, nil); err != nil {
			return submitSummary{}, fmt.Errorf("%s: %w", name, err)
		}
		_, size := sender.Sent()
		bar.draw(i+1, len(files), byteText(size))
	}
	if err := sender.Finish(); err != nil {
		return submitSummary{}, err
	}
	var s submitSummary
	s.Objects, s.Bytes = sender.Sent()
	if p, ok := sender.(*client.Poster); ok {
		s.Duplicates = p.Duplicates()
	}
	s.ElapsedS = time.Since(start).Seconds()
	return s, nil
}

// submitter is the way to an ingress, over any protocol.
type submitter interface {
	Send(ctx context.Context, topics []string, object []byte, begin func()) error
	Sent() (objects int, bytes int64)
	Finish() error
	Close() error
}

func (f *submitFlags) sender(ctx context.Context) (submitter, error) {
	switch f.proto {
	case "udp":
		return client.DialUDP(ctx, f.to, f.rate)
	case "http":
		return client.NewPoster(client.PosterConfig{To: f.to, TokenFile: f.tokenFile, Wait: f.wait, Rate: f.rate})
	}
	return client.Dial(ctx, f.to, f.rate)
}
