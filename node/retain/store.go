package retain

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"treecast/wire"
)

const (
	// overhead is what a message costs on disk besides its own bytes, as far as
	// the size bound is concerned: key, receipt, and block structures.
	overhead = 128
	// DefaultQueueBytes bounds what waits to be written.
	DefaultQueueBytes = 64 << 20
	memTable          = 16 << 20
	cacheBytes        = 8 << 20
)

// StoreConfig is what a Store is made of.
type StoreConfig struct {
	// Dir is where it lies; made if missing.
	Dir string
	// Size bounds the bytes kept, over all cohorts; the oldest go first.
	// Required.
	Size int64
	// Age is how old a message may get; 0 = any age.
	Age time.Duration
	// QueueBytes bounds the messages that wait to be written; beyond it those
	// that nobody waits for are not kept, and counted. 0 = DefaultQueueBytes.
	QueueBytes int64
	// FS is where Dir is; nil = the operating system's.
	FS vfs.FS
	// Log takes what goes wrong in the background; nil discards it.
	Log *slog.Logger
}

// A Store keeps messages on disk (PROTOCOL §8). What Sync has confirmed survives
// the end of the process and of the machine at any moment; of what it has not
// confirmed, a crash leaves what was written up to some point, never half a
// message. Its methods may be called by several goroutines.
//
// One goroutine writes, everything that waits for it at once: so a sync is paid
// per batch and not per message.
type Store struct {
	cfg StoreConfig
	db  *pebble.DB

	mu      sync.Mutex
	queue   []task
	written []task           // taken from queue, and not yet to be read from db
	marks   map[feedKey]mark // to be written
	waiting int64            // bytes of messages in queue
	closed  bool
	wake    chan struct{} // capacity 1
	wg      sync.WaitGroup

	life sync.RWMutex // held by reads; Close waits for them
	dead bool         // under life

	dropped atomic.Uint64
	kept    atomic.Int64

	writing
}

// StoreStats are figures of a Store.
type StoreStats struct {
	Bytes   int64  // kept, as the size bound counts them
	Dropped uint64 // messages that were not kept because the disk is too slow
}

// OpenStore opens or makes the store in cfg.Dir. An error leaves nothing open.
func OpenStore(cfg StoreConfig) (*Store, error) {
	switch {
	case cfg.Size <= 0:
		return nil, fmt.Errorf("retain: config Size: %d, want more than 0", cfg.Size)
	case cfg.Age < 0:
		return nil, fmt.Errorf("retain: config Age: %v is negative", cfg.Age)
	case cfg.QueueBytes < 0:
		return nil, fmt.Errorf("retain: config QueueBytes: %d is negative", cfg.QueueBytes)
	case cfg.QueueBytes == 0:
		cfg.QueueBytes = DefaultQueueBytes
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	db, err := pebble.Open(cfg.Dir, options(&cfg))
	if err != nil {
		return nil, fmt.Errorf("retain: open %s: %w", cfg.Dir, err)
	}
	s := &Store{cfg: cfg, db: db, marks: make(map[feedKey]mark), wake: make(chan struct{}, 1)}
	s.heads = make(map[feedKey]head)
	if err := s.addUp(); err != nil {
		return nil, errors.Join(fmt.Errorf("retain: open %s: %w", cfg.Dir, err), db.Close())
	}
	s.evict(time.Now())
	s.wg.Go(s.run) // ends after Close
	return s, nil
}

func options(cfg *StoreConfig) *pebble.Options {
	opt := &pebble.Options{
		FS: cfg.FS, Logger: logger{cfg.Log}, MemTableSize: memTable, CacheSize: cacheBytes,
		FormatMajorVersion: pebble.FormatNewest,
	}
	// Chunks do not compress: most are encrypted or hashed already.
	opt.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.DBCompressionNone })
	for i := range opt.Levels {
		opt.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return opt
}

// logger passes pebble's words on. A store that cannot be written any more ends
// the process: it must not confirm what it has not kept.
type logger struct{ log *slog.Logger }

func (l logger) Infof(format string, args ...any) { l.log.Debug(fmt.Sprintf(format, args...)) }

func (l logger) Errorf(format string, args ...any) { l.log.Error(fmt.Sprintf(format, args...)) }

func (l logger) Fatalf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.log.Error("retention store failed", "err", text)
	panic("retain: store: " + text)
}

// Close writes what waits, confirms it, and closes the store. Twice is fine.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.signal()
	s.wg.Wait()
	s.life.Lock()
	defer s.life.Unlock()
	s.dead = true
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("retain: close: %w", err)
	}
	return nil
}

func (s *Store) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Stats are the store's figures now.
func (s *Store) Stats() StoreStats {
	return StoreStats{Bytes: s.kept.Load(), Dropped: s.dropped.Load()}
}

// Read fills p with messages of owner's feed in the cohort of topic, from index
// from up to and with to, and returns the first index that it has not looked at.
// What waits to be written is among them.
func (s *Store) Read(topic wire.Topic, owner wire.Owner, from, to uint64, p *Page) (next uint64, err error) {
	p.reset()
	s.life.RLock()
	defer s.life.RUnlock()
	if s.dead {
		return from, errClosed
	}
	feed := feedKey{topic, owner}
	fresh := s.unwritten(&feed, from, to) // before the rest, where they are next
	defer func() {
		for i := range fresh {
			fresh[i].buf.Release()
		}
	}()
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: feed.at(kindChunk, from), UpperBound: feed.at(kindChunk, to+1)})
	if err != nil {
		return from, fmt.Errorf("retain: read: %w", err)
	}
	next = to + 1
	ok, waiting := it.First(), fresh
	for ok || len(waiting) > 0 {
		var index uint64
		var msg []byte
		if len(waiting) > 0 && (!ok || waiting[0].index < indexOf(it.Key())) {
			index, msg = waiting[0].index, waiting[0].buf.Msg()
			waiting = waiting[1:]
		} else {
			index = indexOf(it.Key())
			if msg, err = it.ValueAndErr(); err != nil {
				return from, errors.Join(fmt.Errorf("retain: read: %w", err), it.Close())
			}
		}
		n := len(p.Chunks)
		twice := n > 0 && p.Chunks[n-1].Index == index // or written meanwhile
		if !twice && !p.add(index, msg) {
			next = index
			break
		}
		ok = ok && (indexOf(it.Key()) > index || it.Next())
	}
	if err := it.Close(); err != nil {
		return from, fmt.Errorf("retain: read: %w", err)
	}
	return next, nil
}

// unwritten are the messages of a feed from index from up to and with to that wait
// to be written, or are being, in order. Each has a reference, which is the caller's.
func (s *Store) unwritten(feed *feedKey, from, to uint64) (list []task) {
	s.mu.Lock()
	for _, tasks := range [][]task{s.written, s.queue} {
		for i := range tasks {
			if t := &tasks[i]; t.buf != nil && t.index >= from && t.index <= to && t.feed == *feed {
				list = append(list, task{index: t.index, buf: t.buf.Retain()})
			}
		}
	}
	s.mu.Unlock()
	slices.SortStableFunc(list, func(a, b task) int { return cmp.Compare(a.index, b.index) })
	return list
}

// First is the lowest index of a feed that is kept; false if none is.
func (s *Store) First(topic wire.Topic, owner wire.Owner) (first uint64, ok bool, err error) {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.dead {
		return 0, false, errClosed
	}
	feed := feedKey{topic, owner}
	first, ok = s.firstUnwritten(&feed)
	prefix := feed.append(nil, kindChunk)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
	if err != nil {
		return 0, false, fmt.Errorf("retain: first: %w", err)
	}
	if it.First() && (!ok || indexOf(it.Key()) < first) {
		first, ok = indexOf(it.Key()), true
	}
	if err := it.Close(); err != nil {
		return 0, false, fmt.Errorf("retain: first: %w", err)
	}
	return first, ok, nil
}

// firstUnwritten is the lowest index of a feed that waits to be written, or is being.
func (s *Store) firstUnwritten(feed *feedKey) (first uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, tasks := range [][]task{s.written, s.queue} {
		for i := range tasks {
			if t := &tasks[i]; t.buf != nil && (!ok || t.index < first) && t.feed == *feed {
				first, ok = t.index, true
			}
		}
	}
	return first, ok
}

// Feeds are the feeds of a cohort of which anything is known, sorted by owner.
func (s *Store) Feeds(topic wire.Topic) (feeds []Feed, err error) {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.dead {
		return nil, errClosed
	}
	it, err := s.db.NewIter(nil)
	if err != nil {
		return nil, fmt.Errorf("retain: feeds: %w", err)
	}
	defer func() {
		if cerr := it.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("retain: feeds: %w", cerr)
		}
	}()
	prefix := append([]byte{kindChunk}, topic[:]...)
	for ok := it.SeekGE(prefix); ok && len(it.Key()) == indexEnd && string(it.Key()[:len(prefix)]) == string(prefix); {
		key := feedOf(it.Key())
		f := Feed{Owner: key.owner, First: indexOf(it.Key())}
		if !it.SeekLT(after(key.append(nil, kindChunk))) {
			break
		}
		f.Last = indexOf(it.Key())
		m, marked, err := s.mark(&key)
		if err != nil {
			return nil, err
		}
		f.Next, f.Open, f.Marked = m.next, m.open, marked
		feeds = append(feeds, f)
		ok = it.SeekGE(after(key.append(nil, kindChunk)))
	}
	return feeds, nil
}

// A Feed is what a store has of one owner's.
type Feed struct {
	Owner       wire.Owner
	First, Last uint64 // indices kept; there may be gaps between
	// Next is the first index that was not handed over or reported when the store
	// was last written, if Marked.
	Next   uint64
	Marked bool
	// Open are the ranges below Next that were still being recovered then.
	Open []wire.IndexRange
}

func (s *Store) mark(k *feedKey) (m mark, ok bool, err error) {
	value, closer, err := s.db.Get(k.append(nil, kindMark))
	switch {
	case errors.Is(err, pebble.ErrNotFound):
		return m, false, nil
	case err != nil:
		return m, false, fmt.Errorf("retain: mark: %w", err)
	}
	m, ok = parseMark(value)
	return m, ok, closer.Close()
}

// Voids are the void ranges of a feed, in order.
func (s *Store) Voids(topic wire.Topic, owner wire.Owner) (list []wire.IndexRange, err error) {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.dead {
		return nil, errClosed
	}
	feed := feedKey{topic, owner}
	prefix := feed.append(nil, kindVoid)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
	if err != nil {
		return nil, fmt.Errorf("retain: voids: %w", err)
	}
	for ok := it.First(); ok; ok = it.Next() {
		if key, value := it.Key(), it.Value(); len(key) == indexEnd && len(value) == 8 {
			list = append(list, wire.IndexRange{From: indexOf(key), To: binary.BigEndian.Uint64(value)})
		}
	}
	if err := it.Close(); err != nil {
		return nil, fmt.Errorf("retain: voids: %w", err)
	}
	return list, nil
}
