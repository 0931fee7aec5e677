package tree

import (
	"time"
)

// Limits of PROTOCOL §5 Lag.
const (
	lagChunks = 8
	lagAge    = 2 * time.Second
	lagBehind = 10 * time.Second
	lagEvery  = 500 * time.Millisecond
	// lagRing chunks are compared, and lagSpan is what they are to cover: of a
	// denser stream only a sample is looked at.
	lagRing = 512
	lagSpan = lagBehind + lagAge
	// lagSparse without a sampled chunk makes the sample denser.
	lagSparse = 250 * time.Millisecond
)

// lag compares what the parents bring: the newest chunks, and which of the
// parents have brought each. A node with one parent keeps the books too, as
// the next one may still bring what the first brought before it.
type lag struct {
	ring  []brought
	at    map[uint64]uint64 // fingerprint -> sequence number, while in the ring
	next  uint64            // sequence number
	mask  uint64            // only fingerprints without these bits are sampled
	thin  uint64            // sequence number from which on the mask may grow
	last  time.Time         // when a chunk was entered
	looks time.Time         // when the parents are compared next
}

// brought is one chunk.
type brought struct {
	print uint64
	when  time.Time
	by    uint8 // a bit a parent's slot
}

// everybody has brought a chunk that says nothing.
const everybody = ^uint8(0)

// bring notes that the parent of slot has sent the chunk of that fingerprint,
// and returns how late it is behind the first copy. Fresh chunks are those that
// nobody brought before, or that are still being verified; a copy of one that is
// not in the books any more says nothing.
func (l *lag) bring(now time.Time, print uint64, slot uint8, fresh bool) time.Duration {
	if l.mask != 0 && now.Sub(l.last) > lagSparse {
		l.mask >>= 1
	}
	if print&l.mask != 0 {
		return 0
	}
	if seq, ok := l.at[print]; ok {
		b := &l.ring[seq%lagRing]
		b.by |= 1 << slot
		return now.Sub(b.when)
	}
	if fresh {
		l.enter(now, brought{print, now, 1 << slot})
	}
	return 0
}

// enter adds a chunk, in place of the oldest when the ring is full.
func (l *lag) enter(now time.Time, b brought) {
	if l.at == nil {
		l.at = make(map[uint64]uint64)
	}
	thinner := false
	if len(l.ring) < lagRing {
		l.ring = append(l.ring, b)
	} else {
		old := &l.ring[l.next%lagRing]
		if age := now.Sub(old.when); age < lagSpan && l.next >= l.thin {
			for ; age < lagSpan && l.mask < 1<<20; age = 2*age + 1 {
				l.mask = l.mask<<1 | 1
			}
			l.thin = l.next + lagRing
			thinner = true
		}
		delete(l.at, old.print)
		*old = b
	}
	l.at[b.print] = l.next
	l.next++
	l.last = now
	if thinner {
		l.sample()
	}
}

// sample has chunks say nothing whose copies are not looked at any more, also when
// the sample is dense again.
func (l *lag) sample() {
	for i := range l.ring {
		if b := &l.ring[i]; b.print&l.mask != 0 {
			b.by = everybody
		}
	}
}

// forget takes the bit of a slot that has a new parent.
func (l *lag) forget(slot uint8) {
	for i := range l.ring {
		if b := &l.ring[i]; b.by != everybody {
			b.by &^= 1 << slot
		}
	}
}

// lacks counts the chunks over lagAge old, brought by others since p was settled,
// that p has not brought although it has brought a newer one.
func (l *lag) lacks(now time.Time, p *parent) (n int) {
	newer := false
	for seq := l.next; seq > l.next-uint64(len(l.ring)); seq-- {
		b := &l.ring[(seq-1)%lagRing]
		switch {
		case b.by == everybody:
		case b.by&(1<<p.slot) != 0:
			newer = true
		case newer && now.Sub(b.when) > lagAge && b.when.Sub(p.since) > lagAge:
			n++
		}
	}
	return n
}

// silent says whether p has sent nothing for lagAge while others sent lagChunks:
// the time counts from the first of them, as before it nobody sent anything.
func (l *lag) silent(now time.Time, p *parent) bool {
	if now.Sub(p.moved) < lagAge {
		return false
	}
	n, first := 0, now
	for i := range l.ring {
		if b := &l.ring[i]; b.by&(1<<p.slot) == 0 && b.when.After(p.moved) {
			n++
			if b.when.Before(first) {
				first = b.when
			}
		}
	}
	return n >= lagChunks && now.Sub(first) >= lagAge
}

// brings notes a chunk from a parent and, now and then, compares the parents.
func (c *Cohort) brings(now time.Time, p *parent, print uint64, fresh bool, out []Action) []Action {
	p.moved = now
	if c.cfg.Parents < 2 {
		return out
	}
	if c.lag.bring(now, print, p.slot, fresh) > lagBehind {
		return c.lagging(now, p, out)
	}
	if len(c.parents) < 2 || now.Before(c.lag.looks) {
		return out
	}
	c.lag.looks = now.Add(lagEvery)
	for i := range c.parents {
		q := &c.parents[i]
		if q.unwanted || !q.drop.IsZero() || now.Sub(q.since) < lagAge {
			continue
		}
		if c.lag.lacks(now, q) >= lagChunks || c.lag.silent(now, q) {
			return c.lagging(now, q, out)
		}
	}
	return out
}

// lagging lets a parent go as soon as another takes its place, unless no other
// is left to compare it with.
func (c *Cohort) lagging(now time.Time, p *parent, out []Action) []Action {
	if c.wantedParents() < 2 || p.unwanted {
		return out
	}
	c.counters[CountLag]++
	peer := p.peer
	p.unwanted, p.keep = true, now.Add(displacedFor)
	c.standby.stale = true
	c.avoidPeer(now, peer)
	out = append(out, Action{Kind: ActReport, Report: &Report{Kind: ReportLag, Peer: peer, Parents: len(c.parents)}})
	c.shed(now)
	if c.wanted() == 0 {
		return c.settled(now, out)
	}
	return c.lookOn(now, out)
}
