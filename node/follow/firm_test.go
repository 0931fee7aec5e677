package follow_test

import (
	"context"
	"errors"
	"testing"

	"treecast/node/follow"
)

// What is passed by and still being recovered is waited for, so that nothing comes
// out of order; once it is given up, what is behind it comes.
func TestRecoveredInOrder(t *testing.T) {
	m := newMachine(t, machine{})
	f := m.opened("shop", follow.Options{})
	list := objects(t, "o", 6, 200)
	m.cohort.publish(alice, list[0])
	expect(t, f, list[0])
	m.cohort.Passed(alice, 1, false)
	m.cohort.publish(alice, list[1], 0)
	m.cohort.publish(alice, list[2])
	waits(t, f)
	m.cohort.keep(alice, 1, list[1].chunks[0])
	m.cohort.Passed(alice, 0, true)
	m.cohort.Settle(alice, 1, 2, 1)
	expect(t, f, list[1], list[2])
	m.cohort.Passed(alice, 3, false)
	m.cohort.publish(alice, list[3], 0)
	m.cohort.publish(alice, list[4])
	waits(t, f)
	m.cohort.Passed(alice, 0, true) // nobody has it
	expect(t, f, list[4])
	closed(t, f)
	m.stop()
}

// waits checks that a follower has nothing to give out: it looks at all that is at
// hand before it waits.
func waits(t *testing.T, f *follow.Follower) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if o, err := f.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %+v, %v", o, err)
	}
}
