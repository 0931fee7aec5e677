// Package tree does close to what is forbidden.
package tree

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"treecast/e2e/arch/testdata/fine/wire"
)

// Core is told the time and given its chance.
type Core struct {
	rng  *rand.Rand
	at   time.Time
	seen map[string]int
}

// Now is a method of that name, and no clock.
func (c *Core) Now() time.Time { return c.at }

// Step uses both.
func (c *Core) Step(now time.Time) (int, error) {
	if c.Now().After(now) {
		return 0, fmt.Errorf("tree: time runs back by %v", c.at.Sub(now))
	}
	c.at = now.Add(time.Duration(c.rng.IntN(10)))
	sum := 0
	for _, n := range c.seen { // a sum has no order
		sum += n
	}
	// The order is that of the keys.
	for range maps.Keys(c.seen) {
		sum++
	}
	for i := range slices.Sorted(maps.Keys(c.seen)) {
		sum += i
	}
	wire.Count.Add(1)
	return sum, nil
}
