package sink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	scanBatch = 1000             // messages asked for at a time
	scanIdle  = 30 * time.Second // until the server forgets a consumer that was not deleted
)

// lookThrough remembers the ids of those messages in the stream that may be of
// objects in the window, or at a start of objects that the source gives again. So
// none of them is sent a second time, however long ago the first time was.
func (x *session) lookThrough(info *jetstream.StreamInfo) error {
	s := x.s
	last := info.State.LastSeq
	start := s.stream.created.IsZero()
	if !start && s.stream.another(info.Created, last) {
		// Another stream, or one that was set back: what was found before says
		// nothing any more.
		s.known.reset()
		s.stream = streamState{}
	}
	from, look := s.stream.after(last, uint64(s.cfg.Limits.Recent), &s.window)
	if !look {
		return nil
	}
	switch {
	case from >= last:
	case info.Config.Retention == jetstream.LimitsPolicy:
		if err := x.scan(from, last, info.State.FirstSeq); err != nil {
			return err
		}
	case start: // such a stream forgets what was consumed: there is nothing to look at
		s.cfg.Log.Warn("sink: the stream's duplicate window alone keeps repetitions out",
			"stream", info.Config.Name, "retention", info.Config.Retention.String(), "window", info.Config.Duplicates)
	}
	s.stream = streamState{created: info.Created, high: last}
	return nil
}

// another says whether a stream with this time of creation and last message is not
// the one that t is about, as it was left.
func (t *streamState) another(created time.Time, last uint64) bool {
	return !t.created.Equal(created) || last < t.high
}

// after is the sequence number after which the stream may hold objects that are to
// be sent, and whether there can be any.
func (t *streamState) after(last, recent uint64, w *window) (from uint64, look bool) {
	if t.created.IsZero() {
		return last - min(last, recent), true
	}
	return w.floor()
}

// scan reads the headers of the messages behind from up to last.
func (x *session) scan(from, last, first uint64) (err error) {
	s := x.s
	call, cancel := x.request()
	defer cancel()
	consumer, err := x.c.js.CreateConsumer(call, s.cfg.Target.Stream, jetstream.ConsumerConfig{
		Description:       "looks for objects that need not be sent again",
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       max(from+1, first),
		AckPolicy:         jetstream.AckNonePolicy,
		FilterSubjects:    subjects(&s.cfg.Target.Election),
		HeadersOnly:       true,
		InactiveThreshold: scanIdle,
		Replicas:          1,
		MemoryStorage:     true,
	})
	if err != nil {
		return fmt.Errorf("sink: look through stream %s: %w", s.cfg.Target.Stream, err)
	}
	defer func() {
		call, cancel := x.request()
		defer cancel()
		name := consumer.CachedInfo().Name
		if e := x.c.js.DeleteConsumer(call, s.cfg.Target.Stream, name); e != nil && !errors.Is(e, jetstream.ErrConsumerNotFound) && err == nil {
			err = fmt.Errorf("sink: look through stream %s: %w", s.cfg.Target.Stream, e)
		}
	}()
	for left := consumer.CachedInfo().NumPending; left > 0; {
		if left, err = x.scanBatch(consumer, left, last); err != nil {
			return fmt.Errorf("sink: look through stream %s: %w", s.cfg.Target.Stream, err)
		}
	}
	s.cfg.Log.Debug("sink looked through the stream", "after", from, "to", last, "ids", len(s.known.order))
	return nil
}

// scanBatch reads some of the left messages up to last, and returns how many are
// left then.
func (x *session) scanBatch(consumer jetstream.Consumer, left, last uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(x.link, x.s.cfg.Limits.Scan)
	defer cancel()
	batch, err := consumer.Fetch(int(min(left, scanBatch)), jetstream.FetchContext(ctx))
	if err != nil {
		return 0, err
	}
	got := 0
	for m := range batch.Messages() {
		meta, err := m.Metadata()
		if err != nil {
			return 0, err
		}
		got++
		left = meta.NumPending
		if meta.Sequence.Stream >= last {
			left = 0
		}
		if id, ok := parseKnown(m.Headers().Get(HeaderID)); ok {
			x.s.known.add(id)
		}
	}
	if err := batch.Error(); err != nil {
		return 0, err
	}
	if got == 0 && left > 0 {
		return 0, fmt.Errorf("no message within %v", x.s.cfg.Limits.Scan)
	}
	return left, nil
}
