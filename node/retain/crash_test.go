package retain_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"treecast/node/retain"
	"treecast/wire"
)

var (
	crashSeeds = flag.Int("crash-seeds", 200, "seeds of TestPowerCut")
	crashSeed  = flag.Uint64("crash-seed", 0, "first seed of TestPowerCut")
)

// TestPowerCut cuts the power at a random moment while a store is written to, on
// a file system that loses a random part of what was not synced. The store opens
// again, has every message that was confirmed, none that is damaged, and counts
// what it holds.
func TestPowerCut(t *testing.T) {
	seeds, workers := make(chan uint64), 4
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for seed := range seeds {
				if err := powerCut(t, seed); err != nil {
					t.Errorf("-run TestPowerCut -crash-seed %d -crash-seeds 1: %v", seed, err)
				}
			}
		})
	}
	n := *crashSeeds
	if raceEnabled {
		n = min(n, 20) // the seeds are for the disk, not for the scheduler
	}
	for i := range n {
		seeds <- *crashSeed + uint64(i)
	}
	close(seeds)
	wg.Wait()
}

// TestConfirmedAlone: what was written without a sync before somebody asks for one is
// synced as well, although nothing is left to be written with the question.
func TestConfirmedAlone(t *testing.T) {
	fs := vfs.NewCrashableMem()
	cfg := retain.StoreConfig{FS: fs, Dir: "store", Size: 1 << 30}
	s, err := retain.OpenStore(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range uint64(20) {
		put(s, alice, i)
		for _, sync := range []bool{false, true} {
			done := make(chan error, 1)
			s.After(sync, func(err error) { done <- err })
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		cfg.FS = fs.CrashClone(vfs.CrashCloneCfg{})
		again, err := retain.OpenStore(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := kept(t, storeReader(again, plane), alice, 0, 100); len(got) != int(i)+1 {
			t.Fatalf("kept %v, confirmed up to %d", got, i)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMarkBehindMessages: what waits to be written is more than one write takes, and
// whenever the process ends, no mark tells of a message that was not written.
func TestMarkBehindMessages(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s, err := retain.OpenStore(retain.StoreConfig{FS: fs, Dir: "store", Size: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const burst = 5000 // several writes
	gate := make(chan struct{})
	s.After(false, func(error) { <-gate }) // until all of it waits
	var cuts []*vfs.MemFS
	for i := range uint64(burst) {
		s.Put(plane, alice, i, frames.Frame(message(i)), true)
		s.Mark(plane, alice, i+1, nil)
		if i%500 == 499 {
			s.After(true, func(error) { cuts = append(cuts, fs.CrashClone(vfs.CrashCloneCfg{})) })
		}
	}
	close(gate)
	flush(t, s)
	var last retain.Feed
	for _, cut := range cuts {
		again, err := retain.OpenStore(retain.StoreConfig{FS: cut, Dir: "store", Size: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		feeds, err := again.Feeds(plane)
		if err != nil || len(feeds) != 1 {
			t.Fatalf("feeds %+v, %v", feeds, err)
		}
		if last = feeds[0]; last.Next > last.Last+1 {
			t.Errorf("mark %d, last message %d", last.Next, last.Last)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(cuts) != burst/500 || last.Next != burst {
		t.Errorf("%d cuts, the last with mark %d", len(cuts), last.Next)
	}
}

func powerCut(t *testing.T, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 1))
	fs := vfs.NewCrashableMem()
	next := make(map[wire.Owner]uint64)
	for life := range 3 {
		cfg := retain.StoreConfig{FS: fs, Dir: "store", Size: 1 << 30}
		if seed%3 == 0 {
			cfg.Size = 40 << 10 // then old ones go meanwhile
		}
		s, err := retain.OpenStore(cfg)
		if err != nil {
			return fmt.Errorf("life %d: %w", life, err)
		}
		var mu sync.Mutex
		confirmed := make(map[wire.Owner]uint64) // exclusive
		for i := range 20 + rng.IntN(300) {
			owner := []wire.Owner{alice, bob}[rng.IntN(2)]
			index := next[owner]
			next[owner]++
			s.Put(plane, owner, index, frames.Frame(message(index)), true)
			if rng.IntN(3) == 0 {
				s.Mark(plane, owner, index+1, nil)
			}
			if rng.IntN(8) == 0 {
				s.After(rng.IntN(2) == 0, func(error) {})
			}
			if rng.IntN(16) == 0 {
				s.After(true, func(err error) {
					if err == nil {
						mu.Lock()
						defer mu.Unlock()
						confirmed[owner] = max(confirmed[owner], index+1)
					}
				})
			}
			if i%50 == 49 {
				flush(t, s)
			}
		}
		mu.Lock()
		want := make(map[wire.Owner]uint64)
		for o, n := range confirmed {
			want[o] = n
		}
		mu.Unlock()
		cut := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
		if err := s.Close(); err != nil {
			return err
		}
		fs = cut
		cfg.FS = fs
		again, err := retain.OpenStore(cfg)
		if err != nil {
			return fmt.Errorf("life %d: after the cut: %w", life, err)
		}
		err = afterCut(t, again, cfg.Size, next, want)
		if cerr := again.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return fmt.Errorf("life %d: %w", life, err)
		}
	}
	return nil
}

// afterCut checks what a store holds, and sets next behind it.
func afterCut(t *testing.T, s *retain.Store, size int64, next, want map[wire.Owner]uint64) error {
	var bytes int64
	for _, owner := range []wire.Owner{alice, bob} {
		got := kept(t, storeReader(s, plane), owner, 0, next[owner]+10)
		top := uint64(0)
		for i, index := range got {
			bytes += int64(len(message(index))) + 128
			if i > 0 && index != top { // they were written in order
				return fmt.Errorf("%d follows %d", index, top-1)
			}
			top = index + 1
		}
		switch {
		case top < want[owner]:
			return fmt.Errorf("kept up to %d, and %d was confirmed", top, want[owner])
		case size == 1<<30 && len(got) > 0 && got[0] != 0:
			return fmt.Errorf("kept from %d on", got[0])
		}
		next[owner] = top
	}
	if n := s.Stats().Bytes; n != bytes || n > size {
		return fmt.Errorf("%d bytes counted, %d kept, at most %d", n, bytes, size)
	}
	feeds, err := s.Feeds(plane)
	for _, f := range feeds {
		if f.Marked && f.Next > f.Last+1 {
			return fmt.Errorf("mark %d above the last index %d", f.Next, f.Last)
		}
	}
	return err
}
