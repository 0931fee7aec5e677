package tree

// window remembers the newest addresses that were delivered under bindings
// without an index, at most of them; the oldest go first (PROTOCOL §4 Duplicates).
type window struct {
	most   int
	byKey  map[[32]byte]int
	prints map[uint64]struct{}
	ring   []taken
	next   int
}

// taken is one delivered chunk.
type taken struct {
	key   [32]byte
	cac   [32]byte
	print uint64
	sig   [65]byte
}

// has says whether that very content was taken.
func (w *window) has(print uint64) bool {
	_, ok := w.prints[print]
	return ok
}

// holds says whether a chunk of k's address was taken.
func (w *window) holds(k *check) bool {
	if len(w.ring) == 0 {
		return false
	}
	_, ok := w.byKey[k.address()]
	return ok
}

// take enters a valid chunk, unless its key is there: then it is a duplicate, or
// with another content address an equivocation.
func (w *window) take(key, cac [32]byte, print uint64, sig *[65]byte) Counter {
	if i, ok := w.byKey[key]; ok {
		if w.ring[i].cac != cac {
			return CountEquivocation
		}
		return CountDuplicate
	}
	if w.byKey == nil {
		w.byKey, w.prints = make(map[[32]byte]int), make(map[uint64]struct{})
	}
	t := taken{key: key, cac: cac, print: print, sig: *sig}
	if len(w.ring) < w.most {
		w.byKey[key] = len(w.ring)
		w.ring = append(w.ring, t)
	} else {
		old := &w.ring[w.next]
		delete(w.byKey, old.key)
		delete(w.prints, old.print)
		*old = t
		w.byKey[key] = w.next
		w.next = (w.next + 1) % w.most
	}
	w.prints[print] = struct{}{}
	return CountDelivered
}

// signature is that of the chunk taken under key.
func (w *window) signature(key [32]byte) (sig [65]byte) {
	if i, ok := w.byKey[key]; ok {
		sig = w.ring[i].sig
	}
	return sig
}
