package lane

import (
	"maps"
	"sync"
)

// counts counts events by reason. Reasons come from fixed sets in this package
// and in wire/beef, never from a peer, so the map stays small.
type counts struct {
	mu sync.Mutex
	n  map[string]uint64
}

func (c *counts) add(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = make(map[string]uint64)
	}
	c.n[reason]++
}

// snapshot returns a copy; never nil.
func (c *counts) snapshot() map[string]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		return map[string]uint64{}
	}
	return maps.Clone(c.n)
}
