package cluster_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"treecast/e2e/cluster"
)

// started is the line that a node prints when it is up.
type started = cluster.Started

// treeNode is what `treecast tree --json` prints, as far as it matters here.
type treeNode struct {
	Overlay string `json:"overlay"`
	Cohorts []struct {
		Broker   bool  `json:"broker"`
		Attached bool  `json:"attached"`
		Settled  bool  `json:"settled"`
		Children []any `json:"children"`
		Parents  []struct {
			Overlay string `json:"overlay"`
			Broker  bool   `json:"broker"`
		} `json:"parents"`
	} `json:"cohorts"`
}

// runningNode is one `treecast node` process.
type runningNode struct{ *cluster.Daemon }

func startNode(t *testing.T, name string, args ...string) *runningNode {
	t.Helper()
	return &runningNode{cluster.StartNode(t, binary, name, args...)}
}

// tree runs `treecast tree --json` against the node.
func (n *runningNode) tree(t *testing.T) (tree treeNode) {
	t.Helper()
	p := cluster.Start(t, "tree of "+n.Name, binary, "tree", "--json", "--api", n.API)
	if code := p.Wait(t, 10*time.Second); code != 0 {
		t.Fatalf("tree of %s: exit %d: %s", n.Name, code, p.Stderr())
	}
	if err := json.Unmarshal([]byte(strings.Join(p.Lines(), "\n")), &tree); err != nil {
		t.Fatal(err)
	}
	if len(tree.Cohorts) != 1 {
		t.Fatalf("%s has %d cohorts", n.Name, len(tree.Cohorts))
	}
	return tree
}

// parents are the overlays of the node's parents.
func (n *runningNode) parents(t *testing.T) (list []string) {
	for _, p := range n.tree(t).Cohorts[0].Parents {
		list = append(list, p.Overlay)
	}
	return list
}

// awaitSettled waits until the node has the parents it wants.
func (n *runningNode) awaitSettled(t *testing.T) {
	t.Helper()
	cluster.Eventually(t, 20*time.Second, n.Name+" settles", func() (bool, string) {
		tree := n.tree(t)
		return tree.Cohorts[0].Settled, fmt.Sprintf("%+v", tree.Cohorts[0])
	})
}

// writeObjects writes n different objects and returns their files, and their
// bytes by SHA-256.
func writeObjects(t *testing.T, n int) (files []string, objects map[string][]byte) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("object seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	objects = make(map[string][]byte)
	for i := range n {
		object := fmt.Appendf([]byte{1, 0, 0xBE, 0xEF}, "%08d", i)
		for range 100 + rng.IntN(1400) {
			object = append(object, byte(rng.Uint32()))
		}
		if i%50 == 0 { // now and then one that takes several chunks
			object = append(object, bytes.Repeat([]byte{byte(i)}, 20000)...)
		}
		name := filepath.Join(dir, fmt.Sprintf("%04d.beef", i))
		if err := os.WriteFile(name, object, 0o600); err != nil {
			t.Fatal(err)
		}
		hash := sha256.Sum256(object)
		files = append(files, name)
		objects[hex.EncodeToString(hash[:])] = object
	}
	return files, objects
}

// consumer is one `treecast receive` process.
type consumer struct {
	*cluster.Process
	addr, out string
}

func startConsumer(t *testing.T, name string) *consumer {
	t.Helper()
	c := &consumer{addr: cluster.FreePort(t), out: filepath.Join(t.TempDir(), name)}
	c.Process = cluster.Start(t, name, binary, "receive", "--json", "--listen", c.addr, "--out", c.out)
	return c
}

// finish stops the consumer and checks that it has every object once, byte for
// byte.
func (c *consumer) finish(t *testing.T, objects map[string][]byte) {
	t.Helper()
	if code := c.Stop(t); code != 0 {
		t.Errorf("%s: exit %d: %s", c.Name, code, c.Stderr())
	}
	lines := c.Lines()
	var summary struct{ Records, Objects, Duplicates, Refused int }
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &summary); err != nil {
		t.Fatal(err)
	}
	if summary.Records != len(objects) || summary.Objects != len(objects) || summary.Duplicates+summary.Refused > 0 {
		t.Errorf("%s: %+v, %d submitted", c.Name, summary, len(objects))
	}
	if err := cluster.CompareDir(c.out, objects); err != nil {
		t.Errorf("%s: %v", c.Name, err)
	}
}

// TestSixProcesses is the network that the README tells of: a broker with an
// ingress, three relays, and two leaves that dial their consumers. While 1000
// objects go through, or 200 with -short, two of the three relays are killed: the
// first parent of one leaf, and when that has healed what relay feeds it then.
func TestSixProcesses(t *testing.T) {
	total := 1000
	if testing.Short() {
		total = 200
	}
	firstKill, secondKill := total*3/10, total*7/10
	files, objects := writeObjects(t, total)
	broker := startNode(t, "broker", "--broker", "--capacity", "3", "--ingress-tcp", "127.0.0.1:0")
	join := "beef@" + broker.Addrs[0]
	relays := make(map[string]*runningNode)
	for _, name := range []string{"R1", "R2", "R3"} {
		r := startNode(t, name, "--join", join)
		r.awaitSettled(t)
		relays[r.Overlay] = r
	}
	var leaves []*runningNode
	var consumers []*consumer
	for i := range 2 {
		c := startConsumer(t, fmt.Sprintf("consumer-%d", i+1))
		leaf := startNode(t, fmt.Sprintf("L%d", i+1), "--join", join, "--capacity", "0",
			"--egress-dial", fmt.Sprintf("c%d@%s=tm_e2e", i+1, c.addr))
		leaf.awaitSettled(t)
		parents := leaf.parents(t)
		if len(parents) != 2 || relays[parents[0]] == nil || relays[parents[1]] == nil {
			t.Fatalf("%s has the parents %v, want two relays", leaf.Name, parents)
		}
		leaves, consumers = append(leaves, leaf), append(consumers, c)
	}
	leaf, watched := leaves[0], consumers[0]
	first := leaf.parents(t)

	submit := cluster.Start(t, "submit", binary, append([]string{
		"submit", "--to", broker.Ingress[0], "--proto", "tcp", "--topics", "tm_e2e", "--rate", "50",
	}, files...)...)
	awaitCount(t, watched, firstKill)
	relays[first[0]].Kill()
	cluster.Eventually(t, 6*time.Second, "the leaf heals", func() (bool, string) {
		now := leaf.parents(t)
		// As a rule onto the third relay. The dead one's place at the broker is free
		// too, and a child of the broker may let the other relay go.
		fed := len(now) == 2 && now[0] != now[1] || slices.Contains(now, broker.Overlay)
		return fed && !slices.Contains(now, first[0]), fmt.Sprint(now)
	})
	awaitCount(t, watched, secondKill)
	next := first[1]
	for _, p := range leaf.parents(t) {
		if relays[p] != nil {
			next = p
		}
	}
	relays[next].Kill()
	for _, c := range consumers {
		awaitCount(t, c, total)
	}
	if code := submit.Wait(t, 10*time.Second); code != 0 {
		t.Errorf("submit: exit %d: %s", code, submit.Stderr())
	}
	for _, c := range consumers {
		c.finish(t, objects)
	}
	for _, n := range append(leaves, broker) {
		if code := n.Stop(t); code != 0 {
			t.Errorf("%s: exit %d: %s", n.Name, code, n.Stderr())
		}
	}
}

// awaitCount waits until the consumer has n records.
func awaitCount(t *testing.T, c *consumer, n int) {
	t.Helper()
	last, since := -1, time.Now()
	cluster.Eventually(t, 60*time.Second, fmt.Sprintf("%s has %d records", c.Name, n), func() (bool, string) {
		now := c.CountLines()
		if now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) > 15*time.Second {
			t.Fatalf("%s: nothing for 15 s after %d records, want %d", c.Name, now, n)
		}
		return now >= n, fmt.Sprint(now)
	})
}
