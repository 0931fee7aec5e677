package cluster_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"treecast/e2e/cluster"
)

// fault is what is done to a relay.
type fault string

const (
	kill  fault = "kill"  // SIGKILL, then started again with its key
	stop  fault = "stop"  // SIGSTOP for stopFor, then SIGCONT
	leave fault = "leave" // SIGTERM: it leaves gracefully, and stays away
)

const (
	stopFor    = 4 * time.Second
	objectRate = 100 // objects a second
	objectSize = 1024
	// lateLimit is how late the load generator may be. A gap at a consumer of a
	// later one would say nothing about the tree.
	lateLimit = 200 * time.Millisecond
)

// gapLimit is the longest gap at a node that nothing was done to, by the fault
// that came before it.
var gapLimit = map[fault]time.Duration{
	"": 500 * time.Millisecond, kill: 500 * time.Millisecond, leave: 500 * time.Millisecond, stop: 3 * time.Second,
}

// fleetNode is a node of a fleet: a process with a tap behind its egress lane.
type fleetNode struct {
	*runningNode
	args      []string
	tap       *cluster.Tap
	disturbed bool // something was done to it
	gone      bool
}

// fleet is a broker with an ingress and nodes that relay and deliver.
type fleet struct {
	broker  *runningNode
	nodes   []*fleetNode
	objects cluster.Objects
	faults  []inflicted
}

// inflicted is a fault that happened.
type inflicted struct {
	fault
	at time.Time
}

// startFleet starts total processes of the capacity and waits until all have the
// parents they want.
func startFleet(t *testing.T, total, capacity int, objects cluster.Objects) *fleet {
	f := &fleet{objects: objects}
	slots := []string{"--capacity", fmt.Sprint(capacity), "--log-level", "warn"}
	f.broker = startNode(t, "broker", append(slots, "--broker", "--ingress-tcp", "127.0.0.1:0")...)
	for i := 1; i < total; i++ {
		tap := cluster.NewTap(t, objects)
		n := &fleetNode{tap: tap}
		name := fmt.Sprintf("n%02d", i)
		n.args = append(slices.Clone(slots), "--join", "beef@"+f.broker.Addrs[0],
			"--egress-dial", name+"@"+tap.Addr()+"=*", "--data-dir", filepath.Join(t.TempDir(), name))
		n.runningNode = startNode(t, name, n.args...)
		f.nodes = append(f.nodes, n)
	}
	for _, n := range f.nodes {
		n.AwaitReady(t)
	}
	return f
}

// victim is a relay that has children, chosen at random, and those children.
func (f *fleet) victim(t *testing.T, rng *rand.Rand) (*fleetNode, []string) {
	children := make([][]string, len(f.nodes))
	var relays []int
	for i, n := range f.nodes {
		if n.gone {
			continue
		}
		for _, c := range n.View(t).Cohorts[0].Children {
			children[i] = append(children[i], c.Overlay)
		}
		if len(children[i]) > 0 {
			relays = append(relays, i)
		}
	}
	if len(relays) == 0 {
		t.Fatal("no relay has children")
	}
	i := relays[rng.IntN(len(relays))]
	return f.nodes[i], children[i]
}

// inflict does the fault to a relay, and is back when it is over.
func (f *fleet) inflict(t *testing.T, kind fault, rng *rand.Rand) {
	n, children := f.victim(t, rng)
	t.Logf("%s %s, which has %d children", kind, n.Name, len(children))
	f.faults = append(f.faults, inflicted{kind, time.Now()})
	n.disturbed = true
	switch kind {
	case kill:
		n.Kill()
		n.runningNode = startNode(t, n.Name, n.args...)
	case stop:
		n.Signal(syscall.SIGSTOP)
		time.Sleep(stopFor)
		n.Signal(syscall.SIGCONT)
	case leave:
		n.gone = true
		since := time.Now()
		if code := n.Stop(t); code != 0 {
			t.Errorf("%s: exit %d: %s", n.Name, code, n.Stderr())
		}
		if time.Since(since) < leaveLimit { // or it waited for its children in vain: the machine is too busy
			f.hasParents(t, children)
		}
	}
}

// hasParents checks that each of the nodes with these overlays has two parents,
// or the broker, right now.
func (f *fleet) hasParents(t *testing.T, overlays []string) {
	t.Helper()
	for _, n := range f.nodes {
		if n.gone || !slices.Contains(overlays, n.Overlay) {
			continue
		}
		c := n.View(t).Cohorts[0]
		fed := len(c.Parents) >= 2
		for _, p := range c.Parents {
			fed = fed || p.Broker
		}
		if !fed {
			t.Errorf("%s has the parents %+v after its relay has left", n.Name, c.Parents)
		}
	}
}

// run inflicts the faults, one every so often, while the load goes through. A
// non-empty void says why the run proves nothing.
func (f *fleet) run(t *testing.T, faults []fault, every time.Duration, rng *rand.Rand) (void string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	type sent struct {
		cluster.Load
		err error
	}
	done := make(chan sent, 1)
	start := time.Now()
	go func() { // ends with ctx
		load, err := cluster.Submit(ctx, f.broker.Ingress[0], "tm_e2e", f.objects, objectRate)
		done <- sent{load, err}
	}()
	for i, kind := range faults {
		time.Sleep(time.Until(start.Add(time.Duration(i+1) * every)))
		f.inflict(t, kind, rng)
	}
	load := <-done
	if load.err != nil {
		t.Fatal(load.err)
	}
	for _, n := range f.nodes {
		if !n.disturbed {
			f.awaitAll(n)
		}
	}
	t.Logf("%d objects in %v, the generator at most %v late", load.Sent, time.Since(start).Round(time.Millisecond), load.Late)
	if load.Late > lateLimit {
		return fmt.Sprintf("the load generator was %v late", load.Late)
	}
	return ""
}

// awaitAll gives a node the time to get what is still under way.
func (f *fleet) awaitAll(n *fleetNode) {
	for deadline := time.Now().Add(10 * time.Second); n.tap.Count() < len(f.objects) && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
}

// before is the last fault that began before then.
func (f *fleet) before(then time.Time) (kind fault) {
	for _, x := range f.faults {
		if x.at.Before(then) {
			kind = x.fault
		}
	}
	return kind
}

// judge checks every node that nothing was done to.
func (f *fleet) judge(t *testing.T) {
	t.Helper()
	longest := make(map[fault]time.Duration)
	judged, lost := 0, 0
	for _, n := range f.nodes {
		if n.disturbed {
			continue
		}
		judged++
		missing, twice, corrupted := n.tap.Faults()
		lost += len(missing)
		if len(missing)+len(twice)+corrupted > 0 {
			t.Errorf("%s: missing %v, twice %v, %d corrupted", n.Name, missing, twice, corrupted)
		}
		for _, g := range n.tap.Gaps(0) {
			kind := f.before(g.To)
			longest[kind] = max(longest[kind], g.Length())
			if g.Length() > gapLimit[kind] {
				t.Errorf("%s: a gap of %v after %q", n.Name, g.Length(), kind)
			}
		}
	}
	if judged == 0 {
		t.Error("something was done to every node")
	}
	t.Logf("%d nodes judged, %d missing; longest gap: none %v, kill %v, stop %v, leave %v",
		judged, lost, longest[""], longest[kill], longest[stop], longest[leave])
}

// close ends all processes.
func (f *fleet) close() {
	for _, n := range f.nodes {
		n.Kill()
	}
	f.broker.Kill()
}

// withFaults runs a fleet, once more if the first run was void.
func withFaults(t *testing.T, total, capacity int, faults []fault, every time.Duration) {
	rng := rand.New(rand.NewPCG(seed(t), 1))
	rng.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
	objects := cluster.MakeObjects(rng.Uint64(), int(every.Seconds()*float64((len(faults)+1)*objectRate)), objectSize)
	for range 2 {
		f := startFleet(t, total, capacity, objects)
		void := f.run(t, faults, every, rng)
		if void == "" {
			f.judge(t)
			return
		}
		f.close()
		t.Logf("void: %s", void)
	}
	t.Error("void twice: this machine is too busy to measure gaps")
}

// TestProcessesKilledAndStopped has a fleet of 24 lose a relay every 5 s while
// 100 objects a second go through, for a minute, or for 15 s with -short: a
// single failure, healed before the next, costs nobody else an object.
func TestProcessesKilledAndStopped(t *testing.T) {
	faults := []fault{kill, stop, kill, stop, kill, stop, kill, stop, kill, stop, kill}
	if testing.Short() {
		faults = faults[:2]
	}
	withFaults(t, 24, 4, faults, 5*time.Second)
}

// TestProcessesLeave has relays of a fleet leave at SIGTERM: their children have
// two parents all the time, and nobody lacks an object.
func TestProcessesLeave(t *testing.T) {
	faults := []fault{leave, leave}
	if testing.Short() {
		faults = faults[:1]
	}
	withFaults(t, 12, 4, faults, 4*time.Second)
}
