package sim

import (
	"math/rand/v2"
	"testing"
)

// TestQueue takes events out in order of time, and of equal times in the order
// in which they were put in.
func TestQueue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var q queue
	var last event
	popped := 0
	for popped < 20000 {
		if q.len() == 0 || rng.IntN(100) < 51 && popped < 10000 {
			q.push(evTick, event{at: last.at + rng.Int64N(50)})
			continue
		}
		e := q.pop()
		if e.before(&last) {
			t.Fatalf("event %d at %d after one at %d", e.seq, e.at, last.at)
		}
		if e.kind() != evTick {
			t.Fatalf("kind %d", e.kind())
		}
		last, popped = e, popped+1
		if q.len() == 0 && popped >= 10000 {
			return
		}
	}
}
