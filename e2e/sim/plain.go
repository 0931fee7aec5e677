package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"treecast/tree"
	"treecast/wire"
)

// plain is a foreign node: a relay by the plain SWIP-61 rules, or a SWIP-60
// leaf. It knows no extension field: no ranks, no walkers, no named Subscribes.
// A node without a slot asks its whole subtree; one that lost a parent asks the
// other for a new one and takes whom it names, its own descendants included.
//
// A leaf is the same with one parent and no answer to probes.
type plain struct {
	self, root wire.Overlay
	broker     bool
	leaf       bool
	capacity   int
	spec       *wire.Spec
	known      bool // the cohort's spec was seen, in a parent's Ack
	leaving    bool
	rng        *rand.Rand

	parents  []plainParent
	children []plainChild
	waves    plainWaves
	seek     plainSeek
	checks   []plainCheck
	asker    int32    // for whom the frame under way asks, as the simulator knows it; -1 = nobody
	seen     []uint64 // bit per index
}

// plainCheck is a chunk that is being verified.
type plainCheck struct {
	chunk tree.ChunkID
	index uint64
	from  tree.StreamID
}

type plainParent struct {
	stream tree.StreamID
	peer   wire.Overlay
}

type plainChild struct {
	stream tree.StreamID
	peer   wire.Overlay
	asked  []uint64 // waves that wait for its answers, in order
}

func newPlain(self, root wire.Overlay, broker, leaf bool, capacity int, spec *wire.Spec, rng *rand.Rand) *plain {
	return &plain{self: self, root: root, broker: broker, leaf: leaf, capacity: capacity, spec: spec, known: broker, rng: rng, asker: -1}
}

// Step is that of a machine.
func (p *plain) Step(now time.Time, ev tree.Event, out []tree.Action) []tree.Action {
	out = p.due(now, out)
	switch ev := ev.(type) {
	case tree.Join:
		p.seek.entries = ev.Entries
		if len(p.seek.dials) == 0 {
			out = p.round(out)
		}
	case *tree.SubscribeIn:
		out = p.subscribeIn(now, ev, out)
	case *tree.Dialled:
		out = p.dialled(now, ev, out)
	case *tree.Frame:
		out = p.frame(now, ev, out)
	case tree.StreamEnded:
		out = p.ended(ev.Stream, out)
	case *tree.Verified:
		out = p.verified(ev, out)
	case *tree.Publish:
		p.checks = append(p.checks, plainCheck{chunk: ev.Chunk, index: ev.Soc.Index})
		out = append(out, tree.Action{Kind: tree.ActVerify, Chunk: ev.Chunk})
	}
	return out
}

// Deadline is that of a machine.
func (p *plain) Deadline() time.Time {
	d := p.seek.at
	for i := range p.waves.list {
		if u := p.waves.list[i].until; d.IsZero() || u.Before(d) {
			d = u
		}
	}
	return d
}

func (p *plain) due(now time.Time, out []tree.Action) []tree.Action {
	for i := 0; i < len(p.waves.list); {
		if now.Before(p.waves.list[i].until) {
			i++
			continue
		}
		out = p.endWave(i, out)
	}
	if at := p.seek.at; !at.IsZero() && !now.Before(at) {
		out = p.round(out)
	}
	return out
}

func (p *plain) frame(now time.Time, ev *tree.Frame, out []tree.Action) []tree.Action {
	par := slices.ContainsFunc(p.parents, func(x plainParent) bool { return x.stream == ev.Stream })
	child := slices.IndexFunc(p.children, func(x plainChild) bool { return x.stream == ev.Stream })
	switch {
	case ev.Msg.Kind == wire.KindSoc && par:
		return p.chunk(ev, out)
	case ev.Msg.Kind == wire.KindSoc:
		return append(out, tree.Action{Kind: tree.ActRelease, Chunk: ev.Chunk})
	case ev.Msg.Kind == wire.KindProbe && par && !p.leaf:
		return p.probed(now, ev.Stream, ev.Msg.Probe.Depth, out)
	case ev.Msg.Kind == wire.KindFound && child >= 0:
		return p.found(now, child, &ev.Msg.Found, out)
	case ev.Msg.Kind == wire.KindReparent && par && !p.leaf && len(ev.Msg.Reparent.To) == len(wire.Overlay{}):
		return p.reparent(ev.Stream, wire.Overlay(ev.Msg.Reparent.To), out)
	}
	return out
}

// chunk takes a chunk from a parent: the first copy is verified, the second dropped.
func (p *plain) chunk(ev *tree.Frame, out []tree.Action) []tree.Action {
	index := ev.Msg.Soc.Index
	if k := int(index >> 6); k < len(p.seen) && p.seen[k]>>(index&63)&1 == 1 {
		return append(out, tree.Action{Kind: tree.ActRelease, Chunk: ev.Chunk})
	}
	p.checks = append(p.checks, plainCheck{ev.Chunk, index, ev.Stream})
	return append(out, tree.Action{Kind: tree.ActVerify, Chunk: ev.Chunk})
}

// verified delivers and forwards a chunk, or leaves the parent that forged it.
func (p *plain) verified(ev *tree.Verified, out []tree.Action) []tree.Action {
	k := p.checks[0]
	p.checks = slices.Delete(p.checks, 0, 1)
	release := tree.Action{Kind: tree.ActRelease, Chunk: k.chunk}
	if ev.Verdict != tree.VerdictValid {
		out = append(out, release, tree.Action{Kind: tree.ActEnd, Stream: k.from, Code: tree.EndReset})
		return p.ended(k.from, out)
	}
	for int(k.index>>6) >= len(p.seen) {
		p.seen = append(p.seen, 0)
	}
	bit := uint64(1) << (k.index & 63)
	if p.seen[k.index>>6]&bit != 0 {
		return append(out, release)
	}
	p.seen[k.index>>6] |= bit
	for _, c := range p.children {
		out = append(out, tree.Action{Kind: tree.ActForward, Stream: c.stream, Chunk: k.chunk})
	}
	return append(out, tree.Action{Kind: tree.ActDeliver, Chunk: k.chunk, Index: k.index, HasIndex: true}, release)
}

// ended forgets a stream.
func (p *plain) ended(stream tree.StreamID, out []tree.Action) []tree.Action {
	if i := slices.IndexFunc(p.parents, func(x plainParent) bool { return x.stream == stream }); i >= 0 {
		return p.lost(i, out)
	}
	if i := slices.IndexFunc(p.children, func(x plainChild) bool { return x.stream == stream }); i >= 0 {
		asked := p.children[i].asked
		p.children = slices.Delete(p.children, i, i+1)
		for _, key := range asked {
			out = p.answered(key, out)
		}
		if p.leaving && len(p.children) == 0 {
			out = p.close(out)
		}
		return out
	}
	if i := slices.IndexFunc(p.waves.list, func(x plainWave) bool { return x.from == stream }); i >= 0 {
		p.waves.list = slices.Delete(p.waves.list, i, i+1)
	}
	return out
}

// lost forgets parent i and looks for another.
func (p *plain) lost(i int, out []tree.Action) []tree.Action {
	peer := p.parents[i].peer
	p.parents = slices.Delete(p.parents, i, i+1)
	out = append(out, tree.Action{Kind: tree.ActReport, Report: &tree.Report{Kind: tree.ReportDetached, Peer: peer, Parents: len(p.parents)}})
	p.seek.rounds = 0
	if len(p.seek.dials) > 0 || p.leaving {
		return out
	}
	return p.round(out)
}

// Leave sends every child to one of the own parents in turn and is over when they
// have gone.
func (p *plain) Leave(_ time.Time, out []tree.Action) []tree.Action {
	p.leaving = true
	for i, c := range p.children {
		var to wire.Overlay
		if len(p.parents) > 0 {
			to = p.parents[i%len(p.parents)].peer
		}
		body := wire.AppendReparent(nil, &wire.Reparent{To: to[:]})
		out = append(out, tree.Action{Kind: tree.ActSend, Stream: c.stream, Body: body})
	}
	if len(p.children) == 0 {
		out = p.close(out)
	}
	return out
}

// close ends the streams of the parents.
func (p *plain) close(out []tree.Action) []tree.Action {
	for len(p.parents) > 0 {
		out = append(out, tree.Action{Kind: tree.ActEnd, Stream: p.parents[0].stream, Code: tree.EndDone})
		out = p.lost(0, out)
	}
	return out
}
