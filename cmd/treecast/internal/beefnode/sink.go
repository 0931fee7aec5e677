package beefnode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"treecast/node/follow"
	"treecast/node/sink"
)

// storing is the sink and what it reads from.
type storing struct {
	*sink.Sink
	from *follow.Follower
}

// startSink opens the position that the stream's name stands for and starts a sink
// there. The name holds no address, so a stream that moves keeps its position.
func (r *Running) startSink(cfg *Config, log *slog.Logger) error {
	if !cfg.Opens() && !cfg.Joins() {
		return errors.New("beefnode: a sink needs the BEEF cohort")
	}
	if r.plane.hub == nil {
		return errors.New("beefnode: a sink needs retention, out of which it reads")
	}
	from, err := r.plane.hub.Open(context.Background(), "sink/"+cfg.Sink.Stream, follow.Options{
		Election: cfg.Sink.Election, Window: sink.DefaultWindow, WindowBytes: sink.DefaultWindowBytes,
	})
	if err != nil {
		return fmt.Errorf("beefnode: sink: %w", err)
	}
	s, err := sink.New(sink.Config{
		Target: *cfg.Sink, Creds: cfg.SinkCreds, CA: cfg.SinkCA, Name: "treecast " + r.node.Overlay().String(), Source: from, Log: log,
	})
	if err != nil {
		return errors.Join(err, from.Close())
	}
	r.sink = &storing{s, from}
	return nil
}

// close ends the sink first, so that its follower is used by nobody.
func (s *storing) close() error {
	return errors.Join(s.Sink.Close(), s.from.Close())
}

// Sink stores objects; nil where there is none.
func (r *Running) Sink() *sink.Sink {
	if r.sink == nil {
		return nil
	}
	return r.sink.Sink
}
