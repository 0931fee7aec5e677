package lane

import "time"

// window remembers values by key for a while: at most limit of them, none longer
// than age, the oldest leaving first. It grows with use and is allocated lazily.
// Time comes in with each call. Holders serialise access.
//
// Invariants:
//  1. at[k] is the number of a live slot whose key is k, and every live slot is in at.
//  2. first ≤ n < next for every live slot n, and next − first ≤ limit.
type window[K comparable, V any] struct {
	limit int
	age   time.Duration
	at    map[K]uint64
	slots []slot[K, V] // slot n lives at n & (len(slots)−1)
	first uint64       // number of the oldest slot
	next  uint64       // number of the next slot to fill
}

type slot[K comparable, V any] struct {
	key   K
	value V
	since time.Time
	live  bool
}

func newWindow[K comparable, V any](limit int, age time.Duration) *window[K, V] {
	return &window[K, V]{limit: limit, age: age, at: make(map[K]uint64)}
}

// get returns the value under key; the pointer is good until the next put.
func (w *window[K, V]) get(now time.Time, key K) (*V, bool) {
	w.expire(now)
	n, ok := w.at[key]
	if !ok {
		return nil, false
	}
	return &w.slot(n).value, true
}

// put stores value under a key that is not there yet, at the cost of the oldest
// entry when the window is full.
func (w *window[K, V]) put(now time.Time, key K, value V) {
	w.expire(now)
	if w.next-w.first == uint64(w.limit) {
		w.shift()
	}
	if w.next-w.first == uint64(len(w.slots)) {
		w.grow()
	}
	*w.slot(w.next) = slot[K, V]{key: key, value: value, since: now, live: true}
	w.at[key] = w.next
	w.next++
}

// drop forgets key. Its slot stays dead in its place until it is the oldest.
func (w *window[K, V]) drop(key K) {
	n, ok := w.at[key]
	if !ok {
		return
	}
	delete(w.at, key)
	*w.slot(n) = slot[K, V]{}
	w.trim()
}

func (w *window[K, V]) len() int { return len(w.at) }

func (w *window[K, V]) slot(n uint64) *slot[K, V] { return &w.slots[n&uint64(len(w.slots)-1)] }

func (w *window[K, V]) expire(now time.Time) {
	for w.first < w.next && now.Sub(w.slot(w.first).since) > w.age {
		w.shift()
	}
}

// shift drops the oldest slot and the dead ones behind it.
func (w *window[K, V]) shift() {
	s := w.slot(w.first)
	if s.live {
		delete(w.at, s.key)
	}
	*s = slot[K, V]{}
	w.first++
	w.trim()
}

func (w *window[K, V]) trim() {
	for w.first < w.next && !w.slot(w.first).live {
		w.first++
	}
}

func (w *window[K, V]) grow() {
	old := *w
	w.slots = make([]slot[K, V], max(16, 2*len(old.slots)))
	for n := w.first; n < w.next; n++ {
		*w.slot(n) = *old.slot(n)
	}
}
