package retain_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"treecast/node/retain"
	"treecast/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var plane = wire.Topic{7}

func openStore(t testing.TB, cfg retain.StoreConfig) *retain.Store {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = "store"
	}
	if cfg.Size == 0 {
		cfg.Size = 1 << 30
	}
	s, err := retain.OpenStore(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func storeReader(s *retain.Store, topic wire.Topic) reader {
	return func(owner wire.Owner, from, to uint64, p *retain.Page) (uint64, error) {
		return s.Read(topic, owner, from, to, p)
	}
}

var frames = wire.NewPool()

func put(s *retain.Store, owner wire.Owner, indices ...uint64) {
	for _, i := range indices {
		s.Put(plane, owner, i, frames.Frame(message(i)), true)
	}
}

// flush waits until all that was given to s is synced.
func flush(t testing.TB, s *retain.Store) {
	t.Helper()
	done := make(chan error, 1)
	s.After(true, func(err error) { done <- err })
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestStore(t *testing.T) {
	cfg := retain.StoreConfig{FS: vfs.NewMem()}
	s := openStore(t, cfg)
	put(s, alice, 1, 2, 3, 7, 5, 3)
	put(s, bob, 0)
	s.Put(wire.Topic{8}, alice, 4, frames.Frame(message(4)), true)
	open := []wire.IndexRange{{From: 0, To: 0}, {From: 2, To: 3}}
	s.Mark(plane, alice, 3, []wire.IndexRange{{From: 1, To: 1}})
	s.Mark(plane, alice, 4, open)
	open[0].To = 9 // the store has its own
	s.AddVoid(plane, alice, wire.IndexRange{From: 8, To: 1023})
	flush(t, s)
	for range 2 {
		if got := fmt.Sprint(kept(t, storeReader(s, plane), alice, 0, 2000)); got != "[1 2 3 5 7]" {
			t.Error(got)
		}
		if got := fmt.Sprint(kept(t, storeReader(s, wire.Topic{8}), alice, 0, 5)); got != "[4]" {
			t.Error(got)
		}
		feeds, err := s.Feeds(plane)
		want := []retain.Feed{{Owner: alice, First: 1, Last: 7, Next: 4, Marked: true, Open: []wire.IndexRange{{}, {From: 2, To: 3}}}, {Owner: bob}}
		if err != nil || fmt.Sprint(feeds) != fmt.Sprint(want) {
			t.Errorf("feeds %v, want %v; %v", feeds, want, err)
		}
		if voids, err := s.Voids(plane, alice); err != nil || len(voids) != 1 || voids[0] != (wire.IndexRange{From: 8, To: 1023}) {
			t.Errorf("voids %v, %v", voids, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openStore(t, cfg)
	}
	if n := frames.InUse(); n != 0 {
		t.Errorf("%d buffers in use", n)
	}
}

// Of two messages under one index the first stays, also over a restart.
func TestFirstStays(t *testing.T) {
	cfg := retain.StoreConfig{FS: vfs.NewMem()}
	s := openStore(t, cfg)
	put(s, alice, 3)
	flush(t, s)
	s.Close()
	s = openStore(t, cfg)
	s.Put(plane, alice, 3, frames.Frame([]byte("other")), true)
	put(s, alice, 4)
	s.Put(plane, alice, 4, frames.Frame([]byte("other")), true)
	flush(t, s)
	if got := fmt.Sprint(kept(t, storeReader(s, plane), alice, 0, 9)); got != "[3 4]" {
		t.Error(got)
	}
}

func TestStoreSize(t *testing.T) {
	cfg := retain.StoreConfig{FS: vfs.NewMem(), Size: 64 << 10}
	s := openStore(t, cfg)
	for i := range uint64(3000) {
		put(s, alice, i)
		if i%16 == 0 {
			flush(t, s)
		}
	}
	flush(t, s)
	got := kept(t, storeReader(s, plane), alice, 0, 3000)
	if n := s.Stats().Bytes; n > 64<<10 || n < 48<<10 {
		t.Errorf("%d bytes kept", n)
	}
	if len(got) < 100 || got[len(got)-1] != 2999 || got[len(got)-1]-got[0] != uint64(len(got)-1) {
		t.Errorf("%d kept, %d to %d", len(got), got[0], got[len(got)-1])
	}
	before := s.Stats()
	s.Close()
	if s = openStore(t, cfg); s.Stats().Bytes != before.Bytes {
		t.Errorf("%d bytes, and %d before it was closed", s.Stats().Bytes, before.Bytes)
	}
}

func TestStoreAge(t *testing.T) {
	s := openStore(t, retain.StoreConfig{FS: vfs.NewMem(), Age: 20 * time.Millisecond})
	put(s, alice, 1, 2)
	flush(t, s)
	for i := uint64(3); ; i++ {
		time.Sleep(5 * time.Millisecond)
		put(s, alice, i)
		flush(t, s)
		if got := kept(t, storeReader(s, plane), alice, 0, i); got[0] > 2 {
			break
		}
	}
}

// stall has s write nothing more until release is called.
func stall(s *retain.Store) (release func()) {
	stalled, free := make(chan struct{}), make(chan struct{})
	s.After(false, func(error) {
		close(stalled)
		<-free
	})
	<-stalled
	return sync.OnceFunc(func() { close(free) })
}

// TestUnwritten: what waits to be written is read as what is written, whatever order
// it came in.
func TestUnwritten(t *testing.T) {
	s := openStore(t, retain.StoreConfig{FS: vfs.NewMem()})
	put(s, alice, 2, 3, 7)
	release := stall(s)
	defer release()
	put(s, alice, 9, 5, 1, 3, 8, 5)
	put(s, bob, 0, 6)
	s.Put(wire.Topic{8}, alice, 4, frames.Frame(message(4)), true)
	for _, when := range []string{"stalled", "written"} {
		if got := fmt.Sprint(kept(t, storeReader(s, plane), alice, 0, 20)); got != "[1 2 3 5 7 8 9]" {
			t.Errorf("%s: %s", when, got)
		}
		if got := fmt.Sprint(kept(t, storeReader(s, plane), alice, 4, 8)); got != "[5 7 8]" {
			t.Errorf("%s: 4 to 8: %s", when, got)
		}
		if first, ok, err := s.First(plane, alice); first != 1 || !ok || err != nil {
			t.Errorf("%s: first %d, %v, %v", when, first, ok, err)
		}
		if first, ok, err := s.First(plane, bob); first != 0 || !ok || err != nil {
			t.Errorf("%s: bob's first %d, %v, %v", when, first, ok, err)
		}
		release()
		flush(t, s)
	}
}

// What waits for the disk is bounded, other than what somebody waits for.
func TestStoreQueue(t *testing.T) {
	s := openStore(t, retain.StoreConfig{FS: vfs.NewMem(), QueueBytes: 1})
	if s.Put(plane, alice, 1, frames.Frame(message(1)), false) {
		t.Error("taken over the bound")
	}
	put(s, alice, 2)
	flush(t, s)
	if got := fmt.Sprint(kept(t, storeReader(s, plane), alice, 0, 9)); got != "[2]" || s.Stats().Dropped != 1 {
		t.Error(got, s.Stats())
	}
}

func TestStoreManyWriters(t *testing.T) {
	s := openStore(t, retain.StoreConfig{Dir: t.TempDir()})
	var wg sync.WaitGroup
	var confirmed atomic.Int64
	for w := range byte(4) {
		wg.Go(func() {
			owner := wire.Owner{w}
			for i := range uint64(200) {
				s.Put(plane, owner, i, frames.Frame(message(i)), true)
				s.Mark(plane, owner, i, nil)
				s.After(i%10 == 0, func(err error) {
					if err == nil {
						confirmed.Add(1)
					}
				})
			}
		})
	}
	wg.Wait()
	flush(t, s)
	if n := confirmed.Load(); n != 800 {
		t.Errorf("%d of 800 confirmed", n)
	}
	for w := range byte(4) {
		if got := kept(t, storeReader(s, plane), wire.Owner{w}, 0, 1000); len(got) != 200 {
			t.Errorf("%d kept", len(got))
		}
	}
}

func TestClosedStore(t *testing.T) {
	s := openStore(t, retain.StoreConfig{FS: vfs.NewMem()})
	confirmed := errors.New("not called")
	put(s, alice, 1)
	s.After(true, func(err error) { confirmed = err })
	if err := s.Close(); err != nil || confirmed != nil {
		t.Error(err, confirmed) // what waited was written
	}
	put(s, alice, 2)
	s.After(true, func(err error) { confirmed = err })
	if confirmed == nil {
		t.Error("a closed store confirms")
	}
	if n := frames.InUse(); n != 0 {
		t.Errorf("%d buffers in use", n)
	}
}

func TestStoreConfig(t *testing.T) {
	for _, cfg := range []retain.StoreConfig{{}, {Size: -1}, {Size: 1, Age: -1}, {Size: 1, QueueBytes: -1}} {
		cfg.FS, cfg.Dir = vfs.NewMem(), "x"
		if _, err := retain.OpenStore(cfg); err == nil {
			t.Errorf("%+v is taken", cfg)
		}
	}
}
