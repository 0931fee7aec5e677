package sim

import (
	"slices"
	"time"

	"treecast/tree"
	"treecast/wire"
)

// Waits of a plain relay for its children's answers to a probe.
const (
	plainWait  = time.Second
	plainGrace = 60 * time.Millisecond
)

// plainWaves are the probes that a plain relay has out.
type plainWaves struct {
	list []plainWave
	last uint64
}

// A plainWave is one probe at one relay, sent on to all its children. Neither it
// nor its answers carry an id: each child answers its probes in order.
type plainWave struct {
	key   uint64
	from  tree.StreamID
	join  bool // a Subscribe began it, to be answered by an Ack
	peer  wire.Overlay
	until time.Time
	waits int // children that still owe an answer
	best  []wire.Candidate
}

// takes says whether a plain relay has a slot for peer. A peer that is its own
// parent gets one too: nothing in the plain rules forbids it.
func (p *plain) takes(peer wire.Overlay) bool {
	return p.offers() && !slices.ContainsFunc(p.children, func(c plainChild) bool { return c.peer == peer })
}

func (p *plain) offers() bool {
	return !p.leaving && len(p.children) < p.capacity && (p.broker || len(p.parents) > 0)
}

// subscribeIn answers OK where there is a slot, else asks the subtree.
func (p *plain) subscribeIn(now time.Time, ev *tree.SubscribeIn, out []tree.Action) []tree.Action {
	if !p.known {
		return refuse(ev.Stream, wire.StatusUnknownTopic, nil, out)
	}
	if p.takes(ev.Peer) {
		return p.accept(ev.Stream, ev.Peer, out)
	}
	w := plainWave{from: ev.Stream, join: true, peer: ev.Peer, until: now.Add(plainWait)}
	return p.sendWave(&w, 1, out)
}

func (p *plain) accept(stream tree.StreamID, peer wire.Overlay, out []tree.Action) []tree.Action {
	p.children = append(p.children, plainChild{stream: stream, peer: peer})
	ack := wire.Ack{Status: wire.StatusOK, Spec: p.spec}
	return append(out, tree.Action{Kind: tree.ActSend, Stream: stream, Body: ack.Append(nil)})
}

func refuse(stream tree.StreamID, status wire.Status, found []wire.Candidate, out []tree.Action) []tree.Action {
	ack := wire.Ack{Status: status, Candidates: found}
	return append(out,
		tree.Action{Kind: tree.ActSend, Stream: stream, Body: ack.Append(nil)},
		tree.Action{Kind: tree.ActEnd, Stream: stream, Code: tree.EndRefused})
}

// probed answers a probe of a parent, or sends it on.
func (p *plain) probed(now time.Time, from tree.StreamID, depth uint32, out []tree.Action) []tree.Action {
	w := plainWave{from: from, until: now.Add(plainWait)}
	if p.offers() {
		w.best = []wire.Candidate{{Addr: p.self, Depth: depth}}
		return p.report(&w, out)
	}
	return p.sendWave(&w, depth+1, out)
}

// sendWave sends a probe to every child. Its copies carry who began it in a
// field of the action that is free for it, for the simulator's count alone.
func (p *plain) sendWave(w *plainWave, depth uint32, out []tree.Action) []tree.Action {
	p.waves.last++
	w.key = p.waves.last
	for i := range p.children {
		c := &p.children[i]
		if c.stream == w.from {
			continue
		}
		c.asked = append(c.asked, w.key)
		w.waits++
		out = append(out, tree.Action{
			Kind: tree.ActSend, Stream: c.stream, Body: wire.AppendProbe(nil, &wire.Probe{Depth: depth}),
			Request: tree.RequestID(p.asker + 1),
		})
	}
	if w.waits == 0 {
		return p.report(w, out)
	}
	p.waves.list = append(p.waves.list, *w)
	return out
}

// found takes a child's answer: it is to the oldest probe that it owes one for.
func (p *plain) found(now time.Time, child int, f *wire.Found, out []tree.Action) []tree.Action {
	c := &p.children[child]
	if len(c.asked) == 0 {
		return out
	}
	key := c.asked[0]
	c.asked = slices.Delete(c.asked, 0, 1)
	if i := slices.IndexFunc(p.waves.list, func(w plainWave) bool { return w.key == key }); i >= 0 {
		w := &p.waves.list[i]
		had := len(w.best)
		for _, x := range f.Candidates {
			w.offer(x)
		}
		if had < 2 && len(w.best) == 2 && now.Add(plainGrace).Before(w.until) {
			w.until = now.Add(plainGrace)
		}
	}
	return p.answered(key, out)
}

// offer keeps the two smallest depths of distinct addresses.
func (w *plainWave) offer(x wire.Candidate) {
	x.Underlays = nil
	if slices.ContainsFunc(w.best, func(b wire.Candidate) bool { return b.Addr == x.Addr }) {
		return
	}
	w.best = append(w.best, x)
	slices.SortStableFunc(w.best, func(a, b wire.Candidate) int { return int(a.Depth) - int(b.Depth) })
	w.best = w.best[:min(len(w.best), 2)]
}

// answered counts one answer to a wave, or the end of who owed it.
func (p *plain) answered(key uint64, out []tree.Action) []tree.Action {
	i := slices.IndexFunc(p.waves.list, func(w plainWave) bool { return w.key == key })
	if i < 0 {
		return out
	}
	if p.waves.list[i].waits--; p.waves.list[i].waits > 0 {
		return out
	}
	return p.endWave(i, out)
}

func (p *plain) endWave(i int, out []tree.Action) []tree.Action {
	w := p.waves.list[i]
	p.waves.list = slices.Delete(p.waves.list, i, i+1)
	return p.report(&w, out)
}

// report passes on what a wave has found.
func (p *plain) report(w *plainWave, out []tree.Action) []tree.Action {
	switch {
	case w.join && p.takes(w.peer):
		return p.accept(w.from, w.peer, out)
	case w.join:
		return refuse(w.from, wire.StatusFull, w.best, out)
	}
	return append(out, tree.Action{Kind: tree.ActSend, Stream: w.from, Body: wire.AppendFound(nil, &wire.Found{Candidates: w.best})})
}
