package retain

import (
	"fmt"
	"sync"
	"time"

	"treecast/wire"
)

// Defaults of RingConfig (PROTOCOL §8).
const (
	DefaultRingSpan = 15 * time.Second
	DefaultRingMin  = 4 << 20
	DefaultRingMax  = 512 << 20
)

// slabBytes is the unit in which a ring takes and gives back memory.
const slabBytes = 64 << 10

// RingConfig bounds a ring. A zero field is the default beside it.
type RingConfig struct {
	// Span is how old a chunk may get where there are more than Min bytes [15 s].
	Span time.Duration
	// Min and Max bound the bytes of messages: below Min nothing is forgotten,
	// above Max the oldest go whatever their age [4 MiB, 512 MiB].
	Min, Max int
}

// A Ring keeps the newest messages of one cohort in memory. They are copied in,
// so that what is kept costs its own length and no buffer of a stream. Its
// methods may be called by several goroutines.
type Ring struct {
	cfg RingConfig

	mu    sync.Mutex
	slabs []*slab // oldest first
	base  uint64  // number of the first slab
	spare *slab
	bytes int
	feeds map[wire.Owner]map[uint64]place
}

// A slab is memory for some messages, one behind the other.
type slab struct {
	buf     []byte
	newest  time.Time
	entries []entry
}

// entry is a message's place in the index.
type entry struct {
	owner wire.Owner
	index uint64
}

// place is where a message lies.
type place struct {
	slab uint64
	at   uint32
	size uint32
}

// NewRing makes a ring from a checked copy of cfg.
func NewRing(cfg RingConfig) (*Ring, error) {
	if cfg.Span < 0 || cfg.Min < 0 || cfg.Max < 0 {
		return nil, fmt.Errorf("retain: config ring: %v of %d to %d bytes: negative", cfg.Span, cfg.Min, cfg.Max)
	}
	if cfg.Span == 0 {
		cfg.Span = DefaultRingSpan
	}
	if cfg.Min == 0 {
		cfg.Min = DefaultRingMin
	}
	if cfg.Max == 0 {
		cfg.Max = DefaultRingMax
	}
	if cfg.Max < cfg.Min {
		return nil, fmt.Errorf("retain: config ring Max: %d below Min %d", cfg.Max, cfg.Min)
	}
	return &Ring{cfg: cfg, feeds: make(map[wire.Owner]map[uint64]place)}, nil
}

// Add copies a message in. One that is there under that index stays.
func (r *Ring) Add(now time.Time, owner wire.Owner, index uint64, msg []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	feed := r.feeds[owner]
	if feed == nil {
		feed = make(map[uint64]place)
		r.feeds[owner] = feed
	} else if _, ok := feed[index]; ok {
		return
	}
	s := r.room(len(msg))
	feed[index] = place{slab: r.base + uint64(len(r.slabs)) - 1, at: uint32(len(s.buf)), size: uint32(len(msg))}
	s.buf = append(s.buf, msg...)
	s.entries = append(s.entries, entry{owner, index})
	s.newest = now
	r.bytes += len(msg)
	r.trim(now, r.cfg.Max)
}

// room is the slab that takes n bytes more.
func (r *Ring) room(n int) *slab {
	if len(r.slabs) > 0 {
		if s := r.slabs[len(r.slabs)-1]; len(s.buf)+n <= cap(s.buf) {
			return s
		}
	}
	s := r.spare
	r.spare = nil
	if s == nil {
		s = &slab{buf: make([]byte, 0, slabBytes)}
	}
	r.slabs = append(r.slabs, s)
	return s
}

// trim forgets the oldest slabs beyond the bounds, of which most is at most Max;
// never the newest.
func (r *Ring) trim(now time.Time, most int) {
	for len(r.slabs) > 1 {
		s := r.slabs[0]
		left := r.bytes - len(s.buf)
		if r.bytes <= most && (left < r.cfg.Min || now.Sub(s.newest) <= r.cfg.Span) {
			return
		}
		for _, e := range s.entries {
			feed := r.feeds[e.owner]
			delete(feed, e.index)
			if len(feed) == 0 {
				delete(r.feeds, e.owner)
			}
		}
		r.bytes = left
		s.buf, s.entries = s.buf[:0], s.entries[:0]
		r.spare = s
		r.slabs[0] = nil
		r.slabs = r.slabs[1:]
		r.base++
	}
}

// Trim forgets what has become too old, and the oldest beyond most bytes, be that
// below Min: memory is needed elsewhere. It returns the bytes that are held.
func (r *Ring) Trim(now time.Time, most int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trim(now, int(min(most, int64(r.cfg.Max))))
	return int64(len(r.slabs)) * slabBytes
}

// Read fills p with messages of owner's feed from index from up to and with to,
// and returns the first index that it has not looked at.
func (r *Ring) Read(owner wire.Owner, from, to uint64, p *Page) (next uint64) {
	p.reset()
	r.mu.Lock()
	defer r.mu.Unlock()
	feed := r.feeds[owner]
	if len(feed) == 0 {
		return to + 1
	}
	for next = from; next <= to; next++ {
		at, ok := feed[next]
		if !ok {
			continue
		}
		buf := r.slabs[at.slab-r.base].buf
		if !p.add(next, buf[at.at:at.at+at.size]) {
			return next
		}
	}
	return next
}

// first is the lowest index of owner's feed in the ring. It looks at all of them.
func (r *Ring) first(owner wire.Owner) (first uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for index := range r.feeds[owner] {
		if !ok || index < first {
			first, ok = index, true
		}
	}
	return first, ok
}
