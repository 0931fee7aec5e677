package sink

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// duplicateWindow is that of a stream that the sink makes (PROTOCOL §7 Duplicate
// submissions).
const duplicateWindow = 10 * time.Minute

// minMessage is the least bound on a message that a reference to the object store
// passes: its headers take some 700 bytes.
const minMessage = 1024

// errStream says that a stream is not what a sink needs. An operator has to change
// it.
var errStream = errors.New("sink: stream")

// errNoJetStream says that nobody at the server answers for JetStream.
var errNoJetStream = errors.New("sink: the server has no JetStream")

// streamState is what is known of the stream since the sink's start.
type streamState struct {
	created time.Time // tells the stream from another of its name; zero: not seen yet
	high    uint64    // a sequence number up to which the stream was looked through or acknowledged
}

// prepare finds or makes the stream, checks it, and looks through what it may hold
// of the objects to be sent.
func (x *session) prepare() error {
	info, err := x.find()
	if err != nil {
		return err
	}
	if err := check(&info.Config, subjects(&x.s.cfg.Target.Election), x.s.cfg.Limits.Duplicates); err != nil {
		return err
	}
	x.maxSize = max(0, int64(info.Config.MaxMsgSize))
	return x.lookThrough(info)
}

// find finds or makes the stream.
func (x *session) find() (*jetstream.StreamInfo, error) {
	target := &x.s.cfg.Target
	call, cancel := x.request()
	defer cancel()
	var err error
	x.stream, err = x.c.js.Stream(call, target.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		x.stream, err = x.c.js.CreateStream(call, jetstream.StreamConfig{
			Name:        target.Stream,
			Description: "BEEF objects by topic",
			Subjects:    []string{SubjectPrefix + ">"},
			Duplicates:  max(duplicateWindow, x.s.cfg.Limits.Duplicates),
			Replicas:    max(1, target.Replicas),
			Storage:     jetstream.FileStorage,
		})
		switch {
		case errors.Is(err, jetstream.ErrStreamNameAlreadyInUse): // somebody was faster
			x.stream, err = x.c.js.Stream(call, target.Stream)
		case err == nil:
			x.s.cfg.Log.Info("sink made the stream", "stream", target.Stream)
		}
	}
	if errors.Is(err, nats.ErrNoResponders) {
		return nil, fmt.Errorf("%w: stream %s: %w", errNoJetStream, target.Stream, err)
	}
	if err != nil {
		return nil, fmt.Errorf("sink: stream %s: %w", target.Stream, err)
	}
	return x.stream.CachedInfo(), nil
}

// check looks whether a stream takes a sink's messages and can tell duplicates.
func check(cfg *jetstream.StreamConfig, wanted []string, duplicates time.Duration) error {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("%w %s: %s", errStream, cfg.Name, fmt.Sprintf(format, args...))
	}
	switch err := covered(cfg.Subjects, wanted); {
	case cfg.Sealed:
		return fault("it is sealed")
	case cfg.Mirror != nil:
		return fault("it is a mirror")
	case cfg.NoAck:
		return fault("no_ack is set, so that nothing is known to be stored")
	case err != nil:
		return fault("%v", err)
	case cfg.SubjectTransform != nil:
		return fault("it has a subject transform")
	case cfg.MaxMsgSize > 0 && cfg.MaxMsgSize < minMessage:
		return fault("max_msg_size is %d, want at least %d", cfg.MaxMsgSize, minMessage)
	case cfg.Duplicates < duplicates:
		return fault("duplicate_window is %v, want at least %v", cfg.Duplicates, duplicates)
	}
	return nil
}
