package node

import (
	"sync"
	"time"

	"treecast/node/retain/order"
	"treecast/tree"
)

// turn is the right to work in a loop: one goroutine has it at a time. That is the
// loop's own, or a reader that brings a lone frame while the loop has nothing to do:
// waking another goroutine for it would cost more than most of what is done then.
// Whoever has the turn waits for nobody.
type turn struct {
	mu    sync.Mutex
	timer *time.Timer // the loop's own goroutine waits on it
	armed time.Time   // for when the timer is set; zero: it is not
	over  bool        // the loop has ended
}

func newTurn() turn { return turn{timer: time.NewTimer(time.Hour)} }

// takeTurn begins a turn.
func (l *loop) takeTurn() {
	l.turn.mu.Lock()
	l.now = time.Now()
}

// endTurn ends one: what was asked to be checked is handed over, and the timer set for
// what is due next. Full says that no frames should be taken until checks are done;
// then no reader gets a turn either, so that it stays true until the loop's next.
func (l *loop) endTurn() (full bool) {
	defer l.turn.mu.Unlock()
	l.submit()
	l.wakeWriters()
	if d := earlier(l.core.Deadline(), l.order.Deadline()); !d.Equal(l.turn.armed) {
		l.turn.armed = d
		if d.IsZero() {
			l.turn.timer.Stop()
		} else {
			l.turn.timer.Reset(max(time.Until(d), 0))
		}
	}
	return l.asked >= maxAsked
}

// tick does what is due.
func (l *loop) tick() {
	l.turn.armed = time.Time{}
	l.step(tree.Tick{})
	l.inOrder(order.Tick{})
}

// lone takes a batch in the goroutine of its reader, none of whose earlier batches may be
// waiting. False: it must wait for the loop like others, as there is more to do, be it
// in the batch, be it before it.
func (l *loop) lone(b *batch) bool {
	if b.n != 1 || b.ended || len(l.c.frames) > 0 || !l.turn.mu.TryLock() {
		return false
	}
	if l.asked > 0 || l.turn.over {
		l.turn.mu.Unlock()
		return false
	}
	l.now = time.Now()
	l.batch(b)
	l.endTurn()
	return true
}
