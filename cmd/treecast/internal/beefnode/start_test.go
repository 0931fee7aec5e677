package beefnode_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"treecast/cmd/treecast/internal/beefnode"
	"treecast/cmd/treecast/internal/client"
	"treecast/node"
	"treecast/node/lane"
	"treecast/tree"
	"treecast/wire"
	"treecast/wire/beef"
)

const loopback = "/ip4/127.0.0.1/tcp/0"

func broker(dir string) beefnode.Config {
	return beefnode.Config{
		Node:   node.Config{DataDir: dir, Listen: []string{loopback}},
		Broker: true,
		Doors:  []lane.Door{{Addr: "127.0.0.1:0"}, {Addr: "127.0.0.1:0", RecordsOnly: true}},
		API:    "127.0.0.1:0",
	}
}

func start(t *testing.T, cfg beefnode.Config) *beefnode.Running {
	t.Helper()
	r, err := beefnode.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestAnObjectGoesInAtTheBrokerAndOutAtTheEdge(t *testing.T) {
	b := start(t, broker(""))
	edge := start(t, beefnode.Config{
		Node:         node.Config{Listen: []string{loopback}, Capacity: -1},
		Join:         []beefnode.Join{{Topic: beefnode.Topic(), Entries: b.Node().Addrs()}},
		EgressListen: "127.0.0.1:0",
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := edge.Cohort().WaitAttached(ctx, 1); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 8)
	c := &client.Consumer{Handle: func(_ net.Addr, d beef.Delivery) error {
		p, err := beef.ParsePayload(d.Payload)
		got <- string(p.Object)
		return err
	}}
	done := make(chan error, 1)
	go func() { done <- c.Fetch(ctx, edge.Lane().String(), client.Election{Topics: []string{"tm_a"}}) }()
	for len(edge.Egress().Counters().Consumers) == 0 {
		if ctx.Err() != nil {
			t.Fatal("no consumer at the lane")
		}
		time.Sleep(time.Millisecond)
	}
	for i, door := range b.Doors() {
		s, err := client.Dial(ctx, door.String(), 0)
		if err != nil {
			t.Fatal(err)
		}
		object := "\x01\x00\xbe\xefobject " + string(rune('0'+i))
		if err := s.Send(ctx, []string{"tm_a"}, []byte(object), nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Finish(); err != nil {
			t.Fatal(err)
		}
		s.Close()
		if o := <-got; o != object {
			t.Errorf("object %q came as %q", object, o)
		}
	}
	if n := b.Ingress().Counters().Published; n != 2 {
		t.Errorf("%d published", n)
	}
	tree, err := client.Tree(ctx, b.API(), "")
	if err != nil || len(tree.Cohorts) != 1 || !tree.Cohorts[0].Broker || len(tree.Cohorts[0].Children) != 1 {
		t.Errorf("tree %+v, %v", tree, err)
	}
	edge.Close()
	if err := <-done; err != nil {
		t.Errorf("the lane ended with %v", err)
	}
}

// TestLeaveLosesNothing has an edge between the broker and another edge leave: the
// objects that it has already go to its consumer, and the other misses none.
func TestLeaveLosesNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	b, err := beefnode.Start(broker(""))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	join := []beefnode.Join{{Topic: beefnode.Topic(), Entries: b.Node().Addrs()}}
	edge, err := beefnode.Start(beefnode.Config{
		Node: node.Config{Listen: []string{loopback}}, Join: join, EgressListen: "127.0.0.1:0", API: "127.0.0.1:0",
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := edge.Cohort().WaitAttached(ctx, 1); err != nil {
		t.Fatal(err)
	}
	var got atomic.Int64
	c := &client.Consumer{Handle: func(net.Addr, beef.Delivery) error { got.Add(1); return nil }}
	done := make(chan error, 1)
	go func() { done <- c.Fetch(ctx, edge.Lane().String(), client.Election{Topics: []string{"tm_a"}}) }()
	for len(edge.Egress().Counters().Consumers) == 0 {
		if ctx.Err() != nil {
			t.Fatal("no consumer at the lane")
		}
		time.Sleep(time.Millisecond)
	}
	s, err := client.Dial(ctx, b.Doors()[0].String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	const objects = 50
	for i := range objects {
		if err := s.Send(ctx, []string{"tm_a"}, []byte("\x01\x00\xbe\xefobject "+string(rune('0'+i))), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Finish(); err != nil { // when all are broadcast
		t.Fatal(err)
	}
	s.Close()
	for edge.Cohort().Counters()[tree.CountDelivered] < objects {
		if ctx.Err() != nil {
			t.Fatal("the edge has not got all")
		}
		time.Sleep(time.Millisecond)
	}
	for range 2 {
		if err := edge.Leave(ctx); err != nil {
			t.Error(err)
		}
	}
	if err := <-done; err != nil {
		t.Errorf("the lane ended with %v", err)
	}
	if n := got.Load(); n != objects {
		t.Errorf("the consumer has %d of %d objects", n, objects)
	}
	if got := edge.Node().Stats().Counters["left"]; got != 1 {
		t.Errorf("left %d times", got)
	}
}

func TestCloseLeavesNothingRunning(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	r, err := beefnode.Start(broker(""))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAFailedStartLeavesNothingRunningAndNamesTheAddress(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	taken := ln.Addr().String()
	_, port, _ := net.SplitHostPort(taken)
	for name, change := range map[string]func(*beefnode.Config){
		"listen": func(c *beefnode.Config) { c.Node.Listen = append(c.Node.Listen, "/ip4/127.0.0.1/tcp/"+port) },
		"door":   func(c *beefnode.Config) { c.Doors[1].Addr = taken },
		"lane":   func(c *beefnode.Config) { c.EgressListen = taken },
		"api":    func(c *beefnode.Config) { c.API = taken },
	} {
		cfg := broker("")
		change(&cfg)
		if _, err := beefnode.Start(cfg); err == nil || !strings.Contains(err.Error(), port) || !strings.Contains(err.Error(), "in use") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestThePublisherKeyMustBeAdmitted(t *testing.T) {
	dir := t.TempDir()
	cfg := broker(dir)
	cfg.Admin = &wire.Owner{1}
	if _, err := beefnode.Start(cfg); !errors.Is(err, beefnode.ErrPublisher) {
		t.Fatalf("foreign admin: %v", err)
	}
	r := start(t, broker(dir)) // its own key is the admin
	owner, ok := r.Publisher()
	if !ok || r.Cohort().View().Spec.Regime != wire.RegimeExplicitSingle {
		t.Fatalf("publisher %v, spec %+v", owner, r.Cohort().View().Spec)
	}
	r.Close()
	cfg.Publishers = []wire.Owner{owner}
	if _, err := beefnode.Start(cfg); !errors.Is(err, node.ErrServed) {
		t.Errorf("the stored cohort has another spec: %v", err)
	}
	cfg.Node.DataDir = t.TempDir()
	cfg.Publishers = nil
	cfg.Doors = nil // the admin publishes from elsewhere
	r = start(t, cfg)
	if _, ok := r.Publisher(); ok || r.Cohort() == nil {
		t.Error("a broker without a door publishes, or serves nothing")
	}
}
