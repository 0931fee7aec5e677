package order

import (
	"slices"
	"time"

	"treecast/wire"
)

// asking is a request that is outstanding.
type asking struct {
	id    RequestID
	to    wire.Overlay // zero: an entry point
	feed  wire.Owner
	asked wire.IndexRange
}

// ask makes the requests that are due, at most one to each peer at a time.
func (o *Feeds) ask(now time.Time, out []Action) []Action {
	if o.gaps == 0 || o.cfg.Root {
		return out
	}
	for _, f := range o.list {
		for i := 0; i < len(f.gaps); i++ {
			if g := &f.gaps[i]; g.open() && !g.at.IsZero() && !now.Before(g.at) {
				out = o.attempt(now, f, g, out)
			}
		}
	}
	return out
}

// attempt asks the next in line for a gap, or says when to try again.
func (o *Feeds) attempt(now time.Time, f *feed, g *gap, out []Action) []Action {
	g.at = time.Time{} // until somebody has answered, or comes
	p := o.unasked(g)
	var to wire.Overlay
	switch {
	case p != nil && (g.tries < o.cfg.Tries || !o.entry):
		to = p.Peer
	case o.entry && !slices.Contains(g.asked, wire.Overlay{}):
		if now.Before(g.entryAt) {
			g.at = g.entryAt
			return out
		}
	case len(o.parents) > 0 || o.entry:
		g.asked = g.asked[:0] // another round
		g.at, g.entryAt = now.Add(o.cfg.EntryWait), now.Add(o.cfg.EntryWait)
		return out
	default:
		return out
	}
	if slices.ContainsFunc(o.asked, func(a asking) bool { return a.to == to }) {
		return out
	}
	o.lastRequest++
	g.request = o.lastRequest
	o.asked = append(o.asked, asking{o.lastRequest, to, f.owner, g.span()})
	return append(out, Action{Kind: ActAsk, Request: o.lastRequest, To: to, Owner: f.owner, Range: g.span()})
}

// unasked is the parent to ask next for a gap: the one that sent the newer
// index first, then the others.
func (o *Feeds) unasked(g *gap) (next *Source) {
	for i := range o.parents {
		p := &o.parents[i]
		if slices.Contains(g.asked, p.Peer) {
			continue
		}
		if p.Peer == g.newer {
			return p
		}
		if next == nil {
			next = p
		}
	}
	return next
}

// answered takes the end of a request to the gaps that it was for.
func (o *Feeds) answered(now time.Time, ev *Answered, out []Action) []Action {
	at := slices.IndexFunc(o.asked, func(a asking) bool { return a.id == ev.Request })
	if at < 0 {
		panic("order: answer to no request")
	}
	a := o.asked[at]
	o.asked = slices.Delete(o.asked, at, at+1)
	for _, f := range o.list {
		for i := range f.gaps {
			if g := &f.gaps[i]; g.open() && g.at.IsZero() { // it may have waited for this peer
				g.at = now
			}
		}
	}
	f := o.get(&a.feed)
	trust := slices.ContainsFunc(o.parents, func(p Source) bool { return p.Broker && p.Peer == a.to })
	for i := 0; i < len(f.gaps); i++ {
		if f.gaps[i].request != ev.Request {
			continue
		}
		verdict := failed
		if ev.End != nil {
			var to uint64
			if verdict, to = judge(ev.End, f.gaps[i].from); to < f.gaps[i].to {
				o.split(f, i, f.gaps[i].from, to)
			}
		}
		out = o.judged(now, f, i, &a, verdict, trust, out)
		if i < len(f.gaps) && f.gaps[i].request == ev.Request {
			i-- // it was removed, and the next one took its place
		}
	}
	return o.bound(f, o.drain(f, out))
}

// verdict is what an answer says of a gap.
type verdict uint8

const (
	failed  verdict = iota // there was none
	unsaid                 // it was not looked at, or what came was no good
	missing                // not kept there
	pending                // being recovered there
	void                   // never published
)

// judge is what end says of index, and up to which index it says the same.
func judge(end *wire.RecoverEnd, index uint64) (v verdict, to uint64) {
	v, to = unsaid, wire.MaxIndex
	for _, list := range []struct {
		v      verdict
		ranges []wire.IndexRange
	}{{missing, end.Missing}, {pending, end.Pending}, {void, end.Void}} {
		for _, r := range list.ranges {
			switch {
			case r.Has(index):
				return list.v, min(r.To, to)
			case r.From > index:
				to = min(to, r.From-1)
			}
		}
	}
	return v, to
}

// judged brings gap i on after an answer.
func (o *Feeds) judged(now time.Time, f *feed, i int, a *asking, v verdict, trust bool, out []Action) []Action {
	g := &f.gaps[i]
	g.request = 0
	g.at = now
	switch {
	case v == pending && g.pending < maxPending:
		g.pending++
		g.at = now.Add(4 * o.cfg.Wait)
		return out
	case (v == unsaid || v == failed) && g.cut < maxCut && g.span() != a.asked: // some of it came: go on there
		g.cut++
		return out
	case v == void:
		if g.voids++; trust || g.voids > 1 || len(o.parents) == 1 {
			return o.settle(f, i, true, out)
		}
	}
	g.tries++
	g.asked = append(g.asked, a.to)
	// Parents that come and go keep the newest chunks alone: the last word is an
	// entry point's. One that cannot be reached, or is busy, has not spoken yet.
	if a.to == (wire.Overlay{}) && (v != failed || g.tries >= 2*o.cfg.Tries) {
		g.entryTried = true
	}
	if g.tries >= o.cfg.Tries && (g.entryTried || !o.entry) {
		return o.settle(f, i, g.voids > 0, out)
	}
	return out
}
