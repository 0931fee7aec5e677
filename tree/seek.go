package tree

import (
	"slices"
	"time"

	"treecast/wire"
)

// A dialling is one Subscribe of this node that waits for its answer.
type dialling struct {
	id    DialID
	peer  wire.Overlay
	named bool // a candidate's, not an origin's
	moves bool // it has to move a child for this node
	entry bool
}

// maxReasks is how often an origin is asked again at once when its candidates
// were lost to others (PROTOCOL §5 Join).
const maxReasks = 2

// maxParents bounds the parents, those about to be let go included.
const maxParents = 8

// maxLuxury is how many rounds a child of the broker looks for a second parent.
const maxLuxury = 2

// seek is this node's search for parents. A round asks one origin, a parent or
// an entry point, and tries what it names; when it brought nothing the next
// one waits.
type seek struct {
	entries []wire.Overlay
	entry   int // the next one to ask
	failed  int // entry points that failed since one last answered

	origin      wire.Overlay
	originEntry bool
	dials       []dialling
	lastDial    DialID
	spare       []wire.Candidate // named, but not needed so far
	reasks      int

	luxury int       // empty rounds for a second parent beside the broker
	rounds int       // empty ones since a parent was gained or lost
	at     time.Time // when the next begins; zero = none is planned
	tried  bool      // a round has found nothing: children may be taken with one parent
}

// join takes the entry points and begins, or goes on at once with what is new.
func (c *Cohort) join(now time.Time, ev Join, out []Action) []Action {
	if c.cfg.Broker {
		return out
	}
	s := &c.seek
	s.entries = s.entries[:0:0]
	for _, e := range ev.Entries {
		if e != c.cfg.Self && len(s.entries) < MaxEntries && !slices.Contains(s.entries, e) {
			s.entries = append(s.entries, e)
		}
	}
	s.entry, s.failed = 0, 0
	if len(s.dials) > 0 {
		return out
	}
	return c.round(now, out)
}

// seekDue begins the round that was planned.
func (c *Cohort) seekDue(now time.Time, out []Action) []Action {
	if c.seek.at.IsZero() || now.Before(c.seek.at) {
		return out
	}
	return c.round(now, out)
}

// round asks the next origin: a surviving parent, or every third time, and when
// there is no parent, an entry point (PROTOCOL §5 Heal).
func (c *Cohort) round(now time.Time, out []Action) []Action {
	s := &c.seek
	s.at, s.spare, s.reasks = time.Time{}, nil, 0
	if c.wanted() == 0 {
		return out
	}
	p := c.healer()
	if p == nil && len(s.entries) == 0 {
		p = c.lastResort()
	}
	if len(s.entries) > 0 && (p == nil || s.rounds%3 == 2) {
		s.origin, s.originEntry = s.entries[s.entry%len(s.entries)], true
		s.entry++
		if p == nil || c.parentPeer(s.origin) == nil && !c.avoids(now, s.origin) {
			return c.ask(out)
		}
	}
	if p == nil {
		return out // the next Join brings entry points
	}
	s.origin, s.originEntry = p.peer, false
	return c.ask(out)
}

// healer is the parent to ask for another one: not a foreign one, which might
// only attach this node a second time.
func (c *Cohort) healer() *parent {
	var own []*parent
	for i := range c.parents {
		if p := &c.parents[i]; !p.foreign && p.stays() {
			own = append(own, p)
		}
	}
	if len(own) == 0 {
		return nil
	}
	return own[c.seek.rounds%len(own)]
}

// ask subscribes at the round's origin.
func (c *Cohort) ask(out []Action) []Action {
	return c.dial(dialling{peer: c.seek.origin, entry: c.seek.originEntry}, nil, out)
}

func (c *Cohort) dial(d dialling, underlays [][]byte, out []Action) []Action {
	s := &c.seek
	s.lastDial++
	d.id = s.lastDial
	s.dials = append(s.dials, d)
	sub := wire.Subscribe{
		Topic: c.cfg.Topic, HasBand: true, Band: c.band, Relays: c.cfg.Capacity > 0,
		Childless: len(c.children) == 0 && !c.fed(), Round: uint32(s.rounds), Named: d.named, Displace: d.moves, Version: 1,
	}
	if len(c.parents) == 0 && len(c.children) == 0 {
		// Nobody is below or above: this node is as good as new, and says so, so
		// that a parent that has not noticed yet gives its slot back.
		sub.Band = 0
	}
	dial := &Dial{ID: d.id, Peer: d.peer, Underlays: underlays, Entry: d.entry, Body: sub.Append(nil)}
	return append(out, Action{Kind: ActDial, Peer: d.peer, Dial: dial})
}

// dialled takes the answer to one Subscribe.
func (c *Cohort) dialled(now time.Time, ev *Dialled, out []Action) []Action {
	s := &c.seek
	i := slices.IndexFunc(s.dials, func(d dialling) bool { return d.id == ev.Dial })
	if i < 0 {
		if ev.Stream != 0 { // the answer to something given up
			out = append(out, Action{Kind: ActEnd, Stream: ev.Stream, Code: EndDone})
		}
		return out
	}
	d := s.dials[i]
	s.dials = slices.Delete(s.dials, i, i+1)
	if c.leave.on {
		if ev.Stream != 0 {
			out = append(out, Action{Kind: ActEnd, Stream: ev.Stream, Code: EndDone})
		}
		return out
	}
	if ev.Self {
		s.entries = slices.DeleteFunc(s.entries, func(e wire.Overlay) bool { return e == d.peer })
	}
	switch {
	case ev.Outcome == DialAnswered && ev.Ack.Status == wire.StatusOK:
		var ok bool
		if out, ok = c.attach(now, d, ev, out); ok {
			return c.attached(now, out)
		}
	case ev.Outcome == DialAnswered && ev.Ack.Status == wire.StatusFull && !d.named:
		s.failed = 0
		return c.referred(now, ev.Ack.Candidates, out)
	case ev.Outcome == DialAnswered && d.entry:
		out = append(out, Action{Kind: ActReport, Report: &Report{Kind: ReportRefused, Peer: d.peer, Status: ev.Ack.Status}})
	}
	return c.fruitless(now, d, out)
}

// attach makes the peer that said OK a parent, if rank and spec allow it.
func (c *Cohort) attach(now time.Time, d dialling, ev *Dialled, out []Action) ([]Action, bool) {
	ack := ev.Ack
	end := Action{Kind: ActEnd, Stream: ev.Stream, Code: EndDone}
	configured := slices.Contains(c.cfg.Brokers, d.peer)
	foreign := !ack.HasBand && !configured
	band := ack.Band
	if !ack.HasBand && configured {
		band = 1
	}
	switch {
	case c.parentPeer(d.peer) != nil, c.wanted() == 0, len(c.parents) >= maxParents:
		return append(out, end), false
	case c.childPeer(d.peer) != nil:
		c.counters[CountRingAverted]++
		return append(out, end), false
	case !c.mayKeep(Rank{Band: band, Overlay: d.peer}, foreign):
		c.counters[CountRankRefused]++
		if !d.named && !d.entry && c.parentPeer(d.peer) == nil {
			c.forgetWishes()
		}
		return append(out, end), false
	}
	var ok bool
	if out, ok = c.learnSpec(d.peer, ack.Spec, out); !ok {
		return append(out, end), false
	}
	c.noteHeads(ack.Heads)
	c.parents = append(c.parents, parent{
		stream: ev.Stream, peer: d.peer, band: band, foreign: foreign, broker: band == 1, since: now, moved: now,
		slot: c.freeSlot(),
	})
	if band == 1 {
		c.seek.luxury = 0
	}
	if foreign {
		c.parents[len(c.parents)-1].band = 0
	}
	c.wishGranted()
	c.shed(now)
	c.rerank()
	c.choose()
	return append(out, Action{Kind: ActReport, Report: &Report{Kind: ReportAttached, Peer: d.peer, Parents: len(c.parents)}}), true
}

// attached goes on after a parent was gained: to what is still wanted.
func (c *Cohort) attached(now time.Time, out []Action) []Action {
	s := &c.seek
	s.rounds, s.failed = 0, 0
	if c.wanted() == 0 {
		return c.settled(now, out)
	}
	if len(s.dials) > 0 {
		return out // the other candidate's answer is on its way
	}
	if len(s.spare) > 0 {
		return c.tryNamed(out)
	}
	return c.round(now, out)
}

// settled gives up what is still under way, and lets superfluous parents go.
func (c *Cohort) settled(now time.Time, out []Action) []Action {
	s := &c.seek
	out = c.giveUp(out)
	s.spare, s.at, s.rounds = nil, time.Time{}, 0
	s.tried = false // the next loss is a new search
	c.shed(now)
	return out
}

// giveUp cancels what was asked and not answered yet.
func (c *Cohort) giveUp(out []Action) []Action {
	for _, d := range c.seek.dials {
		out = append(out, Action{Kind: ActCancel, Dial: &Dial{ID: d.id, Peer: d.peer}})
	}
	c.seek.dials = nil
	return out
}

// freeSlot is the lowest bit that no parent has in the comparison.
func (c *Cohort) freeSlot() (slot uint8) {
	for slices.ContainsFunc(c.parents, func(p parent) bool { return p.slot == slot }) {
		slot++
	}
	c.lag.forget(slot)
	return slot
}

// lastResort is a parent to ask where all of them are unwanted and there is no
// entry point.
func (c *Cohort) lastResort() *parent {
	for i := range c.parents {
		if p := &c.parents[i]; !p.foreign {
			return p
		}
	}
	return nil
}

// referred takes the candidates of an origin.
func (c *Cohort) referred(now time.Time, found []wire.Candidate, out []Action) []Action {
	s := &c.seek
	s.spare = nil
	for i := range found {
		f := &found[i]
		if f.Addr == c.cfg.Self || c.parentPeer(f.Addr) != nil || c.childPeer(f.Addr) != nil || c.avoids(now, f.Addr) {
			continue
		}
		if f.Displaces && (c.fed() || len(c.children) == 0 && c.cfg.Capacity < 0) {
			continue // nobody moves for a luxury, nor for a node that relays to nobody
		}
		if slices.ContainsFunc(s.spare, func(o wire.Candidate) bool { return o.Addr == f.Addr }) {
			continue
		}
		if (len(c.children) > 0 || c.fed()) && !(f.HasBand && c.mayKeep(Rank{Band: f.Band, Overlay: f.Addr}, false)) {
			continue
		}
		s.spare = append(s.spare, *f)
	}
	if len(s.spare) == 0 {
		return c.empty(now, out)
	}
	return c.tryNamed(out)
}

// tryNamed subscribes at as many of the named candidates as parents are wanted.
func (c *Cohort) tryNamed(out []Action) []Action {
	s := &c.seek
	for len(s.spare) > 0 && len(s.dials) < c.wanted() {
		cand := s.spare[0]
		s.spare = s.spare[1:]
		out = c.dial(dialling{peer: cand.Addr, named: true, moves: cand.Displaces}, cand.Underlays, out)
	}
	return out
}

// fruitless goes on after an answer that brought no parent.
func (c *Cohort) fruitless(now time.Time, d dialling, out []Action) []Action {
	s := &c.seek
	if !d.named {
		if d.entry {
			s.failed++
		}
		return c.empty(now, out)
	}
	if c.wanted() == 0 {
		return c.settled(now, out)
	}
	if len(s.spare) > 0 {
		return c.tryNamed(out)
	}
	if len(s.dials) > 0 {
		return out
	}
	if s.reasks < maxReasks {
		s.reasks++
		if s.originEntry || c.parentPeer(s.origin) != nil {
			return c.ask(out)
		}
	}
	return c.empty(now, out)
}

// empty ends a round that brought nothing, and plans the next (PROTOCOL §5
// Heal, Back-off).
func (c *Cohort) empty(now time.Time, out []Action) []Action {
	s := &c.seek
	s.rounds++
	if c.fed() {
		if s.luxury++; c.wanted() == 0 {
			return c.settled(now, out)
		}
	}
	if len(c.parents) > 0 {
		s.tried = true
		wait := min(c.cfg.Timing.HealWait<<min(s.rounds-1, 16), c.cfg.Timing.HealWaitMax)
		s.at = now.Add(wait/2 + c.chance(wait))
		return out
	}
	if s.failed > 0 && s.failed < len(s.entries) {
		return c.round(now, out) // another entry point, before any waiting
	}
	cycles := (s.rounds - 1) / max(len(s.entries), 1)
	wait := min(c.cfg.Timing.EntryWait<<min(cycles, 16), c.cfg.Timing.EntryWaitMax)
	s.failed = 0
	s.at = now.Add(c.chance(wait))
	return out
}

// chance is a random duration in (0, d].
func (c *Cohort) chance(d time.Duration) time.Duration {
	return time.Duration(c.rng.Int64N(int64(d)) + 1)
}

// parentLost plans the search for another parent, unless one is under way whose
// answers to come will do. With no parent left, or with none that feeds for sure,
// it begins at once. Otherwise the others go first: when a relay ends all its
// children are to search at the same moment, and those that still have a parent
// miss nothing meanwhile (PROTOCOL §5 Two parents). Mute says that this one was let
// go because nothing came from any of them.
func (c *Cohort) parentLost(now time.Time, peer wire.Overlay, mute bool, out []Action) []Action {
	s := &c.seek
	s.rounds = 0
	if len(c.parents) == 0 {
		s.tried = false
	}
	if c.wanted() == 0 {
		return out
	}
	if len(s.dials) > 0 {
		// An origin that is gone fails by itself; a candidate's answer may still do.
		if s.originEntry || s.origin != peer || slices.ContainsFunc(s.dials, func(d dialling) bool { return d.named }) {
			return out
		}
		out = c.giveUp(out)
	}
	if mute || c.wantedParents() == 0 {
		return c.round(now, out)
	}
	c.planWithin(now, c.cfg.Timing.HealSpread)
	return out
}

// planWithin has the next round begin after a random part of d. One that is planned
// for then already stays as it is, so that losses in a row postpone nothing.
func (c *Cohort) planWithin(now time.Time, d time.Duration) {
	if s := &c.seek; s.at.IsZero() || s.at.After(now.Add(d)) {
		s.at = now.Add(c.chance(d))
	}
}
