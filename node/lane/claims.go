package lane

import (
	"context"
	"sync"
	"time"

	"treecast/wire/beef"
)

// pair stands for (ContentID, TopicID): the first half of the pair's SHA-256. Two
// submissions that share it by design cost 2^64 hashes and hurt only their maker;
// to forestall somebody else's object costs 2^128.
type pair [16]byte

func pairOf(contentID [32]byte, topicID beef.TopicID) pair {
	key := beef.PairKey(contentID, topicID)
	return pair(key[:16])
}

// claims is an ingress's memory of what it has submitted (PROTOCOL §7 Duplicate
// submissions). A pair is pending from its claim until it is settled, and taken
// once its chunks came back down. Both keep a second submission out: were only
// taken pairs to, a publisher that sends twice in a row would have it published
// twice. It is safe for concurrent use.
type claims struct {
	mu    sync.Mutex
	held  *window[pair, claimed] // nil: the window is off
	moved chan struct{}          // closed when a pair gets its number or is released; nil: nobody waits
}

// claimed is what is known of a pair: the DeliverCounts it was published and is
// being published under, 0 for neither, and the SeqNum of the first chunk that
// was published, or of the pending one before any was; 0 = none yet.
type claimed struct {
	taken, pending uint8
	seq            uint64
}

func newClaims(limit int, age time.Duration) *claims {
	if limit < 0 || age < 0 {
		return &claims{}
	}
	return &claims{held: newWindow[pair, claimed](limit, age)}
}

// claim reports whether the object may be published, and then holds its place.
// One that was published passes again only under a higher DeliverCount.
func (c *claims) claim(now time.Time, key pair, deliverCount uint8) bool {
	if c.held == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.held.get(now, key)
	if !ok {
		c.held.put(now, key, claimed{pending: deliverCount})
		return true
	}
	if deliverCount <= max(e.taken, e.pending) {
		return false
	}
	e.pending = deliverCount
	return true
}

// number notes the SeqNum that a pending object's first chunk gets.
func (c *claims) number(now time.Time, key pair, seq uint64) {
	if c.held == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.held.get(now, key); ok && e.taken == 0 {
		e.seq = seq
		c.wake()
	}
}

// settle ends a claim: taken if the object was published, else released.
func (c *claims) settle(now time.Time, key pair, deliverCount uint8, seq uint64, published bool) {
	if c.held == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.held.get(now, key)
	if !ok { // pushed out by newer ones
		if published {
			c.held.put(now, key, claimed{taken: deliverCount, seq: seq})
		}
		return
	}
	if e.pending == deliverCount {
		e.pending = 0
	}
	if published {
		if e.taken == 0 {
			e.seq = seq
		}
		e.taken = max(e.taken, deliverCount)
	}
	if e.taken == 0 && e.pending == 0 {
		c.held.drop(key)
		c.wake()
	}
}

// first returns the SeqNum of what keeps a pair taken, waiting for it while the
// first submission has none. False: that one was released meanwhile, or ctx ended.
func (c *claims) first(ctx context.Context, key pair) (seq uint64, ok bool) {
	for {
		seq, moved := c.look(time.Now(), key)
		if moved == nil {
			return seq, seq != 0
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return 0, false
		}
	}
}

// look returns a pair's number, or what to wait on for it; neither where the pair
// is not held.
func (c *claims) look(now time.Time, key pair) (seq uint64, moved <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.held.get(now, key)
	if !ok || e.seq != 0 {
		if ok {
			seq = e.seq
		}
		return seq, nil
	}
	if c.moved == nil {
		c.moved = make(chan struct{})
	}
	return 0, c.moved
}

// wake lets everybody who waits look again; called under mu.
func (c *claims) wake() {
	if c.moved != nil {
		close(c.moved)
		c.moved = nil
	}
}
