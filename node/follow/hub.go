package follow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"treecast/node/retain"
	"treecast/wire"
	"treecast/wire/beef"
)

// Why a Follower ends.
var (
	// ErrReplaced says that the name was opened again.
	ErrReplaced = errors.New("follow: the name was opened again")
	// ErrClosed says that the follower or its hub is closed.
	ErrClosed = errors.New("follow: closed")
)

// A Source is a cohort to read from; *node.Cohort is one. Its methods are called by
// several goroutines.
type Source interface {
	Topic() wire.Topic
	// Read fills p with what is kept of owner's feed from index from up to and with
	// to, and returns the first index that it has not looked at.
	Read(owner wire.Owner, from, to uint64, p *retain.Page) (next uint64, err error)
	// First is the lowest index that is kept; false if none is.
	First(owner wire.Owner) (first uint64, ok bool, err error)
	// Voids are the ranges that were never published, sorted.
	Voids(owner wire.Owner) []wire.IndexRange
	// Progress appends how far each feed is handed over.
	Progress(dst []retain.Progress) []retain.Progress
	// Watch has changed called after each change of that, until stop.
	Watch(changed func()) (stop func())
}

// Config is what a Hub is made of.
type Config struct {
	// Positions are where they are stored; required. They stay the caller's.
	Positions *retain.Positions
	// ShardBits is how many leading bits of a TopicID choose its group, 0..15: a
	// follower reads only the groups of the topics that it elects.
	ShardBits int
	// MaxObject bounds an object in bytes; 0 = beef.DefaultMaxObject. Longer ones
	// are passed by.
	MaxObject int
	// Log takes the hub's log; nil discards it.
	Log *slog.Logger
}

// A Hub gives out followers. Its methods may be called by several goroutines.
type Hub struct {
	cfg     Config
	counted counted

	mu      sync.Mutex
	sources map[wire.Topic]Source
	open    map[string]*Follower
	closed  bool
}

// counted are what all followers have counted.
type counted struct {
	objects, acked, repeated, ignored, gaps, skipped, forgotten atomic.Uint64
}

// Stats are what the followers of a hub have counted since its start.
type Stats struct {
	Followers int               // open now
	Objects   uint64            // given out
	Acked     uint64            // of these acknowledged
	Repeated  uint64            // not given out: the name had the object
	Ignored   uint64            // chunks that are no part of an object
	Gaps      uint64            // indices passed by that were missing when their turn came
	Skipped   uint64            // indices that were not kept any more when their turn came
	Forgotten uint64            // open indices given up, for their number
	Lag       map[string]uint64 // by open name: indices not done with
}

// New makes a hub without a source. The error names the fault in cfg.
func New(cfg Config) (*Hub, error) {
	if cfg.Positions == nil {
		return nil, errors.New("follow: config Positions: nil")
	}
	if cfg.ShardBits < 0 || cfg.ShardBits > beef.MaxShardBits {
		return nil, fmt.Errorf("follow: config ShardBits: %d, want 0..%d", cfg.ShardBits, beef.MaxShardBits)
	}
	if cfg.MaxObject == 0 {
		cfg.MaxObject = beef.DefaultMaxObject
	}
	if cfg.MaxObject < 0 {
		return nil, fmt.Errorf("follow: config MaxObject: %d is negative", cfg.MaxObject)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Hub{cfg: cfg, sources: make(map[wire.Topic]Source), open: make(map[string]*Follower)}, nil
}

// Add has followers read a cohort, in the place of an earlier one of its topic.
func (h *Hub) Add(s Source) { h.change(func() { h.sources[s.Topic()] = s }) }

// Remove ends that. A cohort that another one has taken the place of is not there
// any more.
func (h *Hub) Remove(s Source) {
	h.change(func() {
		if h.sources[s.Topic()] == s {
			delete(h.sources, s.Topic())
		}
	})
}

// change alters the sources and tells the followers.
func (h *Hub) change(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do()
	for _, f := range h.open {
		f.stale.Store(true)
		f.signal()
	}
}

// list are the sources that a follower reads.
func (h *Hub) list(covers func(wire.Topic) bool) map[wire.Topic]Source {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make(map[wire.Topic]Source, len(h.sources))
	for topic, s := range h.sources {
		if covers(topic) {
			all[topic] = s
		}
	}
	return all
}

// Open makes the follower of a name, which goes on where the name's last one was; a
// new name starts with what comes from now on. There is one follower a name: an
// earlier one ends with ErrReplaced, and Open waits for its Close until ctx ends.
// The error is ctx's, ErrClosed, about opt, or one of package retain: ErrNames says
// that there are too many names.
func (h *Hub) Open(ctx context.Context, name string, opt Options) (*Follower, error) {
	f, err := h.newFollower(name, opt)
	if err != nil {
		return nil, err
	}
	if err := h.reserve(ctx, f); err != nil {
		return nil, err
	}
	if err := f.begin(time.Now()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// reserve waits until the name is free and takes it.
func (h *Hub) reserve(ctx context.Context, f *Follower) error {
	for {
		h.mu.Lock()
		if h.closed {
			h.mu.Unlock()
			return ErrClosed
		}
		holder := h.open[f.name]
		if holder == nil {
			h.open[f.name] = f
			h.mu.Unlock()
			return nil
		}
		h.mu.Unlock()
		holder.end(ErrReplaced)
		select {
		case <-holder.gone:
		case <-ctx.Done():
			return fmt.Errorf("follow: name %q is in use: %w", f.name, ctx.Err())
		}
	}
}

// release lets a name go.
func (h *Hub) release(f *Follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[f.name] == f {
		delete(h.open, f.name)
	}
}

// Topics are the cohorts that stored names follow: what is published there meanwhile
// they are owed.
func (h *Hub) Topics() []wire.Topic {
	all := make(map[wire.Topic]bool)
	for _, name := range h.cfg.Positions.Names() {
		for _, t := range h.cfg.Positions.Topics(name) {
			all[t] = true
		}
	}
	return slices.Collect(maps.Keys(all))
}

// Stats are the hub's figures now.
func (h *Hub) Stats() Stats {
	c := &h.counted
	s := Stats{
		Objects: c.objects.Load(), Acked: c.acked.Load(), Repeated: c.repeated.Load(), Ignored: c.ignored.Load(),
		Gaps: c.gaps.Load(), Skipped: c.skipped.Load(), Forgotten: c.forgotten.Load(), Lag: make(map[string]uint64),
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Followers = len(h.open)
	for name, f := range h.open {
		s.Lag[name] = f.Lag()
	}
	return s
}

// Close ends all followers with ErrClosed; each is to be closed by its user. Twice is
// fine.
func (h *Hub) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, f := range h.open {
		f.end(ErrClosed)
	}
	return nil
}
