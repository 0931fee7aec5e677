package sim

import (
	"slices"
	"time"

	"treecast/tree"
	"treecast/wire"
)

// plainSeek is a foreign node's search for parents.
type plainSeek struct {
	entries  []wire.Overlay
	next     int // entry point
	dials    []plainDial
	lastDial tree.DialID
	spare    []wire.Candidate
	rounds   int // that brought nothing
	at       time.Time
}

type plainDial struct {
	id    tree.DialID
	named bool
	peer  wire.Overlay
	// instead is a parent's stream that this one is to replace (Reparent).
	instead tree.StreamID
}

// wanted is how many more parents this node looks for: none beside the root.
func (p *plain) wanted() int {
	switch {
	case p.broker, p.leaving, slices.ContainsFunc(p.parents, func(x plainParent) bool { return x.peer == p.root }):
		return 0
	case p.leaf:
		return max(0, 1-len(p.parents))
	}
	return max(0, 2-len(p.parents))
}

// round asks a parent that is left, else an entry point.
func (p *plain) round(out []tree.Action) []tree.Action {
	s := &p.seek
	s.at, s.spare = time.Time{}, nil
	switch {
	case p.wanted() == 0:
		return out
	case len(p.parents) > 0:
		return p.dial(plainDial{peer: p.parents[s.rounds%len(p.parents)].peer}, out)
	case len(s.entries) == 0:
		return out
	}
	s.next++
	return p.dial(plainDial{peer: s.entries[s.next%len(s.entries)]}, out)
}

func (p *plain) dial(d plainDial, out []tree.Action) []tree.Action {
	s := &p.seek
	s.lastDial++
	d.id = s.lastDial
	s.dials = append(s.dials, d)
	sub := wire.Subscribe{Topic: p.spec.Topic}
	return append(out, tree.Action{Kind: tree.ActDial, Dial: &tree.Dial{ID: d.id, Peer: d.peer, Body: sub.Append(nil)}})
}

// dialled takes an answer.
func (p *plain) dialled(now time.Time, ev *tree.Dialled, out []tree.Action) []tree.Action {
	s := &p.seek
	i := slices.IndexFunc(s.dials, func(d plainDial) bool { return d.id == ev.Dial })
	if i < 0 {
		if ev.Stream != 0 {
			out = append(out, tree.Action{Kind: tree.ActEnd, Stream: ev.Stream, Code: tree.EndDone})
		}
		return out
	}
	d := s.dials[i]
	s.dials = slices.Delete(s.dials, i, i+1)
	switch {
	case ev.Ack != nil && ev.Ack.Status == wire.StatusOK:
		out = p.attach(&d, ev.Stream, out)
	case ev.Ack != nil && ev.Ack.Status == wire.StatusFull:
		for _, c := range ev.Ack.Candidates {
			if c.Addr != p.self && !slices.ContainsFunc(p.parents, func(x plainParent) bool { return x.peer == c.Addr }) {
				s.spare = append(s.spare, c)
			}
		}
	}
	return p.goOn(now, d.instead, out)
}

// attach makes the peer that said OK a parent.
func (p *plain) attach(d *plainDial, stream tree.StreamID, out []tree.Action) []tree.Action {
	if slices.ContainsFunc(p.parents, func(x plainParent) bool { return x.peer == d.peer }) ||
		p.wanted() == 0 && d.instead == 0 {
		return append(out, tree.Action{Kind: tree.ActEnd, Stream: stream, Code: tree.EndDone})
	}
	p.known = true
	p.seek.rounds = 0
	p.parents = append(p.parents, plainParent{stream, d.peer})
	out = append(out, tree.Action{Kind: tree.ActReport, Report: &tree.Report{Kind: tree.ReportAttached, Peer: d.peer, Parents: len(p.parents)}})
	if i := slices.IndexFunc(p.parents, func(x plainParent) bool { return x.stream == d.instead }); i >= 0 {
		out = append(out, tree.Action{Kind: tree.ActEnd, Stream: d.instead, Code: tree.EndDone})
		out = p.lost(i, out)
	}
	return out
}

// goOn tries the next candidate, or plans the next round.
func (p *plain) goOn(now time.Time, instead tree.StreamID, out []tree.Action) []tree.Action {
	s := &p.seek
	want := p.wanted()
	if instead != 0 && slices.ContainsFunc(p.parents, func(x plainParent) bool { return x.stream == instead }) {
		want = max(want, 1)
	} else {
		instead = 0
	}
	for len(s.dials) < want && len(s.spare) > 0 {
		c := s.spare[0]
		s.spare = s.spare[1:]
		out = p.dial(plainDial{named: true, peer: c.Addr, instead: instead}, out)
	}
	if len(s.dials) > 0 || p.wanted() == 0 || !s.at.IsZero() {
		return out
	}
	wait := min(time.Second<<min(s.rounds, 16), 30*time.Second)
	if len(p.parents) > 0 {
		wait = min(500*time.Millisecond<<min(s.rounds, 16), 16*time.Second)
	}
	s.rounds++
	s.at = now.Add(time.Duration(p.rng.Int64N(int64(wait))) + 1)
	return out
}

// reparent goes where a parent sends this node, and leaves it only then.
func (p *plain) reparent(from tree.StreamID, to wire.Overlay, out []tree.Action) []tree.Action {
	if to == (wire.Overlay{}) || to == p.self || slices.ContainsFunc(p.parents, func(x plainParent) bool { return x.peer == to }) {
		return out // that parent's end will be noticed
	}
	return p.dial(plainDial{peer: to, instead: from}, out)
}
