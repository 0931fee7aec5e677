package retain

import (
	"slices"
	"sync"
	"time"

	"treecast/wire"
)

// A Log is what one cohort keeps: a ring in memory and, if there is one, the
// node's store. Its methods may be called by several goroutines.
type Log struct {
	topic wire.Topic
	ring  *Ring
	store *Store // nil: the ring is all

	mu    sync.Mutex
	voids map[wire.Owner][]wire.IndexRange // sorted and disjoint; read from the store at first need

	progress progress
}

// NewLog makes the log of a cohort. A nil store keeps nothing beyond the ring. The
// error is about cfg.
func NewLog(topic wire.Topic, cfg RingConfig, store *Store) (*Log, error) {
	ring, err := NewRing(cfg)
	if err != nil {
		return nil, err
	}
	return &Log{topic: topic, ring: ring, store: store, voids: make(map[wire.Owner][]wire.IndexRange)}, nil
}

// Lay copies the frame of a message to where it is sent from, see Ring.Lay. The piece
// has a reference of its own, which is the caller's.
func (l *Log) Lay(buf *wire.Buf) wire.Piece { return l.ring.Lay(buf.Frame()) }

// Add keeps a message whose frame was laid: buf holds it; both stay the caller's.
// Confirmed says that somebody will be told that it is kept, see Store.Put. False: it
// is in memory alone, although there is a store.
func (l *Log) Add(now time.Time, owner wire.Owner, index uint64, buf *wire.Buf, laid wire.Piece, confirmed bool) bool {
	l.ring.Add(now, owner, index, laid, laid.Len()-len(buf.Msg()))
	return l.store == nil || l.store.Put(l.topic, owner, index, buf.Retain(), confirmed)
}

// Trim has the ring forget what has become too old for memory, and the oldest
// beyond most bytes; it returns the bytes that are held there.
func (l *Log) Trim(now time.Time, most int64) int64 { return l.ring.Trim(now, most) }

// pages are for reads that look into two places.
var pages = sync.Pool{New: func() any { return new(Page) }}

// Read fills p with messages of owner's feed from index from up to and with to,
// and returns the first index that it has not looked at.
func (l *Log) Read(owner wire.Owner, from, to uint64, p *Page) (next uint64, err error) {
	next = l.ring.Read(owner, from, to, p)
	if l.store == nil || uint64(len(p.Chunks)) == next-from {
		return next, nil
	}
	recent, old := pages.Get().(*Page), pages.Get().(*Page)
	defer pages.Put(recent)
	defer pages.Put(old)
	old.Bytes = p.Bytes
	*recent, *p = *p, Page{Bytes: p.Bytes, Chunks: recent.Chunks, buf: recent.buf}
	oldNext, err := l.store.Read(l.topic, owner, from, next-1, old)
	if err != nil {
		return from, err
	}
	next = min(next, oldNext)
	return merge(p, recent.Chunks, old.Chunks, next), nil
}

// merge fills p with what lies below next in either of two lists, and returns
// the first index that it has not looked at.
func merge(p *Page, a, b []Chunk, next uint64) uint64 {
	p.reset()
	for len(a) > 0 || len(b) > 0 {
		first := &a
		if len(a) == 0 || len(b) > 0 && b[0].Index < a[0].Index {
			first = &b
		}
		c := (*first)[0]
		*first = (*first)[1:]
		if c.Index >= next {
			break
		}
		if n := len(p.Chunks); n > 0 && p.Chunks[n-1].Index == c.Index {
			continue
		}
		if !p.add(c.Index, c.Msg) {
			return c.Index
		}
	}
	return next
}

// AddVoid keeps a void range (PROTOCOL §7 Indices).
func (l *Log) AddVoid(owner wire.Owner, r wire.IndexRange) {
	known := l.Voids(owner)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range known {
		if k.From <= r.From && r.To <= k.To {
			return
		}
	}
	list := join(slices.Clone(known), r)
	if len(list) > maxVoids {
		list = list[len(list)-maxVoids:]
	}
	l.voids[owner] = list
	if l.store != nil {
		l.store.AddVoid(l.topic, owner, r)
	}
}

// join adds a range to a sorted list of disjoint ones, together with those that
// it touches.
func join(list []wire.IndexRange, r wire.IndexRange) []wire.IndexRange {
	i := 0
	for i < len(list) && list[i].To+1 < r.From {
		i++
	}
	j := i
	for ; j < len(list) && list[j].From <= r.To+1; j++ {
		r = wire.IndexRange{From: min(r.From, list[j].From), To: max(r.To, list[j].To)}
	}
	return slices.Replace(list, i, j, r)
}

// Voids are the void ranges of a feed, sorted and disjoint; read-only. A store
// that cannot be read counts as empty here: those who ask are told that the
// indices are missing.
func (l *Log) Voids(owner wire.Owner) []wire.IndexRange {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, ok := l.voids[owner]
	if ok || l.store == nil {
		return list
	}
	stored, err := l.store.Voids(l.topic, owner)
	if err != nil {
		return nil
	}
	for _, r := range stored {
		list = join(list, r)
	}
	l.voids[owner] = list
	return list
}
