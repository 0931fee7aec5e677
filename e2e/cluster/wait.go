package cluster

import (
	"testing"
	"time"
)

// pollEvery is how often a condition is looked at.
const pollEvery = 20 * time.Millisecond

// Eventually waits until cond holds, and fails the test after limit with what
// cond said last. cond runs in the test's goroutine.
func Eventually(t testing.TB, limit time.Duration, what string, cond func() (ok bool, state string)) {
	t.Helper()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for deadline := time.Now().Add(limit); ; <-tick.C {
		ok, state := cond()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v: %s", what, limit, state)
		}
	}
}
