package sink

import "treecast/node/follow"

// An entry is one object that was taken from the source and is not stored.
type entry struct {
	*follow.Object
	id    string
	known knownID
	// floor is a sequence number of the stream that every message of this object
	// is above, if tries > 0.
	floor  uint64
	tries  int // times that it was sent
	stored bool
}

// window holds the entries in the source's order.
//
//  1. bytes is the sum of the entries' payloads.
//  2. After compact no entry is stored.
type window struct {
	entries []*entry
	bytes   int64
}

// full says whether no further object is to be taken.
func (w *window) full(l *Limits) bool {
	return len(w.entries) >= l.Window || w.bytes >= l.WindowBytes
}

func (w *window) push(o *follow.Object) *entry {
	e := &entry{Object: o, id: messageID(o), known: knownOf(o)}
	w.entries = append(w.entries, e)
	w.bytes += int64(len(o.Frame.Payload))
	return e
}

// compact takes out the entries that are stored.
func (w *window) compact() {
	rest := w.entries[:0]
	for _, e := range w.entries {
		if e.stored {
			w.bytes -= int64(len(e.Frame.Payload))
			continue
		}
		rest = append(rest, e)
	}
	clear(w.entries[len(rest):])
	w.entries = rest
}

// floor is a sequence number that the messages of all entries are above, and
// whether any was sent.
func (w *window) floor() (seq uint64, sent bool) {
	for _, e := range w.entries {
		if e.tries > 0 && (!sent || e.floor < seq) {
			seq, sent = e.floor, true
		}
	}
	return seq, sent
}
