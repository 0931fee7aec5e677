package follow

import (
	"maps"
	"slices"

	"treecast/node/retain"
	"treecast/wire"
)

const (
	// look is how many indices are looked at in one read: a read waits for nobody,
	// but it holds the lock of what is in memory.
	look = 256
	// deepest is how far below the newest index a chunk may still come: older ones
	// are taken for duplicates by the tree (PROTOCOL §4 Duplicates).
	deepest = 1 << 16
)

// A feed is one owner's, as a follower reads it.
type feed struct {
	topic   wire.Topic
	owner   wire.Owner
	reading *reading

	// Of Next's goroutine.
	again []wire.IndexRange // below read, to be looked at once more; in order
	late  uint64            // as of retain.Progress.Late

	// Under Follower.mu; written by Next's goroutine and by Ack.
	cursor   retain.Cursor
	busy     map[uint64]struct{} // chunks of objects under way or not acknowledged
	limit    uint64              // as of retain.Progress.Firm
	read     uint64              // all below was looked at
	unstored int                 // indices done since the cursor was stored
}

// newFeed makes the feed of an owner that was not known yet, from the stored
// position. A name that follows the cohort from now on starts at what comes next;
// for another one a feed without a position is one that began since. Where that was
// nobody knows after a restart: the first chunks may be a gap that the node went
// over before. So what lies below the start stays open.
func (f *Follower) newFeed(topic wire.Topic, r *reading, p *retain.Progress, isNew bool) (*feed, error) {
	fd := &feed{topic: topic, owner: p.Owner, reading: r, late: p.Late, busy: make(map[uint64]struct{})}
	var known bool
	fd.cursor, known = f.h.cfg.Positions.Get(f.name, topic, p.Owner)
	switch {
	case known:
	case isNew:
		fd.cursor.Next, fd.cursor.From = p.Next, p.Next
	default:
		fd.cursor.Next = p.Begin
		first, ok, err := r.source.First(p.Owner)
		if err != nil {
			return nil, err
		}
		if ok {
			fd.cursor.Next = min(first, p.Begin)
		}
		low := fd.cursor.Next - min(fd.cursor.Next, deepest)
		fd.cursor.From = low
		if low < fd.cursor.Next {
			fd.cursor.Holes = []wire.IndexRange{{From: low, To: fd.cursor.Next - 1}}
		}
	}
	fd.read = fd.cursor.Next
	if !known {
		f.mu.Lock()
		f.put(fd)
		f.mu.Unlock()
		return fd, nil
	}
	f.reopen(fd)
	return fd, f.prime(fd)
}

// done notes that indices are done with; called under Follower.mu.
func (fd *feed) done(r wire.IndexRange) {
	fd.cursor.Done(r)
	fd.unstored += int(min(r.Len(), look))
}

// atHand says whether there is something to look at.
func (fd *feed) atHand() bool { return len(fd.again) > 0 || fd.read < fd.limit }

// reopen has everything looked at once more that is not done with nor under way.
func (f *Follower) reopen(fd *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	open := slices.Clone(fd.cursor.Holes)
	if fd.cursor.Next < fd.read {
		open = append(open, wire.IndexRange{From: fd.cursor.Next, To: fd.read - 1})
	}
	busy := slices.Sorted(maps.Keys(fd.busy))
	fd.again = fd.again[:0]
	for _, r := range open {
		i, _ := slices.BinarySearch(busy, r.From)
		for ; i < len(busy) && busy[i] <= r.To; i++ {
			if r.From < busy[i] {
				fd.again = append(fd.again, wire.IndexRange{From: r.From, To: busy[i] - 1})
			}
			r.From = busy[i] + 1
		}
		if r.From <= r.To {
			fd.again = append(fd.again, r)
		}
	}
}

// prune gives up open indices that cannot come any more, and the lowest ranges of
// too many, never those under way. It returns how many were given up for their
// number. Called under Follower.mu.
func (fd *feed) prune() (given uint64) {
	holes := fd.cursor.Holes
	low := fd.read - min(fd.read, deepest)
	if len(holes) == 0 || len(holes) <= retain.MaxHoles && holes[0].To >= low {
		return 0
	}
	busy := slices.Sorted(maps.Keys(fd.busy))
	kept := holes[:0]
	surplus := len(holes) - retain.MaxHoles
	for _, h := range holes {
		i, _ := slices.BinarySearch(busy, h.From)
		switch needed := i < len(busy) && busy[i] <= h.To; {
		case needed:
		case h.To < low:
			surplus--
			continue
		case surplus > 0:
			given += h.Len()
			surplus--
			continue
		}
		kept = append(kept, h)
	}
	fd.cursor.Holes = kept
	return given
}

// read looks at the next indices of a feed.
func (f *Follower) read(fd *feed) error {
	from, to, fresh := fd.read, fd.limit-1, true
	if len(fd.again) > 0 {
		from, to, fresh = fd.again[0].From, fd.again[0].To, false
	}
	to = min(to, from+look-1)
	next, err := fd.reading.source.Read(fd.owner, from, to, &f.page)
	if err != nil {
		return err
	}
	if len(f.page.Chunks) == 0 {
		if next, err = f.nothing(fd, from, next, fresh); err != nil {
			return err
		}
	}
	at := from
	for i := range f.page.Chunks {
		c := &f.page.Chunks[i]
		if err := f.missing(fd, at, c.Index, fresh); err != nil {
			return err
		}
		f.chunk(fd, c)
		at = c.Index + 1
	}
	if err := f.missing(fd, at, next, fresh); err != nil {
		return err
	}
	if fresh {
		f.mu.Lock()
		fd.read = next
		f.mu.Unlock()
	} else if fd.again[0].From = next; next > fd.again[0].To {
		fd.again = fd.again[1:]
	}
	f.store(look * 4)
	return nil
}

// nothing goes over indices of which none is kept, up to the first that is. It
// returns the index that the reading goes on at.
func (f *Follower) nothing(fd *feed, from, next uint64, fresh bool) (uint64, error) {
	first, ok, err := fd.reading.source.First(fd.owner)
	if err != nil {
		return from, err
	}
	to := fd.limit
	if !fresh {
		to = fd.again[0].To + 1
	}
	if ok {
		to = min(to, first)
	}
	if to <= next {
		return next, nil
	}
	f.skip(fd, wire.IndexRange{From: from, To: to - 1}, fresh)
	return to, nil
}

// missing judges indices, to not included, that were not found: they were never
// published, or are not kept any more, or are a gap and stay open.
func (f *Follower) missing(fd *feed, from, to uint64, fresh bool) error {
	if from >= to {
		return nil
	}
	r := wire.IndexRange{From: from, To: to - 1}
	f.mu.Lock()
	for _, v := range fd.reading.source.Voids(fd.owner) {
		if v.From <= r.To && r.From <= v.To {
			fd.done(wire.IndexRange{From: max(v.From, r.From), To: min(v.To, r.To)})
		}
	}
	done := fd.has(r)
	f.mu.Unlock()
	if done {
		return nil
	}
	first, ok, err := fd.reading.source.First(fd.owner)
	if err != nil {
		return err
	}
	if !ok || first > r.From {
		skipped := r
		if ok {
			skipped.To = min(r.To, first-1)
		}
		f.skip(fd, skipped, fresh)
		r.From = skipped.To + 1
	}
	if fresh {
		f.mu.Lock()
		defer f.mu.Unlock()
		for i := r.From; i <= r.To; i++ {
			if !fd.cursor.Has(i) {
				f.h.counted.gaps.Add(1)
			}
		}
	}
	return nil
}

// has says whether all of a range is done with.
func (fd *feed) has(r wire.IndexRange) bool {
	for i := r.From; i <= r.To; i++ {
		if !fd.cursor.Has(i) {
			return false
		}
	}
	return true
}

// skip passes over what lies below all that is kept, and says so when it comes to it.
// It stays open as a gap does: the oldest that is kept may be the first that came.
func (f *Follower) skip(fd *feed, r wire.IndexRange, fresh bool) {
	if !fresh {
		return
	}
	f.h.counted.skipped.Add(r.Len())
	f.h.cfg.Log.Warn("position is not kept any more: going on at the oldest that is", "name", f.name,
		"topic", fd.topic.String(), "owner", fd.owner.String(), "from", r.From, "to", r.To)
}
