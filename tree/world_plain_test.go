package tree_test

import (
	"slices"
	"time"

	"treecast/tree"
	"treecast/wire"
)

// plainLeaf is a node that knows no extension field: it subscribes, follows
// candidates, moves when it is told to, and comes back to its entry point.
type plainLeaf struct {
	m     *member
	entry wire.Overlay
	up    *end // attached
	dials []*end
	stays bool // away, once it has lost its parent
	lost  int  // how often it has
}

// addPlain makes a plain leaf.
func (w *world) addPlain(entry *member) *member {
	m := w.add(tree.Config{Capacity: -1})
	m.core = nil
	m.plain = &plainLeaf{m: m, entry: entry.self}
	return m
}

func (p *plainLeaf) parents() []wire.Overlay {
	if p.up == nil {
		return nil
	}
	return []wire.Overlay{p.up.other.m.self}
}

// join subscribes at peer, or after a second at the entry point if it is not there.
func (p *plainLeaf) join(peer wire.Overlay) {
	m, o := p.m, p.m.w.by[peer]
	m.dials++
	m.w.plan(2*m.w.delay(), func() {
		if m.dead {
			return
		}
		if o == nil || o.dead {
			p.again()
			return
		}
		mine := m.open(nil)
		theirs := o.open(mine)
		mine.other = theirs
		p.dials = append(p.dials, mine)
		if o.plain != nil {
			o.refuse(theirs)
			return
		}
		o.step(&tree.SubscribeIn{Stream: theirs.id, Peer: m.self, Msg: &wire.Subscribe{Topic: m.w.topic}})
	})
}

func (p *plainLeaf) again() {
	if p.up == nil && !p.stays {
		p.m.w.plan(time.Second, func() {
			if p.up == nil && !p.m.dead {
				p.join(p.entry)
			}
		})
	}
}

func (p *plainLeaf) ended(e *end) {
	p.dials = slices.DeleteFunc(p.dials, func(d *end) bool { return d == e })
	if p.up == e {
		p.up = nil
		p.lost++
	}
	p.again()
}

func (p *plainLeaf) receive(e *end, body []byte) {
	m := p.m
	if i := slices.Index(p.dials, e); i >= 0 {
		p.dials = slices.Delete(p.dials, i, i+1)
		ack, err := wire.ParseAck(body)
		if err != nil {
			m.w.t.Fatal(err)
		}
		if ack.Status == wire.StatusOK {
			if old := p.up; old != nil { // moved: only now the old one goes
				m.end(old, tree.CauseReset)
			}
			p.up = e
			return
		}
		m.end(e, tree.CauseReset)
		if len(ack.Candidates) > 0 {
			p.join(ack.Candidates[m.w.rng.IntN(len(ack.Candidates))].Addr)
		} else {
			p.again()
		}
		return
	}
	var b wire.Broadcast
	if err := b.Parse(body); err != nil {
		m.w.t.Fatal(err)
	}
	switch b.Kind {
	case wire.KindSoc:
		m.got[b.Soc.Index] = 1 // while it moves it is fed twice
	case wire.KindProbe:
		m.send(e, wire.AppendFound(nil, &wire.Found{}))
	case wire.KindReparent:
		if len(b.Reparent.To) == 32 {
			p.join(wire.Overlay(b.Reparent.To))
		}
	}
}
