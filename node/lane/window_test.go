package lane

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// valid checks the invariants of a window.
func (w *window[K, V]) valid(t *rapid.T) {
	live := 0
	for n := w.first; n < w.next; n++ {
		if s := w.slot(n); s.live {
			live++
			if w.at[s.key] != n {
				t.Fatalf("slot %d is not in the map", n)
			}
		}
	}
	if live != len(w.at) || w.next-w.first > uint64(w.limit) || w.next-w.first > uint64(len(w.slots)) {
		t.Fatalf("%d live slots, %d keys, slots %d..%d of %d", live, len(w.at), w.first, w.next, len(w.slots))
	}
	if w.first < w.next && !w.slot(w.first).live {
		t.Fatal("the oldest slot is dead")
	}
}

// TestWindow compares a window with a list of all that was put.
func TestWindow(t *testing.T) {
	type entry struct {
		key   int
		since time.Time
	}
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		const age = 10 * time.Second
		w := newWindow[int, int](limit, age)
		now := time.Unix(0, 0)
		var model []entry // oldest first; a dropped key leaves one with key -1
		index := func(key int) int {
			for i, e := range model {
				if e.key == key {
					return i
				}
			}
			return -1
		}
		trim := func() {
			for len(model) > 0 && (model[0].key < 0 || now.Sub(model[0].since) > age) {
				model = model[1:]
			}
		}
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 1500).Draw(t, "ms")) * time.Millisecond)
			key := rapid.IntRange(0, 60).Draw(t, "key")
			trim()
			v, ok := w.get(now, key)
			if ok != (index(key) >= 0) || ok && *v != key {
				t.Fatalf("key %d: %v, want %v", key, ok, !ok)
			}
			switch {
			case !ok:
				if len(model) == limit {
					model = model[1:]
					trim()
				}
				w.put(now, key, key)
				model = append(model, entry{key, now})
			case rapid.Bool().Draw(t, "drop"):
				w.drop(key)
				model[index(key)].key = -1
				trim()
			}
			w.valid(t)
		}
	})
}
