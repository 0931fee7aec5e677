package follow

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"treecast/node/retain"
	"treecast/wire"
	"treecast/wire/beef"
)

const (
	// DefaultWindow and MaxWindow bound what is given out and not acknowledged, in
	// objects; DefaultWindowBytes does in payload bytes.
	DefaultWindow      = 256
	MaxWindow          = 512
	DefaultWindowBytes = 8 << 20
	// slots bounds the objects that a follower is putting together; its bytes are
	// twice the largest object, for one that is stuck and one that comes, each with
	// room for the record around it and for rounding.
	slots    = 256
	slotRoom = 16 << 10
	// spare is what a follower keeps of buffers that objects have outgrown. There may
	// be many followers, and one at rest holds on to it.
	spare = 256 << 10
)

// Options are one follower's. The zero value is every object, and the defaults.
type Options struct {
	// Election is what is given out. It may be another one than the name had before:
	// what was passed by then does not come any more.
	Election beef.Election
	// Window is how many objects may be given out and not acknowledged [256, at most
	// 512], WindowBytes how many bytes of payload [8 MiB; one object always may].
	// Next waits at the bound.
	Window      int
	WindowBytes int64
}

// A Follower reads for one name. Next is for one goroutine; the other methods may
// be called by several.
type Follower struct {
	h      *Hub
	name   string
	opt    Options
	covers func(wire.Topic) bool // a cohort that may carry what is elected

	wake  chan struct{} // holds one token when there may be something to do
	stale atomic.Bool   // the hub's sources changed
	gone  chan struct{} // closed by Close

	// Of Next's goroutine.
	readings  map[wire.Topic]*reading
	order     []*feed // all feeds, sorted; changed under mu
	turn      int     // whose turn it is
	elections beef.Elections
	matches   []beef.Match
	parts     *beef.Reassembler
	partial   map[pair][]span // chunks of each object that is not whole
	clock     time.Time       // for parts: it stands still while objects are at hand
	seen      recent
	page      retain.Page
	ready     []*Object
	progress  []retain.Progress // scratch

	mu       sync.Mutex // covers what follows, and of each feed what its comment says
	cause    error      // why there is no more
	closed   bool
	pending  map[pair]*Object // at hand or given out, not acknowledged
	out      int
	outBytes int64
}

// reading is a cohort that a follower reads.
type reading struct {
	source  Source // nil: the node is not in it now
	stop    func() // of the watch
	changed atomic.Bool
	feeds   map[wire.Owner]*feed
}

// newFollower makes one that has no name yet.
func (h *Hub) newFollower(name string, opt Options) (*Follower, error) {
	if opt.Window == 0 {
		opt.Window = DefaultWindow
	}
	if opt.WindowBytes == 0 {
		opt.WindowBytes = DefaultWindowBytes
	}
	if opt.Window < 0 || opt.Window > MaxWindow || opt.WindowBytes < 0 {
		return nil, fmt.Errorf("follow: options: window of %d objects, %d bytes, want at most %d", opt.Window, opt.WindowBytes, MaxWindow)
	}
	f := &Follower{
		h: h, name: name, opt: opt, wake: make(chan struct{}, 1), gone: make(chan struct{}),
		readings: make(map[wire.Topic]*reading), partial: make(map[pair][]span), seen: newRecent(),
		pending: make(map[pair]*Object),
	}
	f.covers = covers(&opt.Election, h.cfg.ShardBits)
	f.elections.Set(0, opt.Election)
	var err error
	f.parts, err = beef.NewReassembler(beef.ReassemblerConfig{
		Slots: slots, Bytes: 2 * (int64(h.cfg.MaxObject) + slotRoom), Spare: spare, MaxObject: h.cfg.MaxObject,
		Wants: f.wants, GivenUp: f.givenUp,
	})
	if err != nil {
		return nil, fmt.Errorf("follow: %w", err)
	}
	return f, nil
}

// covers says which cohorts may carry what is elected.
func covers(e *beef.Election, shardBits int) func(wire.Topic) bool {
	if len(e.Topics) == 0 || shardBits == 0 {
		return func(wire.Topic) bool { return true }
	}
	wanted := make(map[wire.Topic]bool)
	for _, t := range e.Topics {
		group, err := beef.GroupIndex(t, shardBits)
		if err != nil {
			panic(err) // New has checked ShardBits
		}
		wanted[beef.CohortTopic(group)] = true
	}
	return func(t wire.Topic) bool { return wanted[t] }
}

// begin reads where the name is. The name is ours.
func (f *Follower) begin(now time.Time) error {
	f.clock = now
	positions := f.h.cfg.Positions
	isNew, err := positions.Use(now, f.name)
	if err != nil {
		return fmt.Errorf("follow: %w", err)
	}
	for _, topic := range positions.Topics(f.name) {
		if !f.covers(topic) {
			positions.Unfollow(f.name, topic)
		}
	}
	if err := f.refresh(); err != nil {
		return err
	}
	if isNew { // from here on it misses nothing, whatever happens
		return positions.Sync()
	}
	return nil
}

// refresh takes over the hub's sources.
func (f *Follower) refresh() error {
	sources := f.h.list(f.covers)
	for topic, r := range f.readings {
		if r.source != nil && sources[topic] != r.source {
			r.stop()
			r.source = nil
		}
	}
	for topic, s := range sources {
		r := f.readings[topic]
		if r == nil {
			r = &reading{feeds: make(map[wire.Owner]*feed)}
			f.readings[topic] = r
		}
		if r.source != nil {
			continue
		}
		r.source = s
		r.stop = s.Watch(func() {
			r.changed.Store(true)
			f.signal()
		})
		for _, fd := range r.feeds { // the new source counts what is late from the start
			f.reopen(fd)
		}
		if err := f.advanceFeeds(topic, r, f.h.cfg.Positions.Follow(f.name, topic)); err != nil {
			return err
		}
	}
	return nil
}

// Next returns the next object and waits for it: each once, in the order of each
// owner's feed. It waits as well while the window is full. The error is ErrReplaced
// or ErrClosed, ctx's, or that of a store that cannot be read.
func (f *Follower) Next(ctx context.Context) (*Object, error) {
	for {
		o, full, err := f.take()
		if o != nil || err != nil {
			return o, err
		}
		if !full {
			if more, err := f.advance(); err != nil {
				return nil, err
			} else if more {
				continue
			}
			f.store(0)
		}
		since := time.Now()
		select {
		case <-f.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !full {
			f.clock = f.clock.Add(time.Since(since))
		}
	}
}

// take gives out the first object at hand.
func (f *Follower) take() (o *Object, full bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cause != nil {
		return nil, false, f.cause
	}
	if f.out >= f.opt.Window {
		return nil, true, nil
	}
	if len(f.ready) == 0 {
		return nil, false, nil
	}
	o = f.ready[0]
	size := int64(len(o.Frame.Payload))
	if f.out > 0 && f.outBytes+size > f.opt.WindowBytes {
		return nil, true, nil
	}
	f.ready[0] = nil
	f.ready = f.ready[1:]
	f.out++
	f.outBytes += size
	f.h.counted.objects.Add(1)
	return o, false, nil
}

// advance reads a page of the feed whose turn it is; false if nothing is at hand.
func (f *Follower) advance() (bool, error) {
	if f.stale.Swap(false) {
		if err := f.refresh(); err != nil {
			return false, err
		}
	}
	for topic, r := range f.readings {
		if r.source != nil && r.changed.Swap(false) {
			if err := f.advanceFeeds(topic, r, false); err != nil {
				return false, err
			}
		}
	}
	for i := range f.order {
		fd := f.order[(f.turn+i)%len(f.order)]
		if fd.reading.source == nil || !fd.atHand() {
			continue
		}
		f.turn = (f.turn + i + 1) % len(f.order)
		return true, f.read(fd)
	}
	return false, nil
}

// advanceFeeds takes over how far a cohort's feeds are. New says that the name
// follows the cohort from now on.
func (f *Follower) advanceFeeds(topic wire.Topic, r *reading, isNew bool) error {
	f.progress = r.source.Progress(f.progress[:0])
	for i := range f.progress {
		p := &f.progress[i]
		fd := r.feeds[p.Owner]
		if fd == nil {
			var err error
			if fd, err = f.newFeed(topic, r, p, isNew); err != nil {
				return err
			}
			r.feeds[p.Owner] = fd
			f.insert(fd)
		}
		f.mu.Lock()
		fd.limit = max(fd.limit, p.Firm) // what is late is waited for as long as it may come
		f.mu.Unlock()
		if fd.late != p.Late {
			fd.late = p.Late
			f.reopen(fd)
		}
	}
	return nil
}

// insert adds a feed to all of them.
func (f *Follower) insert(fd *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.order = append(f.order, fd)
	slices.SortFunc(f.order, func(a, b *feed) int {
		return cmp.Or(bytes.Compare(a.topic[:], b.topic[:]), bytes.Compare(a.owner[:], b.owner[:]))
	})
}

// Ack says that an object is safe with the consumer and not to be given out again.
// Acks may come in any order. When Ack returns, that survives the end of the process;
// that of the machine within a second. After Close it does nothing.
func (f *Follower) Ack(o *Object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || o.acked {
		return
	}
	o.acked = true
	delete(f.pending, o.key)
	f.out--
	f.outBytes -= int64(len(o.Frame.Payload))
	f.h.counted.acked.Add(1)
	for _, s := range o.spans {
		s.feed.done(s.IndexRange)
		for i := s.From; i <= s.To; i++ {
			delete(s.feed.busy, i)
		}
	}
	for _, fd := range f.order {
		if slices.ContainsFunc(o.spans, func(s span) bool { return s.feed == fd }) {
			f.put(fd)
		}
	}
	f.signal()
}

// put stores where a feed is; called under mu.
func (f *Follower) put(fd *feed) {
	fd.unstored = 0
	f.h.counted.forgotten.Add(fd.prune())
	f.h.cfg.Positions.Put(f.name, fd.topic, fd.owner, &fd.cursor)
}

// store stores where feeds are that have more than that many indices not stored.
func (f *Follower) store(most int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fd := range f.order {
		if fd.unstored > most {
			f.put(fd)
		}
	}
}

// Lag is how many chunks are handed over by the node and not done with here; gaps are
// not among them.
func (f *Follower) Lag() (n uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fd := range f.order {
		n += fd.limit - min(fd.limit, fd.cursor.Next)
		for i := range fd.busy {
			if i < fd.cursor.Next {
				n++
			}
		}
	}
	return n
}

// end has Next fail from now on.
func (f *Follower) end(cause error) {
	f.mu.Lock()
	if f.cause == nil {
		f.cause = cause
	}
	f.mu.Unlock()
	f.signal()
}

func (f *Follower) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Close lets the name go; not while Next is under way. What was not acknowledged is
// given out again by the name's next follower. Twice is fine.
func (f *Follower) Close() error {
	f.end(ErrClosed)
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil
	}
	f.closed = true
	f.mu.Unlock()
	for _, r := range f.readings {
		if r.source != nil {
			r.stop()
		}
	}
	f.store(0)
	f.h.release(f)
	close(f.gone)
	return nil
}
