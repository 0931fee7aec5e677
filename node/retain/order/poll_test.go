package order_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"treecast/node/retain/order"
	"treecast/wire"
)

// nobody is the overlay that stands for an entry point.
var nobody wire.Overlay

// polled lets time pass until the entry point is asked, at most for limit, and
// returns how long that took, or -1.
func (f *feeds) polled(limit time.Duration) time.Duration {
	f.t.Helper()
	begin, n := f.now, len(f.asks)
	for f.now.Sub(begin) < limit {
		f.after(time.Millisecond)
		for ; n < len(f.asks); n++ {
			if f.asks[n].To == nobody {
				return f.now.Sub(begin)
			}
		}
	}
	return -1
}

// brings answers the last request with its first n chunks and no more.
func (f *feeds) brings(n uint64) {
	f.t.Helper()
	at := len(f.asks) - 1
	r := f.asks[at].Range
	for i := range n {
		f.recovered(r.From + i)
	}
	end := &wire.RecoverEnd{}
	if n < r.Len() {
		end = missing(r.From+n, r.To)
	}
	f.answer(at, end)
}

// between fails unless low ≤ d ≤ high.
func (f *feeds) between(d, low, high time.Duration) {
	f.t.Helper()
	if d < low || d > high {
		f.t.Fatalf("after %v, want %v to %v", d, low, high)
	}
}

// Both parents are mute: an entry point is asked as long as they are, then and while
// there are no others, until a new parent sends something.
func TestPoll(t *testing.T) {
	f := quieted(t)
	f.between(f.polled(time.Second), 5*time.Millisecond, 11*time.Millisecond)
	f.want("ask 0 10-73")
	f.brings(8)
	for !slices.Contains(f.log, "withheld 2") {
		f.between(f.polled(time.Second), 30*time.Millisecond, 51*time.Millisecond)
		f.brings(5)
	}
	f.parents(true)
	f.between(f.polled(time.Second), 30*time.Millisecond, 51*time.Millisecond)
	f.brings(5)
	f.parents(true, root)
	f.between(f.polled(time.Second), 30*time.Millisecond, 51*time.Millisecond)
	next := f.asks[len(f.asks)-1].Range.From
	f.log = nil
	f.arrive(root, next+1) // what lies between is missing, and asked for at once
	f.want(fmt.Sprintf("ask 3 %d-%[1]d", next))
	if d := f.polled(time.Minute); d >= 0 {
		t.Errorf("an entry point is asked %v after a parent has sent something", d)
	}
}

// However long it lasts, a poll has so many requests, ever more seldom, and ends.
func TestPollBound(t *testing.T) {
	f := quieted(t)
	n, begin := 0, f.now
	for d := f.polled(5 * time.Second); d >= 0; d = f.polled(5 * time.Second) {
		if n++; n < 60 && d > 51*time.Millisecond || d > 1300*time.Millisecond {
			t.Fatalf("request %d after %v", n, d)
		}
		f.parents(true) // the mute ones are gone
		f.brings(1)
	}
	if n != 84 || f.now.Sub(begin) > 40*time.Second {
		t.Errorf("%d requests in %v", n, f.now.Sub(begin))
	}
	if d := f.o.Deadline(); !d.IsZero() {
		t.Errorf("wants to be called in %v", d.Sub(f.now))
	}
}

// An entry point that has nothing newer is asked three times: the publisher rests.
func TestPollDry(t *testing.T) {
	f := quieted(t)
	n := 0
	for ; f.polled(10*time.Second) >= 0; n++ {
		f.brings(0)
	}
	if n != 3 {
		t.Errorf("asked %d times", n)
	}
}

// What an answer cannot hold is asked for at once.
func TestPollMore(t *testing.T) {
	f := quieted(t)
	f.between(f.polled(time.Second), 5*time.Millisecond, 11*time.Millisecond)
	f.brings(64)
	f.brings(64)
	if r := f.asks[len(f.asks)-1].Range; r.From != 138 {
		t.Errorf("asked for %v, want what follows 137", r)
	}
	f.brings(3)
	f.between(f.polled(time.Second), 30*time.Millisecond, 51*time.Millisecond)
}

// Entry points that do not answer in time are taken in turn, and less and less often.
func TestPollFails(t *testing.T) {
	f := quieted(t)
	n := 0
	for d := f.polled(10 * time.Second); d >= 0; d = f.polled(10 * time.Second) {
		last := f.asks[len(f.asks)-1]
		if n++; last.Same != (n == 1) {
			t.Errorf("request %d: the same entry point: %v", n, last.Same)
		}
		if n > 5 && d < 650*time.Millisecond {
			t.Errorf("request %d after %v", n, d)
		}
		if n == 1 {
			f.parents(true)
			f.log = nil
			f.after(499 * time.Millisecond)
			f.want()
			f.after(time.Millisecond)
			f.want("give up 3")
		}
		f.answer(len(f.asks)-1, nil)
	}
	if n != 84 {
		t.Errorf("%d requests", n)
	}
}

// An answer to a poll that is over is none to the next one.
func TestPollAnswersLate(t *testing.T) {
	f := quieted(t)
	f.between(f.polled(time.Second), 5*time.Millisecond, 11*time.Millisecond)
	late := len(f.asks) - 1
	f.paced(10, 10, time.Millisecond)
	f.answer(0, missing(11, 73))
	f.answer(1, missing(11, 73))
	f.parents(true)
	f.answer(late, missing(10, 73))
	f.between(f.polled(time.Second), 0, 6*time.Millisecond)
	f.brings(1)
	f.between(f.polled(time.Second), 30*time.Millisecond, 51*time.Millisecond)
}

// A parent that answers has nothing newer, and waits for the same chunks itself: it
// will pass them on, and the entry point is spared.
func TestPollEndsWithAnswer(t *testing.T) {
	f := quieted(t)
	f.between(f.polled(time.Second), 5*time.Millisecond, 11*time.Millisecond)
	f.brings(2)
	f.answer(0, missing(10, 73))
	if d := f.polled(time.Minute); d >= 0 {
		t.Errorf("asked again after %v", d)
	}
}

// Parents that send what the poll has brought already are not mute, and end it.
func TestPollOutrunsParents(t *testing.T) {
	f := quieted(t)
	f.polled(time.Second)
	f.brings(5)
	f.step(order.Sent{From: right, Owner: alice, Index: 12})
	f.log = nil
	if d := f.polled(39 * time.Millisecond); d >= 0 {
		t.Errorf("asked again after %v", d)
	}
	f.want()
}

// All feeds that were flowing are asked for, one after the other.
func TestPollFeeds(t *testing.T) {
	bob, carol := wire.Owner{2}, wire.Owner{3}
	f := newFeeds(t, order.Config{})
	f.parents(true, left, right)
	for _, owner := range []wire.Owner{bob, carol} {
		f.step(&order.Arrived{Owner: owner, Index: 50, Chunk: 1000 + order.ChunkID(owner[0]), Size: 100, From: left})
		if owner == bob { // long before the silence
			f.after(time.Minute)
		}
	}
	f.paced(0, 9, 20*time.Millisecond)
	f.polled(3 * time.Second)
	for range 3 {
		if a := f.asks[len(f.asks)-1]; a.Owner != alice {
			t.Fatalf("asked for %x first", a.Owner[:2])
		}
		f.brings(1)
		if a := f.asks[len(f.asks)-1]; a.Owner != carol || a.To != nobody || a.Range.From != 51 {
			t.Fatalf("then asked %v for %x, %v", a.To, a.Owner[:2], a.Range)
		}
		f.answer(len(f.asks)-1, missing(51, 114))
		f.between(f.polled(time.Second), 30*time.Millisecond, 51*time.Millisecond)
	}
}

// Parents that die while chunks flow are as good as mute ones.
func TestBereft(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(true, left, right)
	f.paced(0, 9, 20*time.Millisecond)
	f.parents(true, right)
	if d := f.polled(5 * time.Millisecond); d >= 0 {
		t.Errorf("one is left, and an entry point is asked after %v", d)
	}
	f.parents(true)
	f.between(f.polled(time.Second), 0, 6*time.Millisecond)
	f.brings(2)
	f.between(f.polled(time.Second), 30*time.Millisecond, 51*time.Millisecond)
}

// When nothing flowed, or nobody is there to ask, nobody is asked.
func TestBereftAtRest(t *testing.T) {
	for name, lose := range map[string]func(*feeds){
		"idle":  func(f *feeds) { f.paced(0, 9, 20*time.Millisecond); f.after(3 * time.Second); f.parents(true) },
		"few":   func(f *feeds) { f.paced(0, 6, 20*time.Millisecond); f.parents(true) },
		"alone": func(f *feeds) { f.paced(0, 9, 20*time.Millisecond); f.parents(false) },
	} {
		f := newFeeds(t, order.Config{})
		f.parents(true, left)
		lose(f)
		n := len(f.asks)
		f.after(time.Hour)
		if len(f.asks) > n {
			t.Errorf("%s: asked %v", name, f.asks[n:])
		}
	}
}

// Where all entry points are parents there is nobody else to ask; when these are
// given up, there is.
func TestPollOfParents(t *testing.T) {
	f := quieted(t)
	f.entry(false)
	f.after(time.Second)
	f.want("give up 1", "withheld 1", "give up 2", "withheld 2")
	f.parents(true)
	f.between(f.polled(time.Second), 0, 51*time.Millisecond)
}

// New parents that send nothing of what a poll brings are asked like the old ones.
func TestNewParentsAreMute(t *testing.T) {
	f := quieted(t)
	f.polled(time.Second)
	f.parents(true)
	f.brings(1)
	f.parents(true, root)
	f.log = nil
	for !slices.Contains(f.log, "withheld 3") {
		if f.polled(time.Second) < 0 {
			t.Fatalf("no more: %q", f.log)
		}
		f.brings(1)
		if f.now.Sub(start) > 5*time.Second {
			t.Fatalf("not named: %q", f.log)
		}
	}
}

// A gap that was left to the parents goes to an entry point when these are lost, and
// the poll waits for its turn.
func TestGapOfTheBereft(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(true, left, right)
	f.paced(0, 9, 20*time.Millisecond)
	f.arrive(left, 11)
	f.parents(true)
	f.between(f.polled(time.Second), 0, 6*time.Millisecond)
	f.brings(0) // be it the poll's request or the gap's that was first
	if len(f.asks) == 1 {
		f.between(f.polled(time.Second), 0, 51*time.Millisecond)
	}
	for _, from := range []uint64{10, 12} {
		if !slices.ContainsFunc(f.asks, func(a order.Action) bool { return a.To == nobody && a.Range.From == from }) {
			t.Errorf("nobody was asked for %d: %q", from, f.log)
		}
	}
}

// After all parents were lost a gap is left to nobody for a while.
func TestHaste(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(false, left, right)
	f.arrive(left, 0)
	f.parents(false)
	f.parents(false, left)
	f.parents(false, left, right)
	f.arrive(right, 2)
	f.want("0", "ask 2 1-1")
	f.arrive(left, 1)
	f.answer(0, missing(1, 1))
	f.after(2 * time.Second)
	f.log = nil
	f.arrive(right, 4)
	f.after(249 * time.Millisecond)
	f.want()
	f.after(time.Millisecond)
	f.want("ask 2 3-3")
}

// A request at a parent that is none any more keeps nobody waiting.
func TestGapAtGoneParent(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(true, left)
	f.arrive(left, 0, 2)
	f.want("0", "ask 1 1-1")
	f.parents(true, right)
	f.want("give up 1", "ask 2 1-1")
	f.answer(0, nil)
	f.arrive(right, 1)
	f.want("1", "2")
}
