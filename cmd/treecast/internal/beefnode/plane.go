package beefnode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"treecast/node"
	"treecast/node/follow"
	"treecast/node/lane"
	"treecast/wire"
	"treecast/wire/beef"
)

// plane is the node's part in the BEEF plane: one cohort a group that it is in
// (PROTOCOL §7). Some groups are fixed; others it is in for as long as a consumer
// has elected a topic of theirs.
type plane struct {
	node *node.Node
	cfg  *Config
	log  *slog.Logger
	hub  *follow.Hub // nil: nothing is retained

	end  context.Context // of feeding and following
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu      sync.Mutex
	egress  *lane.Egress // nil: nothing is delivered
	members map[uint32]*member

	groups map[wire.Topic]uint32 // of all cohorts of the plane, for absent consumers
}

// member is the node's part in one group's cohort.
type member struct {
	cohort *node.Cohort
	fixed  bool
	unused time.Time // since when no consumer wants it; zero: one does
}

func newPlane(n *node.Node, cfg *Config) (*plane, error) {
	p := &plane{node: n, cfg: cfg, log: cfg.Log, members: make(map[uint32]*member)}
	p.end, p.stop = context.WithCancel(context.Background())
	positions := n.Positions()
	if positions == nil {
		return p, nil
	}
	var err error
	p.hub, err = follow.New(follow.Config{
		Positions: positions, ShardBits: cfg.ShardBits, MaxObject: cfg.ObjectMax, Log: cfg.Log,
	})
	if err == nil && cfg.ShardBits > 0 {
		p.groups = make(map[wire.Topic]uint32, 1<<cfg.ShardBits)
		for i := range uint32(1) << cfg.ShardBits {
			p.groups[beef.CohortTopic(beef.BaseGroup+i)] = beef.BaseGroup + i
		}
	}
	return p, err
}

// enter opens or joins the cohort of a group.
func (p *plane) enter(group uint32, fixed bool, open func(uint32) (*node.Cohort, error)) error {
	c, err := open(group)
	if err != nil {
		return fmt.Errorf("beefnode: group %#x: %w", group, err)
	}
	p.mu.Lock()
	p.members[group] = &member{cohort: c, fixed: fixed}
	if p.hub != nil {
		p.hub.Add(c)
	}
	egress := p.egress
	p.mu.Unlock()
	if egress == nil {
		return nil
	}
	return p.startFeed(c, egress)
}

// join joins the cohort of a group at the configured entries.
func (p *plane) join(group uint32) (*node.Cohort, error) {
	opt := node.CohortOptions{Topic: beef.CohortTopic(group), Admin: p.cfg.Admin, Publishers: p.cfg.Publishers}
	for _, j := range p.cfg.Join {
		if j.Topic == Topic() {
			opt.Entries = append(opt.Entries, j.Entries...)
		}
	}
	return p.node.Join(opt)
}

// deliver starts the delivery of what all cohorts carry, those of later ones too.
func (p *plane) deliver(e *lane.Egress) error {
	p.mu.Lock()
	p.egress = e
	cohorts := p.cohortsLocked()
	p.mu.Unlock()
	for _, c := range cohorts {
		if err := p.startFeed(c, e); err != nil {
			return err
		}
	}
	if p.cfg.ShardBits > 0 && p.cfg.Joins() {
		p.wg.Go(func() { p.follow(e) }) // ends with end
	}
	return nil
}

func (p *plane) startFeed(c *node.Cohort, e *lane.Egress) error {
	sub, err := c.Subscribe(node.SubscribeOptions{})
	if err != nil {
		return err
	}
	p.wg.Go(func() { p.feed(c, sub, e) }) // ends with end or the cohort
	return nil
}

// feed carries what the cohort delivers to the egress, which never blocks; so
// falling behind takes a machine that is overloaded, and is said.
func (p *plane) feed(c *node.Cohort, sub *node.Subscription, e *lane.Egress) {
	for {
		m, err := sub.Next(p.end)
		switch {
		case err == nil:
			e.Handle(lane.Message{
				Payload: m.Payload, Owner: m.Owner, Index: m.Index, HasIndex: m.HasIndex, Release: m.Release,
			})
			continue
		case !errors.Is(err, node.ErrSlow):
			sub.Close()
			return
		}
		p.log.Error("egress fell behind the cohort: objects are lost", "topic", c.Topic().String())
		sub.Close()
		if sub, err = c.Subscribe(node.SubscribeOptions{}); err != nil {
			return
		}
	}
}

const (
	// linger is how long a group is kept that no consumer wants any more, so that
	// one which comes back finds it.
	linger = time.Minute
	// joinAgain is how long after a failed join the next one is tried.
	joinAgain = 10 * time.Second
)

// follow joins and leaves groups as consumers come and go.
func (p *plane) follow(e *lane.Egress) {
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-e.Changed():
		case <-t.C:
		case <-p.end.Done():
			return
		}
		if wait := p.adjust(time.Now(), p.wanted(e.Groups())); wait > 0 {
			t.Reset(wait)
		}
	}
}

// wanted adds to the groups that present consumers want those that absent ones have a
// position in: what is published there meanwhile they are owed.
func (p *plane) wanted(groups []uint32) []uint32 {
	if p.hub == nil {
		return groups
	}
	for _, t := range p.hub.Topics() {
		if group, ok := p.groups[t]; ok {
			groups = append(groups, group)
		}
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

// adjust joins the groups that are wanted and leaves those that have not been for a
// while. It returns when to look again without being asked; 0: never.
func (p *plane) adjust(now time.Time, wanted []uint32) (again time.Duration) {
	soon := func(d time.Duration) {
		if again == 0 || d < again {
			again = d
		}
	}
	missing, idle := p.compare(now, wanted, soon)
	for _, group := range missing {
		if err := p.enter(group, false, p.join); err != nil {
			p.log.Warn("group not joined", "group", fmt.Sprintf("%#x", group), "err", err)
			soon(joinAgain)
			continue
		}
		p.log.Info("group joined", "group", fmt.Sprintf("%#x", group))
	}
	for group, c := range idle {
		if err := c.Close(); err != nil {
			p.log.Warn("group not left", "group", fmt.Sprintf("%#x", group), "err", err)
			continue
		}
		p.log.Info("group left", "group", fmt.Sprintf("%#x", group))
	}
	return again
}

// compare finds what adjust has to do, and takes the groups to leave out.
func (p *plane) compare(now time.Time, wanted []uint32, soon func(time.Duration)) (missing []uint32, idle map[uint32]*node.Cohort) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, group := range wanted {
		if p.members[group] == nil {
			missing = append(missing, group)
		}
	}
	idle = make(map[uint32]*node.Cohort)
	for group, m := range p.members {
		_, used := slices.BinarySearch(wanted, group)
		switch {
		case m.fixed:
		case used:
			m.unused = time.Time{}
		case m.unused.IsZero():
			m.unused = now
			soon(linger)
		case now.Sub(m.unused) >= linger:
			idle[group] = m.cohort
			delete(p.members, group)
			if p.hub != nil {
				p.hub.Remove(m.cohort)
			}
		default:
			soon(linger - now.Sub(m.unused))
		}
	}
	return missing, idle
}

// cohorts are those that the node is in now, in the order of their groups.
func (p *plane) cohorts() []*node.Cohort {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cohortsLocked()
}

func (p *plane) cohortsLocked() []*node.Cohort {
	var all []*node.Cohort
	for _, group := range slices.Sorted(maps.Keys(p.members)) {
		all = append(all, p.members[group].cohort)
	}
	return all
}

// fixed are the cohorts of the groups that the node is in to the end.
func (p *plane) fixed() map[uint32]*node.Cohort {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make(map[uint32]*node.Cohort, len(p.members))
	for group, m := range p.members {
		if m.fixed {
			all[group] = m.cohort
		}
	}
	return all
}

// close ends feeding and following. The cohorts end with the node.
func (p *plane) close() {
	p.stop()
	p.wg.Wait()
}

// beefSpec is that of a group's cohort: FEED_TOPIC, published by its admin alone or
// by the listed owners too (PROTOCOL §7).
func beefSpec(group uint32, admin wire.Owner, publishers []wire.Owner) wire.Spec {
	spec := wire.Spec{
		Topic: beef.CohortTopic(group), Binding: wire.BindingFeedTopic, Regime: wire.RegimeExplicitSingle, Admin: admin[:],
	}
	if len(publishers) > 0 {
		spec.Regime = wire.RegimeExplicitList
	}
	for i := range publishers {
		spec.Publishers = append(spec.Publishers, publishers[i][:])
	}
	return spec
}
