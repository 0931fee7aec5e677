package tree

import "time"

// Bounds of what is remembered of chunks that went up.
const (
	// sentUpFor is how long a chunk that went up is not sent up again, so that
	// copies do not double at each level (PROTOCOL §4 From depth).
	sentUpFor = 2 * time.Second
	maxSentUp = 4096
)

// passUp sends a child's verified publication to all parents. The binding's
// duplicate rule is the broker's to apply; here only a chunk that just went up
// is held back.
func (c *Cohort) passUp(now time.Time, k *check, out []Action) []Action {
	if len(c.parents) == 0 {
		c.counters[CountFromDepth]++ // the publisher sends again
		return out
	}
	c.data.noteSent(now, k.print)
	return c.toParents(k.chunk, out)
}

// toParents forwards a chunk to every parent.
func (c *Cohort) toParents(chunk ChunkID, out []Action) []Action {
	for i := range c.parents {
		out = append(out, Action{Kind: ActForward, Stream: c.parents[i].stream, Chunk: chunk})
	}
	if len(c.parents) > 0 {
		c.counters[CountSentUp]++
	}
	return out
}

// wentUp says whether the chunk of that fingerprint went up lately.
func (d *data) wentUp(now time.Time, print uint64) bool {
	at, ok := d.sentAt[print]
	return ok && now.Sub(at) < sentUpFor
}

// noteSent notes that a chunk goes up; of too many the oldest is forgotten.
func (d *data) noteSent(now time.Time, print uint64) {
	if d.sentAt == nil {
		d.sentAt = make(map[uint64]time.Time)
	}
	if _, ok := d.sentAt[print]; !ok {
		if len(d.sent) < maxSentUp {
			d.sent = append(d.sent, print)
		} else {
			delete(d.sentAt, d.sent[d.sentNext])
			d.sent[d.sentNext] = print
			d.sentNext = (d.sentNext + 1) % maxSentUp
		}
	}
	d.sentAt[print] = now
}
