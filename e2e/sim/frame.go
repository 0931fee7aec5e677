package sim

import "treecast/wire"

// frame is one message on the wire, shared by all streams that it travels on.
type frame struct {
	body   []byte
	soc    *wire.Broadcast // of a chunk: decoded once, at its making
	refs   int32           // streams that carry it, and cores that hold it
	asker  int32           // of a plain probe, which names nobody; -1 = unknown
	forged bool
}

// newFrame makes a frame that one stream or core holds.
func (w *world) newFrame(body []byte) int32 {
	var at int32
	if n := len(w.freeFrames); n > 0 {
		at = w.freeFrames[n-1]
		w.freeFrames = w.freeFrames[:n-1]
	} else {
		at = int32(len(w.frames))
		w.frames = append(w.frames, frame{})
	}
	w.frames[at] = frame{body: body, refs: 1, asker: -1}
	return at
}

// drop gives one hold of a frame back.
func (w *world) drop(at int32) {
	f := &w.frames[at]
	if f.refs--; f.refs == 0 {
		*f = frame{}
		w.freeFrames = append(w.freeFrames, at)
	}
}

// send puts a frame on a stream from one side; the stream takes the hold.
func (w *world) send(slot int32, side int, at int32) {
	s := &w.streams[slot]
	if s.over[1-side] {
		w.drop(at)
		return
	}
	w.sent++
	delay := s.delay
	if w.cfg.Jitter > 0 {
		delay += int64(float64(delay) * w.cfg.Jitter * w.rng.Float64())
	}
	arrive := w.now + delay
	if w.crosses(s.end[0], s.end[1]) {
		if w.breaks {
			w.drop(at)
			return
		}
		arrive = w.cutUntil + delay
	}
	arrive = max(arrive, s.last[1-side])
	s.last[1-side] = arrive
	if w.frames[at].soc != nil {
		w.flying++
	}
	w.q.push(evFrame, event{at: arrive, node: s.end[1-side], ref: w.ref(slot), arg: at})
}
