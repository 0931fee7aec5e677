package retain_test

import (
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"treecast/node/retain"
	"treecast/wire"
)

// TestProgress: each feed's state, in the order of owners, and a call for each change.
func TestProgress(t *testing.T) {
	log, err := retain.NewLog(plane, retain.RingConfig{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	stop := log.Watch(func() { calls++ })
	log.Settle(bob, 5, 8, 0)
	log.Settle(alice, 1, 1, 0)
	log.Settle(bob, 8, 9, 0)
	log.Settle(bob, 6, 9, 2)
	stop()
	log.Settle(alice, 1, 2, 0)
	want := []retain.Progress{{Owner: alice, Begin: 1, Next: 2, Firm: 2}, {Owner: bob, Begin: 5, Next: 9, Firm: 9, Late: 2}}
	if got := log.Progress(nil); !slices.Equal(got, want) || calls != 4 {
		t.Errorf("%+v after %d calls, want %+v", got, calls, want)
	}
}

// TestFirst: the lowest index kept, in memory alone and with a store.
func TestFirst(t *testing.T) {
	for name, store := range map[string]*retain.Store{"memory": nil, "store": openStore(t, retain.StoreConfig{FS: vfs.NewMem()})} {
		log := newLog(t, store)
		if _, ok, err := log.First(wire.Owner{9}); ok || err != nil {
			t.Errorf("%s: of nothing: %v, %v", name, ok, err)
		}
		for _, i := range []uint64{7, 4, 9} {
			add(log, alice, i)
		}
		if store != nil {
			flush(t, store)
		}
		if first, ok, err := log.First(alice); first != 4 || !ok || err != nil {
			t.Errorf("%s: first %d, %v, %v", name, first, ok, err)
		}
	}
}

// TestPassed: a reader that waits goes no further than what is being recovered.
func TestPassed(t *testing.T) {
	l, err := retain.NewLog(plane, retain.RingConfig{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	firm := func(want uint64) {
		t.Helper()
		if p := l.Progress(nil); len(p) != 1 || p[0].Next != 9 || p[0].Firm != want {
			t.Errorf("%+v, want firm up to %d", p, want)
		}
	}
	l.Passed(alice, 4, false)
	l.Settle(alice, 4, 9, 0)
	firm(4)
	l.Passed(alice, 6, false)
	firm(6)
	l.Passed(alice, 0, true)
	firm(9)
}
