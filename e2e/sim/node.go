package sim

import (
	"encoding/binary"
	"time"

	"treecast/tree"
	"treecast/wire"
)

// machine is what one node runs: a *tree.Cohort, or a model of a foreign node.
type machine interface {
	Step(now time.Time, ev tree.Event, out []tree.Action) []tree.Action
	Deadline() time.Time
}

// ours is a node of ours: the core itself.
type ours struct{ *tree.Cohort }

// A nodeKind is what a node is.
type nodeKind uint8

const (
	kindOurs   nodeKind = iota
	kindPlain           // plain SWIP-61 relay
	kindLeaf60          // SWIP-60 leaf
)

// A nodeState is where a node is in its life.
type nodeState uint8

const (
	stateWaiting nodeState = iota // not started yet
	stateLive
	stateLeaving // gracefully: still there, accepts nobody
	stateDead
)

// link is one attachment of a child: to which node, over which stream.
type link struct {
	peer int32
	slot int32
}

// dialRef is one Subscribe on its way.
type dialRef struct {
	id  tree.DialID
	ref uint64
}

// node is the world's record of one node.
type node struct {
	m       machine // nil before its start and after its end
	parents []link
	dials   []dialRef
	times
	joinCount
	streams  int32 // first of its list of ends; -1 = none
	pos      int32 // in world.live
	children int32
	capacity int32
	band     uint32
	missing  int32 // chunks
	kind     nodeKind
	lie      lie
	state    nodeState
	flags
}

// times are moments of a node's life, in ns; 0 = none.
type times struct {
	wake     int64 // when its next tick is planned
	joinAt   int64
	lostAt   int64 // when it noticed that it lacks a parent, until it is healed or given up
	darkAt   int64 // when it lost its last parent, until it has one again
	discover int64 // no new entry points before this
}

// joinCount is what a node's join cost so far.
type joinCount struct {
	visits   []visit // probes, by the node that they reached
	subs     uint32
	measured bool // it counts for the join figures
}

// flags are what is so about a node.
type flags struct {
	attached bool // had a parent once
	settled  bool // has the parents it wants
	joined   bool // was settled once
	going    bool // fails or leaves in the episode under way
	doomed   bool // and takes with it whom it alone feeds
	stuck    bool // was given up as not to be healed
	cut      bool // on the far side of a partition
	quiet    bool // died silently
}

// visit counts the probes of one join at one node.
type visit struct{ node, n int32 }

// wants is the number of parents a node of the kind looks for.
func (k nodeKind) wants() int {
	if k == kindLeaf60 {
		return 1
	}
	return 2
}

// honest says that the guarantees are about this node.
func (n *node) honest() bool { return n.kind == kindOurs && n.lie == lieNone }

// overlay is node i's address: chance, so that ranks of one band are in no order
// of age, and then the index, so that nobody has to look it up.
func (w *world) overlay(i int32) (o wire.Overlay) {
	h := mix(w.cfg.Seed ^ mix(uint64(i)+1))
	for at := 0; at < 24; at += 8 {
		h = mix(h + uint64(at))
		binary.BigEndian.PutUint64(o[at:], h)
	}
	binary.BigEndian.PutUint64(o[24:], uint64(i))
	return o
}

// index is the node of an address, -1 if there is none.
func (w *world) index(o wire.Overlay) int32 {
	i := binary.BigEndian.Uint64(o[24:])
	if i >= uint64(len(w.nodes)) || w.overlay(int32(i)) != o {
		return -1
	}
	return int32(i)
}

// mix is the finalizer of SplitMix64: a hash of 64 bits to 64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// enlist puts a node among the live ones.
func (w *world) enlist(i int32) {
	w.nodes[i].pos = int32(len(w.live))
	w.live = append(w.live, i)
}

// delist takes a node from the live ones.
func (w *world) delist(i int32) {
	at, last := w.nodes[i].pos, w.live[len(w.live)-1]
	w.live[at] = last
	w.nodes[last].pos = at
	w.live = w.live[:len(w.live)-1]
}

// Leave is the graceful way out of the core.
func (o ours) Leave(now time.Time, out []tree.Action) []tree.Action {
	return o.Step(now, tree.Leave{}, out)
}
