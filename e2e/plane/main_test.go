package plane_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"treecast/e2e/cluster"
	"treecast/e2e/plane"
)

// treecast is the path of the binary, built once for all tests.
var treecast string

var seedFlag = flag.Uint64("plane.seed", 0, "seed of loads and faults; 0 takes a fresh one")

// seeded is the randomness of one test, its seed printed with the command that
// replays it.
func seeded(t *testing.T) *rand.Rand {
	s := *seedFlag
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("replay: go test ./e2e/plane -run '^%s$' -plane.seed %d", t.Name(), s)
	return rand.New(rand.NewPCG(s, 0))
}

func TestMain(m *testing.M) { os.Exit(withBinary(m)) }

func withBinary(m *testing.M) int {
	dir, err := os.MkdirTemp("", "treecast-plane")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if treecast, err = cluster.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// unlimited lifts the rates of a door.
var unlimited = []string{"--ingress-rate", "-1", "--ingress-rate-bytes", "-1", "--ingress-rate-node", "-1"}

// awaitCount waits until the consumer has n objects, and gives up when nothing has
// come for a while.
func awaitCount(t *testing.T, c *plane.Consumer, n int, quiet time.Duration) {
	t.Helper()
	last, since := -1, time.Now()
	cluster.Eventually(t, 8*time.Minute, fmt.Sprintf("%s has %d objects", c.Name, n), func() (bool, string) {
		now := c.Count()
		if now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) > quiet {
			tally := c.Tally()
			t.Fatalf("%s: nothing for %v after %d of %d objects; missing %s", c.Name, quiet, now, n, few(tally.Missing))
		}
		return now >= n, fmt.Sprint(now)
	})
}

// few shows a list that may be long.
func few(list []int) string {
	if len(list) <= 20 {
		return fmt.Sprint(list)
	}
	return fmt.Sprintf("%v and %d more", list[:20], len(list)-20)
}

// complete checks that everything came once, right, and in order.
func complete(t *testing.T, c *plane.Consumer, n int) {
	t.Helper()
	got := c.Tally()
	if got.Objects != n || len(got.Missing)+len(got.Twice)+got.Disorder+len(got.Strays) > 0 {
		t.Errorf("%s: %d of %d objects, missing %s, again %s, %d out of order, strays %q",
			c.Name, got.Objects, n, few(got.Missing), few(got.Twice), got.Disorder, got.Strays)
	}
}
