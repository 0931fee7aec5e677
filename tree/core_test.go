package tree_test

import (
	"fmt"
	"strings"
	"testing"

	"treecast/tree"
)

// Many chunks may be with the verifier; the verdicts come in the order of the
// questions, and a copy of any of them is known meanwhile.
func TestManyChecks(t *testing.T) {
	r, err := newScript(&strings.Builder{}, strings.Fields("broker capacity=4"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(format string, args ...any) {
		t.Helper()
		if err := r.run(strings.Fields(fmt.Sprintf(format, args...))); err != nil {
			t.Fatal(err)
		}
	}
	run("subscribe s1 peer=A band=0 childless")
	asked := 0
	for round := range 4 {
		for range 150 {
			run("frame s1 soc c%d o1/%d", 2*asked, asked)
			run("frame s1 soc c%d o1/%d", 2*asked+1, max(0, asked-round))
			asked++
		}
		for range 100 {
			run("verified c%d valid", r.checks[0])
		}
	}
	for len(r.checks) > 0 {
		run("verified c%d valid", r.checks[0])
	}
	c := r.core.Counters()
	if c[tree.CountDelivered] != 600 || c[tree.CountDuplicate] != 600 || len(r.open) > 0 {
		t.Errorf("delivered %d, duplicates %d, %d chunks not released", c[tree.CountDelivered], c[tree.CountDuplicate], len(r.open))
	}
}

// What a driver must not do panics; nothing that a peer sends is of that kind.
func TestImpossibleEvents(t *testing.T) {
	for what, ev := range map[string]tree.Event{
		"an event of no known type":         nil,
		"a verdict on a chunk not asked of": &tree.Verified{Chunk: 7},
	} {
		core, err := tree.New(brokerConfig())
		if err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			core.Step(scriptStart, ev, nil)
		}()
	}
}

// Answers to what is gone, and events about streams that never were, do nothing.
func TestLateEvents(t *testing.T) {
	core, err := tree.New(brokerConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range []tree.Event{
		tree.StreamEnded{Stream: 5}, tree.RTT{Stream: 5, RTT: 1}, tree.Queue{Stream: 5, Level: tree.QueueOverflow},
		&tree.Dialled{Dial: 5, Outcome: tree.DialSilent}, tree.Join{Entries: nil}, tree.Tick{},
	} {
		if out := core.Step(scriptStart, ev, nil); len(out) > 0 {
			t.Errorf("%T: %s", ev, printAction(&out[0]))
		}
	}
	if c := core.Counters(); c != (tree.Counters{}) {
		t.Errorf("counted %s", printCounters(c))
	}
}

// A view is a copy: what is done to it does nothing to the core.
func TestViewIsACopy(t *testing.T) {
	p := newPath(t)
	p.chunk(t)
	v := p.core.View()
	want := printView(v)
	clear(v.Parents)
	clear(v.Children)
	clear(v.Entries)
	clear(v.Heads)
	if got := printView(p.core.View()); got != want {
		t.Errorf("view %s, want %s", got, want)
	}
}
