package retain

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"treecast/wire"
)

const (
	// DefaultNames bounds the names that positions are kept for.
	DefaultNames = 1024
	// DefaultUnused is how long a name that nobody uses is kept.
	DefaultUnused = 30 * 24 * time.Hour
	// MaxName is the longest name in bytes.
	MaxName = 128
	// syncEvery is how long a position may wait until it would survive the end of
	// the machine; the end of the process it survives at once.
	syncEvery = time.Second
	// usedEvery is how exactly it is known when a name was used last.
	usedEvery = time.Hour
)

// ErrNames says that no further name is taken: as many are in use as there may be.
var ErrNames = errors.New("retain: too many names with a stored position")

// PositionsConfig is where positions are kept and how many.
type PositionsConfig struct {
	// Dir is where the file is; made if missing. It may be that of a Store.
	Dir string
	// FS is where Dir is; nil = the operating system's.
	FS vfs.FS
	// Names bounds the names [1024]: a new one beyond it is refused. One that was not
	// used for Unused [30 days] is forgotten, at the next start or to make room. Zero
	// is the default.
	Names  int
	Unused time.Duration
	// Log takes what goes wrong in the background; nil discards it.
	Log *slog.Logger
}

// Positions are the places that named readers have come to, a Cursor for each feed
// of the cohorts that they follow (PROTOCOL §7 Egress lanes, resume). What Put was
// given survives the end of the process as soon as it returns, and that of the
// machine after Sync or a second. The methods may be called by several goroutines.
//
// The file is a journal of changes: one write a change, and rewritten whole when
// most of it is outdated. A torn end is cut off at the next start.
type Positions struct {
	cfg PositionsConfig

	mu      sync.Mutex
	names   map[string]*position
	file    vfs.File // nil: the next change rewrites the journal
	size    int64    // of file
	compact int64    // size above which it is rewritten
	dirty   bool     // file has what is not synced
	failed  bool     // the last write did; told once
	closed  bool
	buf     []byte

	stop chan struct{}
	wg   sync.WaitGroup
}

// position is one name's.
type position struct {
	used   time.Time
	topics map[wire.Topic]map[wire.Owner]Cursor
}

// OpenPositions reads the positions in cfg.Dir. An error leaves nothing open.
func OpenPositions(cfg PositionsConfig) (*Positions, error) {
	if cfg.Names < 0 || cfg.Unused < 0 {
		return nil, fmt.Errorf("retain: config positions: %d names, %v: negative", cfg.Names, cfg.Unused)
	}
	if cfg.Names == 0 {
		cfg.Names = DefaultNames
	}
	if cfg.Unused == 0 {
		cfg.Unused = DefaultUnused
	}
	if cfg.FS == nil {
		cfg.FS = vfs.Default
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	p := &Positions{cfg: cfg, names: make(map[string]*position), stop: make(chan struct{})}
	err := cfg.FS.MkdirAll(cfg.Dir, 0o700)
	if err == nil {
		err = p.syncDir(cfg.FS.PathDir(cfg.Dir))
	}
	if err != nil {
		return nil, fmt.Errorf("retain: positions: %w", err)
	}
	if err := p.load(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for now := time.Now(); p.forgetUnused(now); { // one name a call, until none is left
	}
	if err := p.rewrite(); err != nil {
		return nil, err
	}
	p.wg.Go(p.run) // ends after Close
	return p, nil
}

// path is the journal's.
func (p *Positions) path() string { return filepath.Join(p.cfg.Dir, "positions") }

// run syncs what was written.
func (p *Positions) run() {
	t := time.NewTicker(syncEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			p.Sync() // a failure is logged
		case <-p.stop:
			return
		}
	}
}

// Use notes that a name is in use. New says that it was not known; the error is
// ErrNames, or about the name.
func (p *Positions) Use(now time.Time, name string) (isNew bool, err error) {
	if name == "" || len(name) > MaxName {
		return false, fmt.Errorf("retain: position name of %d bytes, want 1..%d", len(name), MaxName)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.names[name]
	if x == nil {
		if len(p.names) >= p.cfg.Names && !p.forgetUnused(now) {
			return false, fmt.Errorf("%w: %d", ErrNames, len(p.names))
		}
		x = &position{topics: make(map[wire.Topic]map[wire.Owner]Cursor)}
		p.names[name] = x
		isNew = true
	}
	x.used = now
	p.write(change{kind: changeName, name: name, used: now})
	return isNew, nil
}

// forgetUnused drops the name that was not used for longest, if that is long
// enough; called under mu.
func (p *Positions) forgetUnused(now time.Time) bool {
	var oldest string // no name is empty
	for name, x := range p.names {
		if oldest == "" || x.used.Before(p.names[oldest].used) {
			oldest = name
		}
	}
	if oldest == "" || now.Sub(p.names[oldest].used) < p.cfg.Unused {
		return false
	}
	p.cfg.Log.Warn("position forgotten: its name was not used", "name", oldest, "since", p.names[oldest].used)
	delete(p.names, oldest)
	p.write(change{kind: changeForget, name: oldest})
	return true
}

// Follow notes that a known name follows a cohort. New says that it did not.
func (p *Positions) Follow(name string, topic wire.Topic) (isNew bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.names[name]
	if x == nil || x.topics[topic] != nil {
		return false
	}
	x.topics[topic] = make(map[wire.Owner]Cursor)
	p.write(change{kind: changeFollow, name: name, topic: topic})
	return true
}

// Unfollow forgets where a name is in a cohort.
func (p *Positions) Unfollow(name string, topic wire.Topic) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.names[name]; x != nil && x.topics[topic] != nil {
		delete(x.topics, topic)
		p.write(change{kind: changeUnfollow, name: name, topic: topic})
	}
}

// Forget drops a name and all that is known of it.
func (p *Positions) Forget(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.names[name] != nil {
		delete(p.names, name)
		p.write(change{kind: changeForget, name: name})
	}
}

// Put stores where a name is in a feed of a cohort that it follows.
func (p *Positions) Put(name string, topic wire.Topic, owner wire.Owner, c *Cursor) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.names[name]
	if x == nil || x.topics[topic] == nil || p.closed {
		return
	}
	own := c.clone()
	own.Holes = own.Holes[max(0, len(own.Holes)-maxStored):]
	x.topics[topic][owner] = own
	if now := time.Now(); now.Sub(x.used) > usedEvery {
		x.used = now
		p.write(change{kind: changeName, name: name, used: now})
	}
	p.write(change{kind: changeCursor, name: name, topic: topic, owner: owner, cursor: own})
}

// Get returns where a name is in a feed; false if nothing is known.
func (p *Positions) Get(name string, topic wire.Topic, owner wire.Owner) (c Cursor, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.names[name]; x != nil {
		if c, ok = x.topics[topic][owner]; ok {
			return c.clone(), true
		}
	}
	return c, false
}

// Names are the known names, sorted.
func (p *Positions) Names() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.names))
}

// Topics are the cohorts that a name follows, in no order.
func (p *Positions) Topics(name string) []wire.Topic {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.names[name]; x != nil {
		return slices.Collect(maps.Keys(x.topics))
	}
	return nil
}
