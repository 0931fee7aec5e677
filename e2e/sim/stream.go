package sim

import "treecast/tree"

// The two ends of a stream.
const (
	dialler  = 0
	acceptor = 1
)

// stream is one (peer, topic) stream, from the moment its dialler sets out. Its
// data flows from acceptor to dialler: parent to child.
type stream struct {
	delay int64       // one way
	last  [2]int64    // when the latest frame to each end arrives
	dial  tree.DialID // 0 once the dialler has its answer
	gen   uint32
	body  int32 // frame with the Subscribe; -1 once it has arrived
	end   [2]int32
	next  [2]int32 // list of a node's ends: slot<<1 | side, -1 = none
	prev  [2]int32
	over  [2]bool // this end's node wants to hear no more of it
	open  bool    // the Subscribe has arrived
	child bool    // the acceptor said OK
	// moving says that the acceptor asked the child to go elsewhere.
	moving bool
}

// ref names a stream for events and cores; a slot that is used again has
// another one.
func (w *world) ref(slot int32) uint64 { return uint64(w.streams[slot].gen)<<32 | uint64(slot) }

// slot finds the stream of a ref, -1 if it is gone.
func (w *world) slot(ref uint64) int32 {
	s := int32(uint32(ref))
	if int(s) >= len(w.streams) || w.streams[s].gen != uint32(ref>>32) {
		return -1
	}
	return s
}

// side is node i's end of a stream.
func (s *stream) side(i int32) int {
	if s.end[dialler] == i {
		return dialler
	}
	return acceptor
}

// setOut makes a stream from i to peer whose Subscribe is on its way.
func (w *world) setOut(i, peer int32, dial tree.DialID) int32 {
	var slot int32
	if n := len(w.freeStreams); n > 0 {
		slot = w.freeStreams[n-1]
		w.freeStreams = w.freeStreams[:n-1]
	} else {
		slot = int32(len(w.streams))
		w.streams = append(w.streams, stream{gen: 1})
	}
	s := &w.streams[slot]
	*s = stream{gen: s.gen, delay: w.oneWay(i, peer), dial: dial, end: [2]int32{i, peer}, body: -1}
	w.hang(slot, dialler)
	return slot
}

// hang puts an end on its node's list.
func (w *world) hang(slot int32, side int) {
	s := &w.streams[slot]
	n := &w.nodes[s.end[side]]
	s.prev[side], s.next[side] = -1, n.streams
	if n.streams >= 0 {
		w.streams[n.streams>>1].prev[n.streams&1] = slot<<1 | int32(side)
	}
	n.streams = slot<<1 | int32(side)
}

// finish ends one end for its own node and, when both are over, frees the slot.
// The other end is not told.
func (w *world) finish(slot int32, side int) {
	s := &w.streams[slot]
	if s.over[side] {
		return
	}
	s.over[side] = true
	if side == acceptor && s.child {
		w.nodes[s.end[acceptor]].children--
	}
	if side == dialler || s.open {
		at := slot<<1 | int32(side)
		if n := &w.nodes[s.end[side]]; n.streams == at {
			n.streams = s.next[side]
		}
		if p := s.prev[side]; p >= 0 {
			w.streams[p>>1].next[p&1] = s.next[side]
		}
		if x := s.next[side]; x >= 0 {
			w.streams[x>>1].prev[x&1] = s.prev[side]
		}
	}
	if s.over[1-side] || side == dialler && !s.open {
		if s.body >= 0 {
			w.drop(s.body)
		}
		s.gen++
		w.freeStreams = append(w.freeStreams, slot)
	}
}

// tell lets the other end know, after the frames that are on their way to it.
func (w *world) tell(slot int32, side int, cause tree.EndCause, after int64) {
	s := &w.streams[slot]
	if s.over[1-side] || side == dialler && !s.open {
		return
	}
	at := max(w.now+after, s.last[1-side])
	w.notices++
	w.q.push(evEnd, event{at: at, node: s.end[1-side], ref: w.ref(slot), arg: int32(cause)})
}

// feeds says whether a stream carries data: parent and child both hold it.
func (w *world) feeds(slot int32) bool {
	s := &w.streams[slot]
	return s.child && !s.over[0] && !s.over[1]
}
