package follow_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"treecast/node/follow"
	"treecast/node/retain"
	"treecast/wire"
	"treecast/wire/beef"
)

// A new name starts with what comes from now on, and goes on where it was: in the
// same process, and after a restart.
func TestResume(t *testing.T) {
	m := newMachine(t, machine{})
	m.cohort.publish(alice, newObject(t, "before", 100, "a"))
	f := m.opened("shop", follow.Options{})
	list := objects(t, "o", 10, 200)
	for _, o := range list {
		m.cohort.publish(alice, o)
	}
	expect(t, f, list[:3]...)
	same(t, next(t, f), list[3]) // never acknowledged
	closed(t, f)
	f = m.opened("shop", follow.Options{})
	expect(t, f, list[3:6]...)
	closed(t, f)
	m.stop()
	m.start()
	f = m.opened("shop", follow.Options{})
	expect(t, f, list[6:]...)
	nothing(t, m, f)
	closed(t, f)
	m.stop()
}

// Acks in any order: only what was not acknowledged comes again.
func TestAckOrder(t *testing.T) {
	m := newMachine(t, machine{})
	f := m.opened("shop", follow.Options{})
	list := objects(t, "o", 6, 9000) // three chunks each
	var got []*follow.Object
	for _, o := range list {
		m.cohort.publish(alice, o)
		got = append(got, next(t, f))
	}
	for _, i := range []int{5, 2, 0, 2} {
		f.Ack(got[i])
	}
	if n := f.Lag(); n != 9 {
		t.Errorf("%d indices behind, want those of three objects", n)
	}
	closed(t, f)
	f.Ack(got[1]) // too late
	f = m.opened("shop", follow.Options{})
	expect(t, f, list[1], list[3], list[4])
	nothing(t, m, f)
	if n := f.Lag(); n != 0 {
		t.Errorf("%d indices behind", n)
	}
	closed(t, f)
	m.stop()
}

// An object across the border of what was there and what comes, and across a restart
// in its middle.
func TestAcrossBorder(t *testing.T) {
	m := newMachine(t, machine{})
	f := m.opened("shop", follow.Options{})
	big := newObject(t, "big", 1<<20, "a")
	half := len(big.chunks) / 2
	parts := []*object{{chunks: big.chunks[:half]}, {chunks: big.chunks[half:]}}
	m.cohort.publish(alice, parts[0])
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	if _, err := f.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("half an object: %v", err)
	}
	cancel()
	closed(t, f)
	m.flush()
	m.stop()
	m.start()
	f = m.opened("shop", follow.Options{})
	m.cohort.publish(alice, parts[1])
	expect(t, f, big)
	nothing(t, m, f)
	closed(t, f)
	m.stop()
}

// A gap is passed by; a chunk that comes late completes its object, in a later
// session too, and nothing else comes again.
func TestLateChunk(t *testing.T) {
	m := newMachine(t, machine{})
	f := m.opened("shop", follow.Options{})
	one, two := newObject(t, "one", 20000, "a"), newObject(t, "two", 300, "a")
	after := objects(t, "after", 3, 200)
	gap := m.cohort.publish(alice, one, 2)
	gap = append(gap, m.cohort.publish(alice, two, 0)...)
	for _, o := range after {
		m.cohort.publish(alice, o)
	}
	expect(t, f, after...)
	late := func(index uint64, c []byte) {
		m.cohort.keep(alice, index, c)
		m.cohort.Settle(alice, index, index+1, 1)
	}
	late(gap[0], one.chunks[2])
	expect(t, f, one)
	nothing(t, m, f)
	closed(t, f)
	late(gap[1], two.chunks[0])
	f = m.opened("shop", follow.Options{})
	expect(t, f, two)
	nothing(t, m, f)
	closed(t, f)
	if got := m.hub.Stats(); got.Gaps != 2 || got.Skipped != 0 {
		t.Errorf("gaps %d, skipped %d", got.Gaps, got.Skipped)
	}
	m.stop()
}

// A feed that begins with a gap, before its name has seen it or while that is away:
// after a restart the node counts on what comes behind the gap alone, and still the
// name gets what comes late.
func TestLateBeginning(t *testing.T) {
	m := newMachine(t, machine{})
	f := m.opened("shop", follow.Options{})
	one, two := newObject(t, "one", 10, "a"), newObject(t, "two", 9000, "a")
	m.cohort.publish(alice, one, 0) // nothing of it is kept
	m.cohort.publish(bob, two, 0)   // the rest is
	closed(t, f)
	for _, late := range []struct {
		owner wire.Owner
		*object
	}{{alice, one}, {bob, two}} {
		m.flush()
		m.stop()
		m.start()
		f = m.opened("shop", follow.Options{})
		nothing(t, m, f)
		m.cohort.keep(late.owner, 0, late.chunks[0])
		m.cohort.Settle(late.owner, 0, 1, 1)
		expect(t, f, late.object)
		closed(t, f)
	}
	if got := m.hub.Stats(); got.Gaps != 0 || got.Lag["shop"] != 0 {
		t.Errorf("gaps %d, behind %v", got.Gaps, got.Lag)
	}
	m.stop()
}

// A new name is not owed what comes late from before it.
func TestLateBeforeName(t *testing.T) {
	m := newMachine(t, machine{})
	one := newObject(t, "one", 100, "a")
	m.cohort.publish(alice, one, 0)
	f := m.opened("shop", follow.Options{})
	nothing(t, m, f)
	m.cohort.keep(alice, 0, one.chunks[0])
	m.cohort.Settle(alice, 0, 1, 1)
	nothing(t, m, f)
	closed(t, f)
	m.stop()
}

// The first chunk of a feed comes late, after the cohort was joined again and before a
// name that was away is back; and the disk does not have it yet.
func TestLateOnSlowDisk(t *testing.T) {
	m := newMachine(t, machine{})
	closed(t, m.opened("shop", follow.Options{}))
	one := newObject(t, "one", 13000, "a")
	m.cohort.publish(alice, one, 0)
	m.hub.Remove(m.cohort)
	m.flush()
	m.cohort = m.join(plane)
	stalled, free := make(chan struct{}), make(chan struct{})
	m.store.After(false, func(error) {
		close(stalled)
		<-free
	})
	<-stalled
	m.cohort.keep(alice, 0, one.chunks[0])
	m.cohort.Settle(alice, 0, 1, 1)
	f := m.opened("shop", follow.Options{})
	expect(t, f, one)
	close(free)
	closed(t, f)
	m.stop()
}

// A cohort that is joined again counts what is late from the start: a chunk that came
// before the follower looked is not taken for one that it knows of.
func TestLateAfterRejoin(t *testing.T) {
	m := newMachine(t, machine{})
	f := m.opened("shop", follow.Options{})
	list := objects(t, "o", 2, 200)
	for _, o := range list {
		m.cohort.publish(alice, o, 0)
	}
	nothing(t, m, f)
	for i, o := range list {
		m.cohort.keep(alice, uint64(i), o.chunks[0])
		m.cohort.Settle(alice, uint64(i), uint64(i)+1, 1)
		expect(t, f, o)
		m.hub.Remove(m.cohort)
		m.flush()
		m.cohort = m.join(plane)
	}
	closed(t, f)
	m.stop()
}

// What was never published is done with.
func TestVoid(t *testing.T) {
	m := newMachine(t, machine{})
	f := m.opened("shop", follow.Options{})
	m.cohort.publish(alice, newObject(t, "one", 100, "a"))
	f.Ack(next(t, f))
	m.cohort.AddVoid(alice, wire.IndexRange{From: 1, To: 1023})
	m.cohort.next[alice] = 1024
	m.cohort.Settle(alice, 1, 1024, 0)
	nothing(t, m, f)
	if n := f.Lag(); n != 0 {
		t.Errorf("%d indices behind", n)
	}
	if got := m.hub.Stats(); got.Gaps != 0 {
		t.Errorf("gaps %d", got.Gaps)
	}
	closed(t, f)
	m.stop()
}

// A position that retention has dropped goes on at the oldest kept, counted.
func TestDroppedPosition(t *testing.T) {
	m := newMachine(t, machine{size: 64 << 10, ring: retain.RingConfig{Min: 1, Max: 1, Span: time.Nanosecond}})
	f := m.opened("shop", follow.Options{})
	list := objects(t, "o", 120, 3000)
	m.cohort.publish(alice, list[0])
	expect(t, f, list[0])
	closed(t, f)
	for _, o := range list[1:] {
		m.cohort.publish(alice, o)
		m.flush()
	}
	first, ok, err := m.cohort.First(alice)
	if err != nil || !ok || first < 2 {
		t.Fatalf("first kept %d, %v, %v", first, ok, err)
	}
	f = m.opened("shop", follow.Options{})
	o := next(t, f)
	// The ring may hold one that the store has dropped already.
	if got := m.hub.Stats().Skipped; o.Index > first || got != o.Index-1 {
		t.Errorf("goes on at %d, skipped %d; first kept %d", o.Index, got, first)
	}
	same(t, o, list[o.Index])
	f.Ack(o)
	expect(t, f, list[o.Index+1:]...)
	closed(t, f)
	m.stop()
}

// One at a time: the newest has the name, and begins when the older has let go.
func TestReplaced(t *testing.T) {
	m := newMachine(t, machine{})
	old := m.opened("shop", follow.Options{})
	opened := make(chan *follow.Follower)
	go func() { opened <- m.opened("shop", follow.Options{}) }() // ends when old is closed
	if _, err := old.Next(context.Background()); !errors.Is(err, follow.ErrReplaced) {
		t.Fatalf("the older one: %v", err)
	}
	select {
	case <-opened:
		t.Fatal("two followers of one name")
	default:
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := m.hub.Open(ctx, "shop", follow.Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("while the older one is there: %v", err)
	}
	closed(t, old)
	f := <-opened
	nothing(t, m, f)
	closed(t, f)
	m.hub.Close()
	if _, err := m.hub.Open(context.Background(), "shop", follow.Options{}); !errors.Is(err, follow.ErrClosed) {
		t.Errorf("closed hub: %v", err)
	}
	m.stop()
}

// The bound of names: a new one is refused, a known one is not.
func TestNames(t *testing.T) {
	m := newMachine(t, machine{names: 2})
	for _, name := range []string{"a", "b"} {
		closed(t, m.opened(name, follow.Options{}))
	}
	if _, err := m.hub.Open(context.Background(), "c", follow.Options{}); !errors.Is(err, retain.ErrNames) {
		t.Fatalf("third name: %v", err)
	}
	f := m.opened("b", follow.Options{})
	nothing(t, m, f)
	closed(t, f)
	if n := m.hub.Stats().Followers; n != 0 {
		t.Errorf("%d followers", n)
	}
	m.stop()
}

// The window bounds what is given out, in objects and in bytes.
func TestWindow(t *testing.T) {
	m := newMachine(t, machine{})
	for name, c := range map[string]struct {
		opt  follow.Options
		size int
	}{
		"objects": {follow.Options{Window: 3}, 100},
		"bytes":   {follow.Options{WindowBytes: 31000}, 10000},
	} {
		t.Run(name, func(t *testing.T) {
			f := m.opened(name, c.opt)
			list := objects(t, name, 5, c.size)
			var got []*follow.Object
			for _, o := range list {
				m.cohort.publish(alice, o)
			}
			for range 3 {
				got = append(got, next(t, f))
			}
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			defer cancel()
			if o, err := f.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("a fourth: %v, %v", o, err)
			}
			f.Ack(got[1])
			same(t, next(t, f), list[3])
			closed(t, f)
		})
	}
	if _, err := m.hub.Open(context.Background(), "x", follow.Options{Window: follow.MaxWindow + 1}); err == nil {
		t.Error("a window over the bound")
	}
	m.stop()
}

// Elections, another one in a later session included; one object through two
// ingresses comes once, also when a session ends between the two.
func TestElection(t *testing.T) {
	m := newMachine(t, machine{})
	only := func(topic string) follow.Options {
		return follow.Options{Election: beef.Election{Topics: []beef.TopicID{beef.TopicIDOf(topic)}}}
	}
	f := m.opened("shop", only("a"))
	one, two, three := newObject(t, "one", 9000, "a"), newObject(t, "two", 9000, "b"), newObject(t, "three", 100, "c", "b")
	for _, o := range []*object{one, two} {
		m.cohort.publish(alice, o)
	}
	expect(t, f, one)
	m.cohort.publish(bob, one)
	nothing(t, m, f)
	small := newObject(t, "small", 100, "a")
	m.cohort.publish(bob, small)
	expect(t, f, small)
	closed(t, f)
	m.cohort.publish(alice, small)
	m.cohort.publish(alice, one)
	f = m.opened("shop", only("a"))
	nothing(t, m, f)
	if got := m.hub.Stats().Repeated; got != 2 {
		t.Errorf("repeated %d", got)
	}
	closed(t, f)
	f = m.opened("shop", only("b"))
	m.cohort.publish(alice, three)
	o := next(t, f)
	same(t, o, three) // two was passed by
	if o.Topic != beef.TopicIDOf("b") {
		t.Errorf("delivered under %v", o.Topic)
	}
	closed(t, f)
	m.stop()
}

// A feed that begins while its name is away is read from its beginning.
func TestNewFeedWhileAway(t *testing.T) {
	m := newMachine(t, machine{})
	f := m.opened("shop", follow.Options{})
	closed(t, f)
	list := objects(t, "o", 3, 100)
	m.cohort.next[bob] = 77
	for _, o := range list {
		m.cohort.publish(bob, o)
	}
	m.flush()
	m.stop()
	m.start()
	f = m.opened("shop", follow.Options{})
	expect(t, f, list...)
	nothing(t, m, f)
	closed(t, f)
	m.stop()
}

// What is no part of an object is passed by.
func TestNoObject(t *testing.T) {
	m := newMachine(t, machine{})
	f := m.opened("shop", follow.Options{})
	m.cohort.publish(alice, &object{chunks: [][]byte{[]byte("hello"), {0}}})
	nothing(t, m, f)
	if got := m.hub.Stats(); got.Ignored != 2 {
		t.Errorf("ignored %d", got.Ignored)
	}
	if n := f.Lag(); n != 0 {
		t.Errorf("%d indices behind", n)
	}
	closed(t, f)
	m.stop()
}

// The bound of gaps: of more the lowest are given up, counted; never what is under
// way.
func TestHoles(t *testing.T) {
	m := newMachine(t, machine{})
	f := m.opened("shop", follow.Options{})
	first := newObject(t, "first", 9000, "a")
	m.cohort.publish(alice, first)
	held := next(t, f) // not acknowledged: its three chunks are the lowest hole
	const gaps = retain.MaxHoles + 20
	small := objects(t, "small", gaps, 50)
	for _, o := range small {
		m.cohort.publish(alice, &object{chunks: o.chunks}, 0)
		m.cohort.publish(alice, o)
	}
	expect(t, f, small...)
	if got := m.hub.Stats(); got.Gaps != gaps || got.Forgotten < 20 || got.Forgotten > 22 {
		t.Errorf("gaps %d, given up %d", got.Gaps, got.Forgotten)
	}
	same(t, held, first)
	closed(t, f)
	f = m.opened("shop", follow.Options{})
	expect(t, f, first)
	closed(t, f)
	m.stop()
}

// A group that the election does not cover is not read; one that was left out and is
// elected again starts at what comes.
func TestGroups(t *testing.T) {
	m := newMachine(t, machine{shardBits: 1})
	name := func(group uint32) string { // a topic of the group
		for i := 0; ; i++ {
			if s := string(rune('a' + i)); m.groupOf(s) == group {
				return s
			}
		}
	}
	low, high := name(beef.BaseGroup), name(beef.BaseGroup+1)
	other := m.join(beef.CohortTopic(beef.BaseGroup + 1))
	only := func(topics ...string) (opt follow.Options) {
		for _, s := range topics {
			opt.Election.Topics = append(opt.Election.Topics, beef.TopicIDOf(s))
		}
		return opt
	}
	f := m.opened("shop", only(low))
	other.publish(alice, newObject(t, "unelected", 100, high))
	one := newObject(t, "one", 100, low)
	m.cohort.publish(alice, one)
	expect(t, f, one)
	if n := f.Lag(); n != 0 {
		t.Errorf("%d indices behind", n)
	}
	closed(t, f)
	if got := m.hub.Topics(); len(got) != 1 || got[0] != plane {
		t.Errorf("followed: %v", got)
	}
	f = m.opened("shop", only(low, high))
	two := newObject(t, "two", 100, high)
	other.publish(alice, two)
	expect(t, f, two)
	m.hub.Remove(other)
	again := m.join(beef.CohortTopic(beef.BaseGroup + 1)) // left and joined again
	three := newObject(t, "three", 100, high)
	again.publish(alice, three)
	expect(t, f, three)
	closed(t, f)
	m.stop()
}
