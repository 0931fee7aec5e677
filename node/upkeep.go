package node

import (
	"fmt"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"github.com/multiformats/go-multiaddr"

	"treecast/wire"
)

// The memory in use and idle cohorts are looked at every upkeepEvery, and while no
// more than one part in upkeepEasy of the memory budget is in use every upkeepRare:
// then it cannot be spent in between.
const (
	upkeepEvery = time.Second
	upkeepRare  = 4 * time.Second
	upkeepEasy  = 4
)

// upkeep is the goroutine that watches what nobody reports. It sends nothing.
func (n *Node) upkeep() {
	next := time.NewTimer(upkeepEvery)
	defer next.Stop()
	for {
		select {
		case <-next.C:
		case <-n.ctx.Done():
			return
		}
		next.Reset(upkeepAfter(n.look(), n.cfg.Memory))
	}
}

// upkeepAfter is when to look again, with so many bytes of a budget in use.
func upkeepAfter(used, budget int64) time.Duration {
	if used > budget/upkeepEasy {
		return upkeepEvery
	}
	return upkeepRare
}

// look reclaims what is idle and keeps to the memory budget. It returns the bytes in
// use, and wakes no loop that has nothing else to do.
func (n *Node) look() (used int64) {
	var queued int64
	for _, c := range n.Cohorts() {
		queued += c.queues.bytes()
		n.reclaim(c)
	}
	// What is kept for others to ask for gives way to what is under way.
	left := max(n.cfg.Memory-queued, 0)
	var kept int64
	for _, c := range n.Cohorts() {
		bytes := c.trim(time.Now(), left)
		kept += bytes
		left -= min(bytes, left)
	}
	if spent := queued > n.cfg.Memory; spent != n.spent.Swap(spent) {
		n.log.Info("memory budget", "spent", spent, "bytes", queued, "of", n.cfg.Memory)
		for _, c := range n.Cohorts() {
			c.setBudget(spent)
		}
	}
	return queued + kept
}

// reclaim closes a cohort that a peer opened and nobody uses (PROTOCOL §5 Bounds).
func (n *Node) reclaim(c *Cohort) {
	if c.open.by == "" || c.queues.count() > 0 || time.Since(time.Unix(0, c.busy.Load())) < n.cfg.Waits.Idle {
		return
	}
	idle := false
	c.call(func(l *loop) { idle = len(l.streams) == 0 && len(l.receipts) == 0 })
	if !idle {
		return
	}
	n.counts.add(countReclaimed)
	c.log.Info("idle cohort reclaimed", "opened_by", c.open.by)
	if err := c.Close(); err != nil {
		c.log.Error("idle cohort not forgotten", "err", err)
	}
}

// watchAddrs keeps every core informed of the addresses under which this node
// names itself.
func (n *Node) watchAddrs() error {
	sub, err := n.host.EventBus().Subscribe(new(event.EvtLocalAddressesUpdated), eventbus.Name("treecast"))
	if err != nil {
		return fmt.Errorf("node: watch addresses: %w", err)
	}
	n.wg.Go(func() { // ends with ctx
		defer sub.Close()
		for {
			select {
			case _, ok := <-sub.Out():
				if !ok {
					return
				}
				addrs := n.underlays()
				for _, c := range n.Cohorts() {
					c.setUnderlays(addrs)
				}
			case <-n.ctx.Done():
				return
			}
		}
	})
	return nil
}

// underlays are the hints to give of this node, the most reachable first, within
// the bounds of PROTOCOL §6 Candidate.
func (n *Node) underlays() [][]byte {
	addrs := n.Addrs()
	slices.SortStableFunc(addrs, func(a, b multiaddr.Multiaddr) int { return int(scopeOf(a)) - int(scopeOf(b)) })
	var list [][]byte
	size := 0
	for _, a := range addrs {
		b := a.Bytes()
		if scopeOf(a) == scopeRefused || len(list) == wire.MaxUnderlays || size+len(b) > wire.MaxUnderlayBytes {
			continue
		}
		list = append(list, b)
		size += len(b)
	}
	return list
}
