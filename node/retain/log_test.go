package retain_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"treecast/node/retain"
	"treecast/wire"
)

func newLog(t testing.TB, s *retain.Store) *retain.Log {
	t.Helper()
	l, err := retain.NewLog(plane, retain.RingConfig{Min: 100 << 10, Max: 100 << 10}, s)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func add(l *retain.Log, owner wire.Owner, indices ...uint64) {
	for _, i := range indices {
		buf := frames.Frame(message(i))
		addLaid(l, owner, i, buf)
		buf.Release()
	}
}

// addLaid has the log keep a message.
func addLaid(l *retain.Log, owner wire.Owner, index uint64, buf *wire.Buf) {
	p := l.Lay(buf)
	l.Add(epoch, owner, index, buf, p, true)
	p.Release()
}

// What is in memory, on disk, or in both, is read as one.
func TestLogReadsBoth(t *testing.T) {
	s := openStore(t, retain.StoreConfig{FS: vfs.NewMem()})
	put(s, alice, 1, 2, 3, 5, 8) // before a restart, say
	flush(t, s)
	l := newLog(t, s)
	add(l, alice, 4, 5, 6)
	for range 2 {
		if got := fmt.Sprint(kept(t, l.Read, alice, 0, 100)); got != "[1 2 3 4 5 6 8]" {
			t.Error(got)
		}
		if got := fmt.Sprint(kept(t, l.Read, alice, 4, 6)); got != "[4 5 6]" {
			t.Error(got)
		}
		flush(t, s)
	}
	var all []uint64
	for i := range uint64(3000) { // far more than memory keeps
		all = append(all, i+10)
	}
	add(l, alice, all...)
	flush(t, s)
	if got := kept(t, l.Read, alice, 10, 5000); fmt.Sprint(got) != fmt.Sprint(all) {
		t.Errorf("%d kept", len(got))
	}
	if held := l.Trim(epoch, 1<<40); held > 300<<10 {
		t.Errorf("%d bytes in memory", held)
	}
}

// Memory forgets what the disk is too slow to have yet: it can be read all the same.
func TestLogOfSlowStore(t *testing.T) {
	s := openStore(t, retain.StoreConfig{FS: vfs.NewMem()})
	l := newLog(t, s)
	add(l, alice, 9)
	flush(t, s)
	release := stall(s)
	defer release()
	want := []uint64{9}
	for i := range uint64(3000) {
		want = append(want, i+10)
	}
	add(l, alice, want...)
	if got := kept(t, l.Read, alice, 0, 5000); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%d of %d read", len(got), len(want))
	}
	add(l, alice, 4) // late
	for _, when := range []string{"stalled", "written"} {
		if first, ok, err := l.First(alice); first != 4 || !ok || err != nil {
			t.Errorf("%s: first %d, %v, %v", when, first, ok, err)
		}
		release()
		flush(t, s)
	}
}

func TestLogWithoutStore(t *testing.T) {
	l := newLog(t, nil)
	add(l, alice, 1, 3, 2)
	if got := fmt.Sprint(kept(t, l.Read, alice, 0, 100)); got != "[1 2 3]" {
		t.Error(got)
	}
}

func TestVoids(t *testing.T) {
	s := openStore(t, retain.StoreConfig{FS: vfs.NewMem()})
	for name, store := range map[string]*retain.Store{"memory": nil, "store": s} {
		l := newLog(t, store)
		for _, r := range []wire.IndexRange{{From: 10, To: 19}, {From: 30, To: 39}, {From: 20, To: 25}, {From: 12, To: 13}, {From: 5, To: 8}} {
			l.AddVoid(alice, r)
		}
		want := "[{5 8} {10 25} {30 39}]"
		if got := fmt.Sprint(l.Voids(alice)); got != want {
			t.Errorf("%s: %s", name, got)
		}
		if store != nil {
			flush(t, store)
			if got := fmt.Sprint(newLog(t, store).Voids(alice)); got != want {
				t.Errorf("read again: %s", got)
			}
		}
		for i := range uint64(1000) {
			l.AddVoid(alice, wire.IndexRange{From: 100 * i, To: 100 * i})
		}
		if n := len(l.Voids(alice)); n != 256 {
			t.Errorf("%s: %d void ranges", name, n)
		}
	}
}
