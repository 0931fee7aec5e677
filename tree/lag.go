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
	lagRing   = 512
)

// lag compares what the parents bring: the newest chunks, and which of the
// parents have brought each.
type lag struct {
	ring  []brought
	at    map[uint64]uint64 // fingerprint -> sequence number, while in the ring
	next  uint64            // sequence number
	looks time.Time         // when the parents are compared next
}

// brought is one chunk.
type brought struct {
	print uint64
	when  time.Time
	by    uint8 // a bit a parent's slot
}

// bring notes that parent p has sent the chunk of that fingerprint, and returns
// how late it is behind the first copy.
func (l *lag) bring(now time.Time, print uint64, slot uint8) time.Duration {
	if seq, ok := l.at[print]; ok {
		b := &l.ring[seq%lagRing]
		b.by |= 1 << slot
		return now.Sub(b.when)
	}
	if l.at == nil {
		l.at = make(map[uint64]uint64)
	}
	b := brought{print, now, 1 << slot}
	if len(l.ring) < lagRing {
		l.ring = append(l.ring, b)
	} else {
		old := &l.ring[l.next%lagRing]
		delete(l.at, old.print)
		*old = b
	}
	l.at[print] = l.next
	l.next++
	return 0
}

// forget takes the bit of a slot that has a new parent.
func (l *lag) forget(slot uint8) {
	for i := range l.ring {
		l.ring[i].by &^= 1 << slot
	}
}

// lacks counts the chunks over lagAge old, brought by others since p was settled,
// that p has not brought although it has brought a newer one.
func (l *lag) lacks(now time.Time, p *parent) (n int) {
	newer := false
	for seq := l.next; seq > l.next-uint64(len(l.ring)); seq-- {
		b := &l.ring[(seq-1)%lagRing]
		switch {
		case b.by&(1<<p.slot) != 0:
			newer = true
		case newer && now.Sub(b.when) > lagAge && b.when.Sub(p.since) > lagAge:
			n++
		}
	}
	return n
}

// since counts the chunks that others brought after p's last.
func (l *lag) since(p *parent) (n int) {
	for i := range l.ring {
		if b := &l.ring[i]; b.by&(1<<p.slot) == 0 && b.when.After(p.moved) {
			n++
		}
	}
	return n
}

// brings notes a chunk from a parent and, now and then, compares the parents.
func (c *Cohort) brings(now time.Time, p *parent, print uint64, out []Action) []Action {
	if len(c.parents) < 2 {
		return out
	}
	p.moved = now
	if c.lag.bring(now, print, p.slot) > lagBehind {
		return c.lagging(now, p, out)
	}
	if now.Before(c.lag.looks) {
		return out
	}
	c.lag.looks = now.Add(lagEvery)
	for i := range c.parents {
		q := &c.parents[i]
		if q.unwanted || !q.drop.IsZero() || now.Sub(q.since) < lagAge {
			continue
		}
		if c.lag.lacks(now, q) >= lagChunks || now.Sub(q.moved) >= lagAge && c.lag.since(q) >= lagChunks {
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
	p.unwanted = true
	c.avoidPeer(now, peer)
	out = append(out, Action{Kind: ActReport, Report: &Report{Kind: ReportLag, Peer: peer, Parents: len(c.parents)}})
	c.shed(now)
	if c.wanted() == 0 {
		return c.settled(now, out)
	}
	return c.lookOn(now, out)
}
