package retain_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"treecast/node/retain"
	"treecast/wire"
)

func openPositions(t testing.TB, cfg retain.PositionsConfig) *retain.Positions {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = "positions"
	}
	p, err := retain.OpenPositions(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func use(t testing.TB, p *retain.Positions, name string, now time.Time) (isNew bool) {
	t.Helper()
	isNew, err := p.Use(now, name)
	if err != nil {
		t.Fatal(err)
	}
	return isNew
}

// at checks where a name is.
func at(t testing.TB, p *retain.Positions, name string, want retain.Cursor) {
	t.Helper()
	got, ok := p.Get(name, plane, alice)
	if !ok || got.Next != want.Next || got.From != want.From || !slices.Equal(got.Holes, want.Holes) {
		t.Errorf("%s: at %+v, %v, want %+v", name, got, ok, want)
	}
}

// start is later than any start of a test: what was used then is in use.
var start = time.Now().Add(time.Hour)

func TestPositions(t *testing.T) {
	fs := vfs.NewMem()
	p := openPositions(t, retain.PositionsConfig{FS: fs})
	if !use(t, p, "shop", start) || use(t, p, "shop", start) {
		t.Error("new: wrong twice")
	}
	p.Put("shop", plane, alice, &retain.Cursor{Next: 1}) // it does not follow that cohort
	if _, ok := p.Get("shop", plane, alice); ok {
		t.Error("a position in a cohort that is not followed")
	}
	if !p.Follow("shop", plane) || p.Follow("shop", plane) || p.Follow("nobody", plane) {
		t.Error("follow: wrong")
	}
	cursor := retain.Cursor{From: 2, Next: 90, Holes: []wire.IndexRange{{From: 3, To: 3}, {From: 50, To: 60}}}
	p.Put("shop", plane, alice, &cursor)
	use(t, p, "gone", start)
	p.Forget("gone")
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	p.Put("shop", plane, alice, &retain.Cursor{Next: 91}) // closed
	if err := p.Sync(); err == nil {
		t.Error("sync after close")
	}
	p = openPositions(t, retain.PositionsConfig{FS: fs})
	at(t, p, "shop", cursor)
	if names := p.Names(); !slices.Equal(names, []string{"shop"}) {
		t.Errorf("names %v", names)
	}
	if topics := p.Topics("shop"); !slices.Equal(topics, []wire.Topic{plane}) {
		t.Errorf("topics %v", topics)
	}
	p.Unfollow("shop", plane)
	if _, ok := p.Get("shop", plane, alice); ok || !p.Follow("shop", plane) {
		t.Error("unfollow: still there")
	}
}

// The bound of names: a new one is refused unless one was not used for long.
func TestPositionNames(t *testing.T) {
	fs := vfs.NewMem()
	p := openPositions(t, retain.PositionsConfig{FS: fs, Names: 2, Unused: time.Hour})
	use(t, p, "old", start)
	use(t, p, "new", start.Add(time.Minute))
	if _, err := p.Use(start.Add(time.Hour-1), "third"); !errors.Is(err, retain.ErrNames) {
		t.Fatalf("third name: %v", err)
	}
	if use(t, p, "old", start.Add(time.Hour-1)) {
		t.Error("a known name is new")
	}
	use(t, p, "third", start.Add(time.Hour+time.Minute))
	if names := p.Names(); !slices.Equal(names, []string{"old", "third"}) {
		t.Errorf("names %v", names)
	}
	use(t, p, "old", start.Add(-24*time.Hour))
	p.Close()
	p = openPositions(t, retain.PositionsConfig{FS: fs, Unused: time.Hour})
	if names := p.Names(); !slices.Equal(names, []string{"third"}) {
		t.Errorf("names after a start: %v", names)
	}
	for _, name := range []string{"", string(make([]byte, retain.MaxName+1))} {
		if _, err := p.Use(start, name); err == nil {
			t.Errorf("name of %d bytes taken", len(name))
		}
	}
}

// The journal stays short, and ends in what was put last, although it is never
// closed: as after the end of the process.
func TestPositionsWithoutClose(t *testing.T) {
	dir := t.TempDir()
	p := openPositions(t, retain.PositionsConfig{Dir: dir})
	use(t, p, "shop", start)
	p.Follow("shop", plane)
	for i := range uint64(50_000) {
		p.Put("shop", plane, alice, &retain.Cursor{Next: i})
	}
	info, err := os.Stat(filepath.Join(dir, "positions"))
	if err != nil || info.Size() > 1<<20 {
		t.Fatalf("journal of %v bytes, %v", info, err)
	}
	again := openPositions(t, retain.PositionsConfig{Dir: dir})
	at(t, again, "shop", retain.Cursor{Next: 49_999})
}

// A journal that ends in anything is read up to there.
func TestPositionsTorn(t *testing.T) {
	for cut := 1; cut < 40; cut++ {
		dir := t.TempDir()
		p := openPositions(t, retain.PositionsConfig{Dir: dir})
		use(t, p, "shop", start)
		p.Follow("shop", plane)
		p.Put("shop", plane, alice, &retain.Cursor{Next: 7})
		p.Put("shop", plane, alice, &retain.Cursor{Next: 8})
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "positions")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b = b[:len(b)-cut]
		if cut%2 == 0 {
			b = append(b, byte(cut))
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		at(t, openPositions(t, retain.PositionsConfig{Dir: dir}), "shop", retain.Cursor{Next: 7})
	}
}

// TestPositionsPowerCut loses what was not synced, or some of it: what Sync has
// confirmed is there, and nothing that was never put.
func TestPositionsPowerCut(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 2))
		fs := vfs.NewCrashableMem()
		p := openPositions(t, retain.PositionsConfig{FS: fs})
		use(t, p, "shop", start)
		p.Follow("shop", plane)
		confirmed, last := uint64(0), uint64(0)
		for range 100 + rng.IntN(200) {
			last++
			p.Put("shop", plane, alice, &retain.Cursor{Next: last})
			if rng.IntN(20) == 0 {
				if err := p.Sync(); err != nil {
					t.Fatal(err)
				}
				confirmed = last
			}
		}
		cut := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
		again := openPositions(t, retain.PositionsConfig{FS: cut})
		got, ok := again.Get("shop", plane, alice)
		if confirmed > 0 && (!ok || got.Next < confirmed) || got.Next > last {
			t.Errorf("seed %d: at %d, confirmed %d, put %d", seed, got.Next, confirmed, last)
		}
	}
}

// brokenFS fails every write while it is broken.
type brokenFS struct {
	vfs.FS
	broken bool
}

var errDisk = errors.New("disk full")

func (b *brokenFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if b.broken {
		return nil, errDisk
	}
	f, err := b.FS.Create(name, c)
	return &brokenFile{f, b}, err
}

type brokenFile struct {
	vfs.File
	fs *brokenFS
}

func (f *brokenFile) Write(b []byte) (int, error) {
	if f.fs.broken {
		n, err := f.File.Write(b[:len(b)/2])
		return n, errors.Join(err, errDisk)
	}
	return f.File.Write(b)
}

// A disk that is full and is not any more: positions go on in memory and are stored
// again.
func TestPositionsDiskFull(t *testing.T) {
	fs := &brokenFS{FS: vfs.NewMem()}
	p := openPositions(t, retain.PositionsConfig{FS: fs})
	use(t, p, "shop", start)
	p.Follow("shop", plane)
	p.Put("shop", plane, alice, &retain.Cursor{Next: 1})
	fs.broken = true
	for i := range uint64(5) {
		p.Put("shop", plane, alice, &retain.Cursor{Next: 2 + i})
	}
	if err := p.Sync(); !errors.Is(err, errDisk) {
		t.Errorf("sync on a full disk: %v", err)
	}
	at(t, p, "shop", retain.Cursor{Next: 6})
	fs.broken = false
	p.Put("shop", plane, alice, &retain.Cursor{Next: 9})
	at(t, openPositions(t, retain.PositionsConfig{FS: fs.FS}), "shop", retain.Cursor{Next: 9})
}
