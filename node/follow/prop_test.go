package follow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"treecast/node/follow"
	"treecast/node/retain"
	"treecast/wire"
)

// sent is an object of the model, by its ContentID.
type sent struct {
	*object
	owners  []wire.Owner
	lost    map[wire.Owner][]uint64 // indices of its chunks that did not come
	chunks  map[uint64][]byte       // of those, for each owner the same ones
	out     int                     // how often it was given out
	acked   bool
	settled bool // it was whole when it was published
}

// world is a model of one name.
type world struct {
	t       *rapid.T
	m       *machine
	f       *follow.Follower // nil: the name is away
	all     map[[32]byte]*sent
	order   [][32]byte
	given   []*follow.Object // not acknowledged, in this session
	highest map[wire.Owner]uint64
}

// TestRandomSessions publishes objects of all sizes, of which chunks are missing or
// come late, from two owners; and takes and acknowledges them, in any order, in
// sessions that are cut, over restarts, power cuts, and times when the name is away or
// the node out of the cohort. Each whole object comes; again only if it was not
// acknowledged; and those that were in order come in order.
func TestRandomSessions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{t: t, all: make(map[[32]byte]*sent), highest: make(map[wire.Owner]uint64)}
		w.m = newMachine(t, machine{fs: vfs.NewCrashableMem(), ring: retain.RingConfig{Min: 1 << 16, Max: 1 << 20}})
		w.open()
		t.Repeat(map[string]func(*rapid.T){
			"publish": w.publish,
			"again":   w.publishAgain,
			"late":    w.late,
			"take":    w.take,
			"ack":     w.ack,
			"cut":     func(*rapid.T) { w.cut() },
			"away":    func(*rapid.T) { w.away() },
			"rejoin":  func(*rapid.T) { w.rejoin() },
			"restart": w.restart,
		})
		w.finish()
	})
}

func (w *world) publish(t *rapid.T) {
	size := rapid.SampledFrom([]int{10, 300, 5000, 13000, 40000}).Draw(t, "size")
	o := newObject(t, fmt.Sprint("object ", len(w.order)), size, "a")
	s := &sent{object: o, lost: make(map[wire.Owner][]uint64), chunks: make(map[uint64][]byte)}
	w.all[o.frame.ContentID] = s
	w.order = append(w.order, o.frame.ContentID)
	owner := rapid.SampledFrom([]wire.Owner{alice, bob}).Draw(t, "owner")
	var lost []int
	if rapid.IntRange(0, 3).Draw(t, "loses") == 0 {
		lost = append(lost, rapid.IntRange(0, len(o.chunks)-1).Draw(t, "lost"))
	}
	s.settled = len(lost) == 0
	w.send(s, owner, lost)
}

// publishAgain publishes an object a second time, through the other ingress.
func (w *world) publishAgain(t *rapid.T) {
	if len(w.order) == 0 {
		return
	}
	s := w.all[rapid.SampledFrom(w.order).Draw(t, "again")]
	if len(s.owners) > 1 {
		return
	}
	owner := alice
	if s.owners[0] == alice {
		owner = bob
	}
	w.send(s, owner, nil)
	s.settled = true
}

func (w *world) send(s *sent, owner wire.Owner, lost []int) {
	first := w.m.cohort.next[owner]
	s.lost[owner] = w.m.cohort.publish(owner, s.object, lost...)
	s.owners = append(s.owners, owner)
	for _, i := range s.lost[owner] {
		s.chunks[i] = s.object.chunks[i-first]
	}
}

// late brings a chunk that was a gap.
func (w *world) late(t *rapid.T) {
	for _, id := range w.order {
		s := w.all[id]
		for _, owner := range s.owners { // not the map's order, which rapid cannot repeat
			list := s.lost[owner]
			if len(list) == 0 || rapid.Bool().Draw(t, "not this one") {
				continue
			}
			w.m.cohort.keep(owner, list[0], s.chunks[list[0]])
			w.m.cohort.Settle(owner, list[0], list[0]+1, 1)
			s.lost[owner] = list[1:]
			return
		}
	}
}

// whole says whether all chunks of an object are there, from one owner or another.
func (s *sent) whole() bool {
	return slices.ContainsFunc(s.owners, func(o wire.Owner) bool { return len(s.lost[o]) == 0 })
}

// take gives out what is at hand, some of it.
func (w *world) take(t *rapid.T) {
	if w.f == nil {
		return
	}
	for range rapid.IntRange(1, 6).Draw(t, "objects") {
		if !w.one(20 * time.Millisecond) {
			return
		}
	}
}

// one takes one object; false if none came.
func (w *world) one(wait time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	o, err := w.f.Next(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if err != nil {
		w.t.Fatal(err)
	}
	s := w.all[o.Frame.ContentID]
	switch {
	case s == nil:
		w.t.Fatalf("an object that was never published")
	case string(o.Frame.Payload) != string(s.frame.Payload):
		w.t.Fatalf("%s: another payload", s.name)
	case s.acked:
		w.t.Fatalf("%s: again, although it was acknowledged", s.name)
	case slices.ContainsFunc(w.given, func(g *follow.Object) bool { return g.Frame.ContentID == o.Frame.ContentID }):
		w.t.Fatalf("%s: twice in one session", s.name)
	case !s.whole():
		w.t.Fatalf("%s: not whole", s.name)
	}
	if s.out == 0 && s.settled && len(s.owners) == 1 {
		if o.Index < w.highest[o.Owner] {
			w.t.Fatalf("%s: index %d after %d", s.name, o.Index, w.highest[o.Owner])
		}
		w.highest[o.Owner] = o.Index
	}
	s.out++
	w.given = append(w.given, o)
	return true
}

func (w *world) ack(t *rapid.T) {
	if len(w.given) == 0 {
		return
	}
	i := rapid.IntRange(0, len(w.given)-1).Draw(t, "ack")
	w.acknowledge(i)
}

func (w *world) acknowledge(i int) {
	o := w.given[i]
	w.given = slices.Delete(w.given, i, i+1)
	w.f.Ack(o)
	w.all[o.Frame.ContentID].acked = true
}

// open begins a session.
func (w *world) open() { w.f = w.m.opened("shop", follow.Options{Window: 8}) }

// away ends the session, if there is one.
func (w *world) away() {
	if w.f != nil {
		closed(w.t, w.f)
	}
	w.f, w.given = nil, nil
}

// cut ends the session and begins another one.
func (w *world) cut() {
	w.away()
	w.open()
}

// rejoin has the node leave the cohort and join it again, the session going on.
func (w *world) rejoin() {
	w.m.hub.Remove(w.m.cohort)
	w.m.flush() // what a node left is on its disk before it joins again
	w.m.cohort = w.m.join(plane)
}

// restart ends everything and starts it again; or the power goes after what was
// kept and acknowledged was synced, as happens within a second. A name that was away
// stays away.
func (w *world) restart(t *rapid.T) {
	there := w.f != nil
	fs := w.m.fs
	if rapid.Bool().Draw(t, "power cut") {
		w.m.flush()
		if err := w.m.positions.Sync(); err != nil {
			w.t.Fatal(err)
		}
		fs = w.m.fs.(*vfs.MemFS).CrashClone(vfs.CrashCloneCfg{})
	}
	w.away()
	w.m.stop()
	w.m.fs = fs
	w.m.start()
	if there {
		w.open()
	}
}

// finish takes all that is to come.
func (w *world) finish() {
	if w.f == nil {
		w.open()
	}
	for missing := true; missing; {
		for len(w.given) > 0 {
			w.acknowledge(0)
		}
		missing = false
		for _, id := range w.order {
			s := w.all[id]
			missing = missing || s.whole() && !s.acked
		}
		if missing && !w.one(patience) {
			for _, id := range w.order {
				if s := w.all[id]; s.whole() && !s.acked {
					w.t.Fatalf("%s: %d chunks, did not come; next %v\n%s", s.name, len(s.object.chunks), w.m.cohort.next, w.f.Dump())
				}
			}
		}
	}
	if w.one(10 * time.Millisecond) {
		w.t.Fatal("one object too many")
	}
	closed(w.t, w.f)
	w.m.stop()
}
