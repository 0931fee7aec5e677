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

// RingConfig bounds a ring. A zero field is the default beside it.
type RingConfig struct {
	// Span is how old a chunk may get where there are more than Min bytes [15 s].
	Span time.Duration
	// Min and Max bound the bytes of messages: below Min nothing is forgotten,
	// above Max the oldest go whatever their age [4 MiB, 512 MiB].
	Min, Max int
}

// A Ring keeps the newest messages of one cohort in memory, in slabs that the queues
// to the children share: a frame is copied once, to where it is sent from and kept. So
// what is kept costs its own length and no buffer of a stream. Its methods may be
// called by several goroutines.
type Ring struct {
	cfg RingConfig

	mu    sync.Mutex
	slabs []slab // oldest first; the last one is being filled
	base  uint64 // number of the first slab
	spare []entry
	bytes int // of all slabs
	feeds map[wire.Owner]map[uint64]place
}

// A slab is one of a ring's: frames, one behind the other, of which some are kept.
type slab struct {
	mem     *wire.Slab
	bytes   int // that are used
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

// Lay copies a frame in, behind the one before, to be sent from there; it is not kept
// unless Add says so. The piece has a reference of its own, which is the caller's.
func (r *Ring) Lay(frame []byte) wire.Piece {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytes += len(frame)
	if n := len(r.slabs); n > 0 {
		s := &r.slabs[n-1]
		if p, ok := s.mem.Lay(frame); ok {
			s.bytes += len(frame)
			return p
		}
	}
	s := slab{mem: wire.NewSlab(), bytes: len(frame), entries: r.spare}
	r.spare = nil
	r.slabs = append(r.slabs, s)
	p, _ := s.mem.Lay(frame) // no frame is as long as a slab
	return p
}

// Add keeps the message that ends p, a piece that was laid, behind a prefix of so
// many bytes. The piece stays the caller's. A message that is there under that index
// stays; and one whose slab was given up meanwhile is not kept.
func (r *Ring) Add(now time.Time, owner wire.Owner, index uint64, p wire.Piece, prefix int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := len(r.slabs) - 1
	for at >= 0 && !p.Of(r.slabs[at].mem) {
		at--
	}
	if at < 0 {
		return
	}
	feed := r.feeds[owner]
	if feed == nil {
		feed = make(map[uint64]place)
		r.feeds[owner] = feed
	} else if _, ok := feed[index]; ok {
		return
	}
	s := &r.slabs[at]
	feed[index] = place{slab: r.base + uint64(at), at: uint32(p.Start() + prefix), size: uint32(p.Len() - prefix)}
	s.entries = append(s.entries, entry{owner, index})
	s.newest = now
	r.trim(now, r.cfg.Max)
}

// trim forgets the oldest slabs beyond the bounds, of which most is at most Max;
// never the newest.
func (r *Ring) trim(now time.Time, most int) {
	for len(r.slabs) > 1 {
		s := &r.slabs[0]
		left := r.bytes - s.bytes
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
		s.mem.Release()
		r.spare = s.entries[:0]
		*s = slab{}
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
	return int64(len(r.slabs)) * wire.SlabBytes
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
		mem := r.slabs[at.slab-r.base].mem
		if !p.add(next, mem.Piece(int(at.at), int(at.at+at.size)).Bytes()) {
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
