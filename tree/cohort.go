package tree

import (
	"math/rand/v2"
	"slices"
	"time"

	"treecast/probe"
	"treecast/wire"
)

// Cohort is one node's part in one cohort. Not safe for concurrent use.
//
// Invariants, checked by valid:
//  1. Parents are distinct peers, none of them this node or one of its children.
//  2. Every parent of ours that is kept ranks below this node.
//  3. There are at most Capacity children, and one a move under way, of distinct peers, sorted by stream.
//  4. No stream is two of parent, child and pending join.
//  5. Pending joins, bans, publications and outstanding dials are within their bounds.
type Cohort struct {
	cfg      Config
	rng      *rand.Rand
	counters Counters

	spec   *wire.Spec // nil until known
	pinned bool

	band     uint32 // 0 = not placed
	parents  []parent
	children []child
	self     [][]byte // underlays of this node as a candidate
	spent    bool     // the node's memory budget is

	pending []pending
	rounds  []askerRounds
	search  *probe.Searches
	lastReq probe.Token

	moves moves
	leave leave
	lag   lag
	avoid []avoided

	seek seek
	slow slow

	standby standby
	data    data
	pub     publishing
	pace    pace

	probeActs []probe.Action // scratch
	downLinks []probe.Link
	upLinks   []probe.Link
}

// New makes a cohort's core from a checked copy of cfg. It starts nothing.
func New(cfg Config) (*Cohort, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	search, err := probe.New(probe.Config{
		Wait: cfg.Timing.ProbeWait, WaitMax: cfg.Timing.ProbeWaitMax, PlainWait: cfg.Timing.PlainWait,
		Grace: cfg.Timing.Grace, Origins: cfg.PendingJoins, Budget: cfg.ProbeBudget, Rand: cfg.Rand,
	})
	if err != nil {
		return nil, err
	}
	c := &Cohort{cfg: cfg, rng: cfg.Rand, search: search}
	c.data.init(&c.cfg)
	if cfg.Spec != nil {
		c.setSpec(cfg.Spec.Clone())
		c.pinned = true
	}
	if cfg.Broker {
		c.band = 1
	}
	return c, nil
}

// Step does what is due at now, then applies ev, and appends to out what the
// driver must do, in that order. Now never runs backwards.
func (c *Cohort) Step(now time.Time, ev Event, out []Action) []Action {
	out = c.due(now, out)
	switch ev := ev.(type) {
	case *Frame:
		out = c.frame(now, ev, out)
	case *Verified:
		out = c.verified(now, ev, out)
	case *Publish:
		out = c.publish(now, ev, out)
	case *SubscribeIn:
		out = c.subscribeIn(now, ev, out)
	case StreamEnded:
		out = c.streamEnded(now, ev, out)
	case *Dialled:
		out = c.dialled(now, ev, out)
	case *Recovered:
		out = c.recovered(now, ev, out)
	case Known:
		if c.spec != nil {
			c.noteHeads(ev.Heads)
		}
	case Silence:
		c.leadFailed(now)
	case Join:
		out = c.join(now, ev, out)
	case RTT:
		c.measured(ev)
	case Queue:
		out = c.queue(now, ev, out)
	case Budget:
		c.spent = ev.Spent
	case Underlays:
		c.setUnderlays(ev.Addrs)
	case Leave:
		out = c.leaveTree(now, out)
	case Tick:
	default:
		panic("tree: unknown event")
	}
	return c.tellParents(out)
}

// due does what time alone brings about.
func (c *Cohort) due(now time.Time, out []Action) []Action {
	if d := c.search.Deadline(); !d.IsZero() && !now.Before(d) {
		c.probeActs = c.search.Tick(now, c.down(), c.probeActs[:0])
		out = c.searched(now, c.probeActs, out)
	}
	out = c.dropShed(now, out)
	out = c.keepDue(now, out)
	out = c.movesDue(now, out)
	out = c.leaveDue(now, out)
	out = c.seekDue(now, out)
	out = c.resend(now, out)
	return c.refill(now, out)
}

// Deadline is when Step wants to be called with Tick; zero: never.
func (c *Cohort) Deadline() time.Time {
	d := earlier(c.search.Deadline(), c.seek.at)
	for i := range c.parents {
		p := &c.parents[i]
		d = earlier(earlier(d, p.drop), p.keep)
	}
	d = earlier(earlier(d, c.moves.deadline()), c.leave.deadline())
	return earlier(earlier(d, c.pub.deadline()), c.pace.deadline())
}

// earlier is the earlier of two times of which zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// frame routes a Broadcast frame by its kind and direction (PROTOCOL §2).
func (c *Cohort) frame(now time.Time, ev *Frame, out []Action) []Action {
	p, ch := c.parentOf(ev.Stream), c.childOf(ev.Stream)
	if p == nil && ch == nil {
		if ev.Chunk != 0 { // of a stream that was ended while it was on its way
			out = append(out, Action{Kind: ActRelease, Chunk: ev.Chunk})
		}
		return out
	}
	if ch != nil {
		ch.moved = now
	}
	switch ev.Msg.Kind {
	case wire.KindSoc:
		return c.chunk(now, ev, p, ch, out)
	case wire.KindProbe:
		return c.probed(now, &ev.Msg.Probe, p, ch, out)
	case wire.KindFound:
		return c.found(now, ev.Stream, &ev.Msg.Found, out)
	case wire.KindReparent:
		if ch != nil {
			c.counters[CountWrongDirection]++
		} else {
			out = c.reparented(now, p, &ev.Msg.Reparent, out)
		}
	case wire.KindStandby:
		if p != nil {
			c.counters[CountWrongDirection]++
		} else {
			out = c.stoodBy(ch, ev.Msg.Standby, out)
		}
	}
	return out
}

// streamEnded forgets a stream and what hung on it.
func (c *Cohort) streamEnded(now time.Time, ev StreamEnded, out []Action) []Action {
	if p := c.parentOf(ev.Stream); p != nil {
		switch ev.Cause {
		case CauseSlow:
			out = c.wasSlow(now, out)
		case CauseMute:
			c.avoidPeer(now, p.peer)
		}
		c.counters[CountHeals]++
		return c.forgetParent(now, ev.Stream, ev.Cause == CauseMute, out)
	}
	if _, ok := c.childIndex(ev.Stream); ok {
		return c.forgetChild(now, ev.Stream, out)
	}
	c.forgetPending(ev.Stream)
	return out
}

// forgetParent removes a parent whose stream is over, and looks for another. Mute is
// for parentLost.
func (c *Cohort) forgetParent(now time.Time, stream StreamID, mute bool, out []Action) []Action {
	i := slices.IndexFunc(c.parents, func(p parent) bool { return p.stream == stream })
	peer := c.parents[i].peer
	c.parents = slices.Delete(c.parents, i, i+1)
	c.standby.stale = true
	out = c.probesEnded(now, stream, out)
	c.rerank()
	out = append(out, Action{Kind: ActReport, Report: &Report{Kind: ReportDetached, Peer: peer, Parents: len(c.parents)}})
	c.shed(now) // what was superfluous beside it may be needed again
	return c.parentLost(now, peer, mute, out)
}

// forgetChild removes a child whose stream is over.
func (c *Cohort) forgetChild(now time.Time, stream StreamID, out []Action) []Action {
	i, _ := c.childIndex(stream)
	c.children = slices.Delete(c.children, i, i+1)
	c.moves.list = slices.DeleteFunc(c.moves.list, func(m move) bool { return m.stream == stream })
	out = c.probesEnded(now, stream, out)
	c.rerank()
	return c.repace(c.leaveDue(now, out))
}

func (c *Cohort) measured(ev RTT) {
	if p := c.parentOf(ev.Stream); p != nil {
		p.rtt = ev.RTT
	} else if ch := c.childOf(ev.Stream); ch != nil {
		ch.rtt = ev.RTT
	}
}

// setUnderlays keeps a copy of what fits a candidate (PROTOCOL §6).
func (c *Cohort) setUnderlays(addrs [][]byte) {
	c.self = c.self[:0:0]
	size := 0
	for _, a := range addrs {
		if size += len(a); len(c.self) == wire.MaxUnderlays || size > wire.MaxUnderlayBytes {
			break
		}
		c.self = append(c.self, slices.Clone(a))
	}
}

// Counters returns a copy of the counts.
func (c *Cohort) Counters() Counters { return c.counters }
