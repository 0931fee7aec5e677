package tree

import "time"

const (
	// sentUpFor is how long a chunk that went up is not sent up again, so that
	// copies do not double at each level (PROTOCOL §4 From depth).
	sentUpFor = 2 * time.Second
	maxSentUp = 4096
)

// sentUp is a chunk that went up lately.
type sentUp struct {
	print uint64
	at    time.Time
}

// passUp sends a child's verified publication to all parents. The binding's
// duplicate rule is the broker's to apply; here only a chunk that just went up
// is held back.
func (c *Cohort) passUp(now time.Time, k *check, out []Action) []Action {
	if !c.data.mayPass(now, k.print) {
		c.counters[CountDuplicate]++
		return out
	}
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

// mayPass says whether the chunk of that fingerprint did not go up lately, and
// notes that it does now.
func (d *data) mayPass(now time.Time, print uint64) bool {
	old := 0
	for old < len(d.sent) && (now.Sub(d.sent[old].at) >= sentUpFor || len(d.sent)-old >= maxSentUp) {
		delete(d.sentAt, d.sent[old].print)
		old++
	}
	d.sent = d.sent[:copy(d.sent, d.sent[old:])]
	if _, ok := d.sentAt[print]; ok {
		return false
	}
	if d.sentAt == nil {
		d.sentAt = make(map[uint64]struct{})
	}
	d.sentAt[print] = struct{}{}
	d.sent = append(d.sent, sentUp{print, now})
	return true
}
