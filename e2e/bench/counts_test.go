//go:build cgo && !race

package main

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"treecast/tree"
	"treecast/wire/soc"
)

// TestMain has every allocation of the tests counted: the rate must be set before
// anything runs.
func TestMain(m *testing.M) {
	runtime.MemProfileRate = 1
	os.Exit(m.Run())
}

// These bounds are counts and not times, so that they hold on any machine. A
// change that breaks one made the path of a chunk longer.
const (
	countHosts  = 16
	countChunks = 3000
	countWarm   = ringBytes/soc.MaxPayload + 200
	// maxWire is the bytes on one parent's stream per payload byte, so at most 2.1
	// with two parents.
	maxWire = 1.05
	// maxOwn is allocations of our own a chunk and node. The path of a chunk makes none;
	// what is counted are buffers after a collection has emptied the pool, which the
	// test's own collections do, and what happens by the clock.
	maxOwn = 0.4
)

// TestCounts puts chunks through a tree and holds what a chunk costs to what it has
// to: one check a node, one copy a parent, no byte besides, and no memory of our own.
// A node that finds a parent slow replaces it, and has a third one meanwhile; so
// copies are counted by parent, of those that stayed.
func TestCounts(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	net, err := newTree(ctx, countHosts, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer net.close()
	if f := net.shape(); f["max_depth"] < 2 || f["mean_parents"] < 1.6 {
		t.Fatalf("tree of depth %v, %v parents a node", f["max_depth"], f["mean_parents"])
	}
	send(ctx, t, net, countWarm) // until pools, tables and rings have their size
	before, allocs, checked := feeds(net), allocations(), checks(net)
	send(ctx, t, net, countChunks)
	after, more := feeds(net), allocations()
	made := func(c class) float64 { return float64(more[c]-allocs[c]) / countChunks }

	// The broker checks its own publications too.
	if n := checks(net) - checked; n != countHosts*countChunks {
		t.Errorf("%d checks of %d chunks at %d nodes", n, countChunks, countHosts)
	}
	if n := made(classRecover); n > 0.01*countHosts {
		t.Errorf("%v recoveries a chunk at %d nodes, although the owner's key is known", n, countHosts)
	}
	stayed := 0
	for at, from := range before {
		to, ok := after[at]
		if !ok {
			continue
		}
		stayed++
		if n := to.copies - from.copies; n != countChunks {
			t.Errorf("a parent of node %d sent %d copies of %d chunks", at.node, n, countChunks)
		}
		if wire := float64(to.bytes-from.bytes) / (countChunks * soc.MaxPayload); wire > maxWire || wire < 1 {
			t.Errorf("a parent of node %d sent %.3f bytes a payload byte, want 1 to %v", at.node, wire, maxWire)
		}
	}
	if stayed < countHosts/2 {
		t.Errorf("%d parents stayed, want at least %d: the tree never came to rest", stayed, countHosts/2)
	}
	own := made(classOwn) / countHosts
	t.Logf("%d parents stayed; allocations a chunk and node: own %.3f, libp2p's %.3f, the recovery's %.3f, this program's %.3f, others' %.3f",
		stayed, own, made(classLibp2p)/countHosts, made(classRecover)/countHosts, made(classBench)/countHosts, made(classOther)/countHosts)
	if own > maxOwn {
		t.Errorf("%.3f allocations of our own a chunk and node, want at most %v", own, maxOwn)
	}
}

// checks are the chunks that all nodes have checked.
func checks(net *treeNet) (n uint64) {
	for _, m := range net.members {
		n += m.node.Stats().Counters["checked"]
	}
	return n
}

// A parentStream is one parent of one node.
type parentStream struct {
	node   int
	stream tree.StreamID
}

// fed is what came from it.
type fed struct{ copies, bytes uint64 }

func feeds(net *treeNet) map[parentStream]fed {
	out := make(map[parentStream]fed)
	for i, m := range net.members[1:] {
		bytes := make(map[tree.StreamID]uint64)
		for _, s := range m.cohort.Stats().Streams {
			bytes[s.Stream] = s.BytesIn
		}
		for _, p := range m.cohort.View().Parents {
			out[parentStream{i + 1, p.Stream}] = fed{p.First + p.Second, bytes[p.Stream]}
		}
	}
	return out
}

// send publishes n chunks, few at a time, and waits until all have arrived, and no
// copy comes any more.
func send(ctx context.Context, t *testing.T, net *treeNet, n int) {
	t.Helper()
	books := newLedger(net.subscribers(), 32)
	src := plainSource(4096)
	net.attach(&reader{books: books})
	for range n {
		select {
		case books.room <- struct{}{}:
		case <-ctx.Done():
			lost, _ := books.missing(0, books.sent.Load())
			t.Fatalf("%d deliveries are missing after %d chunks", lost, books.sent.Load())
		}
		payload := src.next(books.sent.Load())
		books.send()
		if err := net.publish(payload); err != nil {
			t.Fatal(err)
		}
	}
	last, since := uint64(0), time.Now()
	for lost, _ := books.missing(0, int64(n)); lost > 0 || time.Since(since) < time.Second; lost, _ = books.missing(0, int64(n)) {
		if ctx.Err() != nil {
			t.Fatalf("%d deliveries are missing", lost)
		}
		if c := net.copies(); c != last {
			last, since = c, time.Now()
		}
		time.Sleep(20 * time.Millisecond)
	}
	if _, twice := books.missing(0, int64(n)); twice > 0 {
		t.Errorf("%d deliveries came twice", twice)
	}
}

// A class says whose code an allocation is.
type class int

const (
	classOther   class = iota
	classOwn           // of packages wire, probe, tree and node
	classRecover       // one a recovery of a key: libsecp256k1's binding makes it
	classLibp2p        // the streams, their encryption and multiplexing
	classBench         // of this program
	numClasses
)

// allocations are all objects allocated so far.
func allocations() (n [numClasses]int64) {
	for range 3 { // the profile is that of the collection before the last
		runtime.GC()
	}
	records := make([]runtime.MemProfileRecord, 4096)
	for {
		got, ok := runtime.MemProfile(records, true)
		if ok {
			records = records[:got]
			break
		}
		records = make([]runtime.MemProfileRecord, 2*got)
	}
	for i := range records {
		n[classOf(records[i].Stack())] += records[i].AllocObjects
	}
	return n
}

// classOf looks for the innermost frame that is not the standard library's. What
// a publication or a question of this program costs is the program's.
func classOf(stack []uintptr) (c class) {
	frames := runtime.CallersFrames(stack)
	for {
		f, more := frames.Next()
		name := f.Function
		switch {
		case strings.HasSuffix(name, "secp256k1.RecoverPubkey"):
			return classRecover
		case strings.HasPrefix(name, "treecast/e2e/"), strings.HasPrefix(name, "main."), strings.HasPrefix(name, "testing."),
			strings.Contains(name, "node.(*Publisher)"), strings.HasSuffix(name, "node.(*loop).settle"):
			return classBench
		case c != classOther:
		case strings.HasPrefix(name, "treecast/"):
			c = classOwn
		case strings.Contains(name, "libp2p"), strings.Contains(name, "flynn/noise"), strings.Contains(name, "multiformats"):
			c = classLibp2p
		}
		if !more {
			return c
		}
	}
}

// The classes are told by names of functions; those of this test are known.
func TestClassOf(t *testing.T) {
	if c := classOf(stackHere()); c != classBench {
		t.Errorf("this test's own stack is of class %d", c)
	}
	if c := classOf(nil); c != classOther {
		t.Errorf("an empty stack is of class %d", c)
	}
}

func stackHere() []uintptr {
	pcs := make([]uintptr, 16)
	return pcs[:runtime.Callers(1, pcs)]
}
