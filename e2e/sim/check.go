package sim

import (
	"bytes"
	"fmt"
)

// observe looks at a node after its parents or children changed: its band, and
// the ranks along its attachments (ARCHITECTURE Invariants 1).
func (w *world) observe(i int32) {
	n := &w.nodes[i]
	c, ok := n.m.(ours)
	if !ok {
		return
	}
	band := c.View().Band
	moved := band != n.band
	n.band = band
	for _, l := range n.parents {
		if w.feeds(l.slot) { // else the parent knows better already
			w.checkRank(l.peer, i)
		}
	}
	if !moved {
		return
	}
	for at := n.streams; at >= 0; {
		s := &w.streams[at>>1]
		if at&1 == acceptor && w.feeds(at>>1) && s.dial == 0 {
			w.checkRank(i, s.end[dialler])
		}
		at = s.next[at&1]
	}
}

// checkRank wants a parent below its child, where both are honest nodes of ours.
func (w *world) checkRank(parent, child int32) {
	p, c := &w.nodes[parent], &w.nodes[child]
	if !p.honest() || !c.honest() || p.state == stateDead {
		return
	}
	if p.band < c.band {
		return
	}
	if po, co := w.overlay(parent), w.overlay(child); p.band > c.band || bytes.Compare(po[:], co[:]) >= 0 {
		w.violated(child, "parent %d of band %d is not below its child %d of band %d", parent, p.band, child, c.band)
	}
}

// checkSlots wants no more children than slots, those aside that were asked to move.
func (w *world) checkSlots(i int32) {
	n := &w.nodes[i]
	if n.children <= n.capacity {
		return
	}
	moving := int32(0)
	for at := n.streams; at >= 0; at = w.streams[at>>1].next[at&1] {
		if s := &w.streams[at>>1]; at&1 == acceptor && s.child && s.moving {
			moving++
		}
	}
	if n.children > n.capacity+moving {
		w.violated(i, "node %d has %d children in %d slots, %d of them moving", i, n.children, n.capacity, moving)
	}
}

// maxViolations is how many are kept in words.
const maxViolations = 20

// violated notes that an invariant does not hold. A liar's own state counts for nothing.
func (w *world) violated(i int32, format string, args ...any) {
	if w.nodes[i].lie != lieNone {
		return
	}
	w.stats.violations++
	if len(w.stats.words) < maxViolations {
		w.stats.words = append(w.stats.words, fmt.Sprintf("%.6fs: ", float64(w.now)/1e9)+fmt.Sprintf(format, args...))
	}
}
