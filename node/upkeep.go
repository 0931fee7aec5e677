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

// upkeepEvery is how often the memory in use and idle cohorts are looked at.
const upkeepEvery = time.Second

// upkeep is the goroutine that watches what nobody reports. It sends nothing.
func (n *Node) upkeep() {
	tick := time.NewTicker(upkeepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-n.ctx.Done():
			return
		}
		var queued int64
		for _, c := range n.Cohorts() {
			queued += c.queued()
			n.reclaim(c)
		}
		// What is kept for others to ask for gives way to what is under way.
		left := max(n.cfg.Memory-queued, 0)
		for _, c := range n.Cohorts() {
			left -= min(c.trim(time.Now(), left), left)
		}
		if spent := queued > n.cfg.Memory; spent != n.spent.Swap(spent) {
			n.log.Info("memory budget", "spent", spent, "bytes", queued, "of", n.cfg.Memory)
			for _, c := range n.Cohorts() {
				c.setBudget(spent)
			}
		}
	}
}

// queued is how many bytes of frames the cohort's queues hold: those of the
// longest one, as the others hold references to the same buffers.
func (c *Cohort) queued() (most int64) {
	c.call(func(l *loop) {
		for _, s := range l.streams {
			_, _, bytes := s.out.fill()
			most = max(most, bytes)
		}
	})
	return most
}

// reclaim closes a cohort that a peer opened and nobody uses (PROTOCOL §5 Bounds).
func (n *Node) reclaim(c *Cohort) {
	if c.open.by == "" || time.Since(time.Unix(0, c.busy.Load())) < n.cfg.Waits.Idle {
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
