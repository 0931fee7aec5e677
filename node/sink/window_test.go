package sink

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestWindow stores entries in any order and compares with a list.
func TestWindow(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	l := Limits{Window: 20, WindowBytes: 1500}
	var w window
	var want []*entry
	for i := range 5000 {
		if !w.full(&l) && rng.IntN(2) == 0 {
			want = append(want, w.push(objectOf(i)))
		} else if len(want) > 0 {
			j := rng.IntN(len(want))
			want[j].stored = true
			want = append(want[:j:j], want[j+1:]...)
			if rng.IntN(3) > 0 {
				continue // several at a time
			}
		}
		w.compact()
		if len(w.entries) != len(want) || w.bytes != int64(100*len(want)) || len(want) > 15 {
			t.Fatalf("step %d: %d entries of %d bytes, want %d", i, len(w.entries), w.bytes, len(want))
		}
		for j := range want {
			if w.entries[j] != want[j] {
				t.Fatalf("step %d: entry %d is another", i, j)
			}
		}
	}
}

func TestWindowIsFullByNumberAndBytes(t *testing.T) {
	var w window
	for i := range 3 {
		if w.full(&Limits{Window: 3, WindowBytes: 1000}) || w.full(&Limits{Window: 100, WindowBytes: 300}) {
			t.Fatalf("full with %d", i)
		}
		w.push(objectOf(i))
	}
	if !w.full(&Limits{Window: 3, WindowBytes: 1000}) || !w.full(&Limits{Window: 100, WindowBytes: 300}) {
		t.Error("not full")
	}
}

// TestWhereToLook: what a session may find in the stream of what it is to send.
func TestWhereToLook(t *testing.T) {
	now := time.Now()
	var w window
	var s streamState
	if from, look := s.after(1000, 300, &w); !look || from != 700 {
		t.Errorf("at the start behind %d, %v", from, look)
	}
	if from, look := s.after(200, 300, &w); !look || from != 0 {
		t.Errorf("in a short stream behind %d, %v", from, look)
	}
	s = streamState{created: now, high: 1000}
	a, b := w.push(objectOf(1)), w.push(objectOf(2))
	if _, look := s.after(1000, 300, &w); look {
		t.Error("nothing was sent, and yet it looks")
	}
	a.tries, a.floor = 1, 990
	b.tries, b.floor = 2, 980
	if from, look := s.after(1000, 300, &w); !look || from != 980 {
		t.Errorf("after a failure behind %d, %v", from, look)
	}
	for _, c := range []struct {
		created time.Time
		last    uint64
		want    bool
	}{{now, 1000, false}, {now, 1001, false}, {now, 999, true}, {now.Add(time.Second), 5000, true}} {
		if got := s.another(c.created, c.last); got != c.want {
			t.Errorf("another with %v, %d: %v", c.created, c.last, got)
		}
	}
}
