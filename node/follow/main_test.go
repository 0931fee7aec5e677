package follow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"treecast/node/follow"
	"treecast/node/retain"
	"treecast/wire"
	"treecast/wire/beef"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait for something that has to happen.
const patience = 20 * time.Second

var (
	plane = wire.Topic(beef.CohortTopic(beef.BaseGroup))
	alice = wire.Owner{1}
	bob   = wire.Owner{2}
	pool  = wire.NewPool()
)

// fataler is what a testing.TB and a rapid.T have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// kept is a cohort as a node keeps it: a log with a store below it, and the part of
// the node that hands over.
type kept struct {
	*retain.Log
	t     fataler
	topic wire.Topic
	next  map[wire.Owner]uint64 // index of the next chunk
}

func (k *kept) Topic() wire.Topic { return k.topic }

// machine is a node's disk and what runs on it.
type machine struct {
	t         fataler
	fs        vfs.FS
	size      int64
	names     int
	ring      retain.RingConfig
	maxObject int
	shardBits int

	store     *retain.Store
	positions *retain.Positions
	hub       *follow.Hub
	cohort    *kept
	next      map[wire.Topic]map[wire.Owner]uint64 // of each feed, as of the last stop
}

func newMachine(t fataler, m machine) *machine {
	t.Helper()
	m.t = t
	m.next = make(map[wire.Topic]map[wire.Owner]uint64)
	if m.fs == nil {
		m.fs = vfs.NewMem()
	}
	if m.size == 0 {
		m.size = 1 << 30
	}
	m.start()
	return &m
}

// start opens all that is on the disk. The feeds stand where they stood.
func (m *machine) start() {
	m.t.Helper()
	var err error
	if m.store, err = retain.OpenStore(retain.StoreConfig{Dir: "node", FS: m.fs, Size: m.size}); err != nil {
		m.t.Fatal(err)
	}
	if m.positions, err = retain.OpenPositions(retain.PositionsConfig{Dir: "node", FS: m.fs, Names: m.names}); err != nil {
		m.t.Fatal(err)
	}
	if m.hub, err = follow.New(follow.Config{Positions: m.positions, MaxObject: m.maxObject, ShardBits: m.shardBits}); err != nil {
		m.t.Fatal(err)
	}
	m.cohort = m.join(plane)
}

// join makes a cohort and has followers read it.
func (m *machine) join(topic wire.Topic) *kept {
	m.t.Helper()
	log, err := retain.NewLog(topic, m.ring, m.store)
	if err != nil {
		m.t.Fatal(err)
	}
	if m.next[topic] == nil {
		m.next[topic] = make(map[wire.Owner]uint64)
	}
	k := &kept{Log: log, t: m.t, topic: topic, next: m.next[topic]}
	for owner, next := range k.next {
		log.Settle(owner, next, next, 0)
	}
	m.hub.Add(k)
	return k
}

// groupOf is the group of a topic.
func (m *machine) groupOf(name string) uint32 {
	m.t.Helper()
	group, err := beef.GroupIndex(beef.TopicIDOf(name), m.shardBits)
	if err != nil {
		m.t.Fatal(err)
	}
	return group
}

// stop ends all that runs.
func (m *machine) stop() {
	m.t.Helper()
	if err := errors.Join(m.hub.Close(), m.positions.Close(), m.store.Close()); err != nil {
		m.t.Fatal(err)
	}
}

// flush waits until all is written.
func (m *machine) flush() {
	m.t.Helper()
	done := make(chan error, 1)
	m.store.After(true, func(err error) { done <- err })
	if err := <-done; err != nil {
		m.t.Fatal(err)
	}
}

// keep has a chunk kept, as the node does before it is handed over.
func (k *kept) keep(owner wire.Owner, index uint64, payload []byte) {
	msg := wire.AppendSoc(nil, &wire.Soc{
		ID: make([]byte, 32), Owner: owner[:], Signature: make([]byte, 65), Span: make([]byte, 8), Payload: payload,
		Index: index, HasIndex: true,
	})
	buf := pool.Frame(msg)
	laid := k.Lay(buf)
	k.Add(time.Now(), owner, index, buf, laid, true)
	laid.Release()
	buf.Release()
}

// publish has the chunks of an object kept and settled, but for those that lost
// names by their number, which are gaps; it returns their indices.
func (k *kept) publish(owner wire.Owner, o *object, lost ...int) (gaps []uint64) {
	for i, c := range o.chunks {
		index := k.next[owner]
		k.next[owner]++
		missing := false
		for _, l := range lost {
			missing = missing || l == i
		}
		if missing {
			gaps = append(gaps, index)
		} else {
			k.keep(owner, index, c)
		}
		k.Settle(owner, index, index+1, 0)
	}
	return gaps
}

// object is one as it is published.
type object struct {
	name   string
	frame  beef.Frame
	chunks [][]byte
}

// newObject makes one of that many bytes under topics.
func newObject(t fataler, name string, size int, topics ...string) *object {
	t.Helper()
	body := append([]byte{1, 0, 0xBE, 0xEF}, name...)
	for len(body) < size {
		body = append(body, byte(len(body)*7))
	}
	rec, err := beef.AppendRecord(nil, topics, body)
	if err != nil {
		t.Fatal(err)
	}
	sub, err := beef.ParseSubmission(rec, 0)
	if err != nil {
		t.Fatal(err)
	}
	sub.Allow(len(topics))
	o := &object{name: name, frame: sub.Frame}
	chunks, err := beef.Chunks(&sub.Frame, nil)
	if err != nil {
		t.Fatal(err)
	}
	for c := range chunks {
		o.chunks = append(o.chunks, append([]byte(nil), c...))
	}
	return o
}

// objects makes n of them under topic a.
func objects(t fataler, prefix string, n, size int) (list []*object) {
	t.Helper()
	for i := range n {
		list = append(list, newObject(t, fmt.Sprint(prefix, i), size, "a"))
	}
	return list
}

// opened opens a name.
func (m *machine) opened(name string, opt follow.Options) *follow.Follower {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	f, err := m.hub.Open(ctx, name, opt)
	if err != nil {
		m.t.Fatal(err)
	}
	return f
}

// next takes the next object.
func next(t fataler, f *follow.Follower) *follow.Object {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	o, err := f.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// expect takes exactly these objects, acknowledging each.
func expect(t fataler, f *follow.Follower, want ...*object) {
	t.Helper()
	for _, w := range want {
		o := next(t, f)
		same(t, o, w)
		f.Ack(o)
	}
}

// same compares what came with what was published.
func same(t fataler, o *follow.Object, want *object) {
	t.Helper()
	if o.Frame.ContentID != want.frame.ContentID || string(o.Frame.Payload) != string(want.frame.Payload) {
		t.Fatalf("another object than %s, at index %d", want.name, o.Index)
	}
}

// nothing checks that nothing is at hand: what is published now comes next.
func nothing(t fataler, m *machine, f *follow.Follower) {
	t.Helper()
	probe := newObject(t, fmt.Sprint("probe", time.Now().UnixNano()), 100, "a")
	m.cohort.publish(alice, probe)
	expect(t, f, probe)
}

func closed(t fataler, f *follow.Follower) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
