package cluster_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"treecast/e2e/cluster"
)

// binary is the treecast binary, built once for all tests.
var binary string

// seedFlag replays a run by the seed that it printed.
var seedFlag = flag.Uint64("cluster.seed", 0, "seed of faults; 0 takes a fresh one")

// seed is the seed of one test, printed with the command that replays it. What it
// chooses from is the network as it is then, so a replay is alike, not the same.
func seed(t *testing.T) uint64 {
	s := *seedFlag
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("replay: go test ./e2e/cluster -run '^%s$' -cluster.seed %d", t.Name(), s)
	return s
}

func TestMain(m *testing.M) { os.Exit(withBinary(m)) }

func withBinary(m *testing.M) int {
	dir, err := os.MkdirTemp("", "treecast-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if binary, err = cluster.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
