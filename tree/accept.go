package tree

import (
	"slices"
	"time"

	"treecast/probe"
	"treecast/wire"
)

// A pending join is a Subscribe that waits for the end of a search.
type pending struct {
	stream StreamID
	peer   wire.Overlay
	asker  probe.Asker
	sub    wire.Subscribe // without its auth
	token  probe.Token
}

// askerRounds counts an asker's rounds here that found nothing. The origin
// counts them itself and believes no asker's number (PROTOCOL §5 Walkers).
type askerRounds struct {
	peer  wire.Overlay
	empty int
	last  time.Time
}

// roundsKept is how long an asker's empty rounds are remembered.
const roundsKept = 2 * time.Minute

// stale is how long a foreign child's stream must have moved nothing, with much
// waiting for it, before its peer's next Subscribe takes its slot (PROTOCOL §5
// Slots). Without anything waiting the cohort may simply be idle, and the peer
// ask for a second parent.
const stale = 10 * time.Second

// subscribeIn judges a Subscribe by spec, slots and rank (PROTOCOL §5 Join).
func (c *Cohort) subscribeIn(now time.Time, ev *SubscribeIn, out []Action) []Action {
	if c.spec == nil {
		c.counters[CountRefusedUnknown]++
		return c.refuse(ev.Stream, &wire.Ack{Status: wire.StatusUnknownTopic}, out)
	}
	if ev.Peer == c.cfg.Self || !c.admitsSubscriber(ev) {
		c.counters[CountRefusedRejected]++
		return c.refuse(ev.Stream, &wire.Ack{Status: wire.StatusRejected}, out)
	}
	if c.slow.banned(now, ev.Peer) {
		c.counters[CountRefusedSlow]++
		return c.full(ev.Stream, nil, out)
	}
	asker := askerOf(ev)
	if ch := c.childPeer(ev.Peer); ch != nil && c.replaces(now, ch, ev.Msg) {
		stream := ch.stream
		out = append(out, Action{Kind: ActEnd, Stream: stream, Code: EndReset})
		out = c.forgetChild(now, stream, out)
	} else if ch != nil && ev.Msg.Version != 0 { // it has more to say than when it came
		ch.band, ch.childless = ev.Msg.Band, ev.Msg.Childless
	}
	if c.takes(&asker) {
		return c.accept(now, ev.Stream, ev.Peer, ev.Msg, out)
	}
	if ev.Msg.Displace && c.displaces(now, &asker, ev.Msg.Relays) {
		out = c.accept(now, ev.Stream, ev.Peer, ev.Msg, out)
		return c.displace(now, &asker, ev.Msg.Relays, out)
	}
	if ev.Msg.Named {
		return c.full(ev.Stream, nil, out)
	}
	return c.searchFor(now, ev, asker, out)
}

// askerOf reads the asker out of a Subscribe (PROTOCOL §6).
func askerOf(ev *SubscribeIn) probe.Asker {
	foreign := ev.Msg.Version == 0
	return probe.Asker{Peer: ev.Peer, Band: ev.Msg.Band, Childless: ev.Msg.Childless && !foreign, Foreign: foreign}
}

// replaces says whether a Subscribe of a peer that is a child already means
// that its old stream is lost (PROTOCOL §5 Slots).
func (c *Cohort) replaces(now time.Time, ch *child, sub *wire.Subscribe) bool {
	if sub.Version == 0 {
		return ch.level != QueueLow && now.Sub(ch.moved) >= stale
	}
	return sub.Band == 0
}

// takes says whether this node has a slot for the asker and may give it away.
func (c *Cohort) takes(a *probe.Asker) bool {
	switch {
	case !c.mayAccept() || c.free() <= 0 || c.spent:
		return false
	case a.Peer == c.cfg.Self || c.childPeer(a.Peer) != nil || c.parentPeer(a.Peer) != nil:
		return false
	case a.Foreign && c.foreignChildren() >= c.capacity()/2:
		return false
	}
	return a.Admits(c.rank())
}

func (c *Cohort) foreignChildren() (n int) {
	for i := range c.children {
		if c.children[i].foreign {
			n++
		}
	}
	return n
}

// accept gives a slot and says so.
func (c *Cohort) accept(now time.Time, stream StreamID, peer wire.Overlay, sub *wire.Subscribe, out []Action) []Action {
	ch := child{
		stream: stream, peer: peer, band: sub.Band, relays: sub.Relays, childless: sub.Childless,
		foreign: sub.Version == 0, needs: sub.Displace, since: now, moved: now,
	}
	i, _ := c.childIndex(stream)
	c.children = slices.Insert(c.children, i, ch)
	c.forgetRounds(peer)
	ack := wire.Ack{Status: wire.StatusOK, Spec: c.spec, HasBand: true, Band: c.band, Heads: c.data.heads()}
	return append(out, Action{Kind: ActSend, Stream: stream, Body: ack.Append(nil)})
}

// full answers FULL, with candidates if there are any.
func (c *Cohort) full(stream StreamID, found []wire.Candidate, out []Action) []Action {
	c.counters[CountRefusedFull]++
	return c.refuse(stream, &wire.Ack{Status: wire.StatusFull, Candidates: found, HasBand: c.band != 0, Band: c.band}, out)
}

func (c *Cohort) refuse(stream StreamID, ack *wire.Ack, out []Action) []Action {
	return append(out,
		Action{Kind: ActSend, Stream: stream, Body: ack.Append(nil)},
		Action{Kind: ActEnd, Stream: stream, Code: EndRefused})
}

// searchFor starts a search for a peer that cannot be taken here.
func (c *Cohort) searchFor(now time.Time, ev *SubscribeIn, asker probe.Asker, out []Action) []Action {
	if i := slices.IndexFunc(c.pending, func(p pending) bool { return p.peer == ev.Peer }); i >= 0 {
		// One pending join per peer: it has given the older one up.
		old := c.pending[i]
		c.pending = slices.Delete(c.pending, i, i+1)
		c.search.Cancel(old.token)
		out = c.full(old.stream, nil, out)
	}
	if len(c.pending) >= c.cfg.PendingJoins {
		c.counters[CountJoinsBound]++
		return c.full(ev.Stream, nil, out)
	}
	sub := *ev.Msg
	sub.Auth = nil
	c.lastReq++
	c.pending = append(c.pending, pending{stream: ev.Stream, peer: ev.Peer, asker: asker, sub: sub, token: c.lastReq})
	empty := c.emptyRounds(now, ev.Peer)
	down := c.down()
	var up []probe.Link
	if !c.cfg.Broker && (asker.Band > 0 || empty > 0 || !slices.ContainsFunc(down, func(l probe.Link) bool { return l.Relays })) {
		up = c.up()
	}
	acts, drop := c.search.Begin(now, probe.Origin{Token: c.lastReq, Asker: asker, Empty: empty, Depth: c.depth() + 1}, down, up, c.probeActs[:0])
	if drop != probe.Kept {
		panic("tree: more searches than pending joins")
	}
	c.probeActs = acts
	return c.searched(now, acts, out)
}

// joined ends a pending join with what its search found.
func (c *Cohort) joined(now time.Time, token probe.Token, found []wire.Candidate, out []Action) []Action {
	i := slices.IndexFunc(c.pending, func(p pending) bool { return p.token == token })
	if i < 0 {
		return out
	}
	p := c.pending[i]
	c.pending = slices.Delete(c.pending, i, i+1)
	if c.takes(&p.asker) { // a slot came free meanwhile
		return c.accept(now, p.stream, p.peer, &p.sub, out)
	}
	// What a child names is hearsay, and this node no answer to its own FULL.
	found = slices.DeleteFunc(found, func(f wire.Candidate) bool { return f.Addr == c.cfg.Self })
	c.countRound(now, p.peer, len(found) == 0)
	if len(found) < 2 && c.displaces(now, &p.asker, p.sub.Relays) {
		found = append(found, wire.Candidate{
			Addr: c.cfg.Self, Depth: c.depth(), Underlays: c.self, HasBand: true, Band: c.band, Displaces: true,
		})
	}
	return c.full(p.stream, found, out)
}

// forgetPending gives up the search behind a stream that is gone.
func (c *Cohort) forgetPending(stream StreamID) {
	if i := slices.IndexFunc(c.pending, func(p pending) bool { return p.stream == stream }); i >= 0 {
		c.search.Cancel(c.pending[i].token)
		c.pending = slices.Delete(c.pending, i, i+1)
	}
}

func (c *Cohort) emptyRounds(now time.Time, peer wire.Overlay) int {
	for i := range c.rounds {
		if c.rounds[i].peer == peer && now.Sub(c.rounds[i].last) < roundsKept {
			return c.rounds[i].empty
		}
	}
	return 0
}

// countRound remembers how a round of peer ended; of too many askers the one
// seen longest ago is forgotten.
func (c *Cohort) countRound(now time.Time, peer wire.Overlay, empty bool) {
	n := c.emptyRounds(now, peer)
	c.forgetRounds(peer)
	if !empty {
		return
	}
	if len(c.rounds) >= c.cfg.PendingJoins {
		c.rounds = slices.Delete(c.rounds, 0, 1)
	}
	c.rounds = append(c.rounds, askerRounds{peer, n + 1, now})
}

func (c *Cohort) forgetRounds(peer wire.Overlay) {
	c.rounds = slices.DeleteFunc(c.rounds, func(r askerRounds) bool { return r.peer == peer })
}
