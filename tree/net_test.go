package tree_test

import (
	"container/heap"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// world is a small network of cores: a queue of things to come, ordered by time
// and then by the order in which they were planned. All chance comes from one seed.
type world struct {
	t     *testing.T
	rng   *rand.Rand
	now   time.Time
	queue plan
	seq   int
	topic wire.Topic
	spec  wire.Spec
	nodes []*member
	by    map[wire.Overlay]*member
	lat   time.Duration
	check bool
}

type planned struct {
	at  time.Time
	seq int
	do  func()
}

type plan []planned

func (p plan) Len() int { return len(p) }
func (p plan) Less(i, j int) bool {
	return p[i].at.Before(p[j].at) || p[i].at.Equal(p[j].at) && p[i].seq < p[j].seq
}
func (p plan) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *plan) Push(x any)   { *p = append(*p, x.(planned)) }
func (p *plan) Pop() any {
	old := *p
	x := old[len(old)-1]
	*p = old[:len(old)-1]
	return x
}

type member struct {
	w       *world
	self    wire.Overlay
	core    *tree.Cohort
	next    tree.StreamID
	chunks  tree.ChunkID
	ends    map[tree.StreamID]*end
	frames  map[tree.ChunkID][]byte
	dead    bool
	wake    time.Time
	got     map[uint64]int
	receipt map[tree.RequestID]tree.Receipt
	sent    int
	dials   int
}

// end is one node's end of a stream.
type end struct {
	m     *member
	id    tree.StreamID
	other *end
	dial  tree.DialID // on the dialler's end, until the Ack came
	over  bool
	last  time.Time
}

var epoch = time.Unix(1_000_000_000, 0)

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), now: epoch, by: map[wire.Overlay]*member{},
		lat: 40 * time.Millisecond, topic: sha256.Sum256([]byte("world")), check: true,
	}
	w.spec = wire.Spec{Topic: w.topic, Binding: wire.BindingFeedTopic, Regime: wire.RegimeExplicitSingle, Admin: make([]byte, 20)}
	return w
}

func (w *world) plan(after time.Duration, do func()) {
	w.seq++
	heap.Push(&w.queue, planned{w.now.Add(after), w.seq, do})
}

func (w *world) add(cfg tree.Config) *member {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], w.rng.Uint64())
	cfg.Self = sha256.Sum256(b[:])
	cfg.Topic = w.topic
	cfg.Rand = rand.New(rand.NewPCG(w.rng.Uint64(), 2))
	if cfg.Broker {
		cfg.Spec = &w.spec
	}
	core, err := tree.New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	m := &member{
		w: w, self: cfg.Self, core: core, ends: map[tree.StreamID]*end{}, frames: map[tree.ChunkID][]byte{},
		got: map[uint64]int{}, receipt: map[tree.RequestID]tree.Receipt{},
	}
	w.nodes = append(w.nodes, m)
	w.by[m.self] = m
	return m
}

// run plays what is planned until time d from now.
func (w *world) run(d time.Duration) {
	until := w.now.Add(d)
	for len(w.queue) > 0 && !w.queue[0].at.After(until) {
		p := heap.Pop(&w.queue).(planned)
		w.now = p.at
		p.do()
	}
	w.now = until
}

func (w *world) delay() time.Duration {
	return w.lat/4 + time.Duration(w.rng.Int64N(int64(w.lat/2)))
}

func (m *member) step(ev tree.Event) {
	if m.dead {
		return
	}
	acts := m.core.Step(m.w.now, ev, nil)
	if m.w.check {
		if err := m.core.Valid(); err != nil {
			m.w.t.Fatalf("after %T: %v", ev, err)
		}
	}
	for i := range acts {
		m.act(&acts[i])
	}
	if d := m.core.Deadline(); !d.IsZero() && !d.Equal(m.wake) {
		m.wake = d
		m.w.plan(max(0, d.Sub(m.w.now)), func() {
			if !m.dead && !m.core.Deadline().IsZero() && !m.w.now.Before(m.core.Deadline()) {
				m.step(tree.Tick{})
			}
		})
	}
}

func (m *member) act(a *tree.Action) {
	switch a.Kind {
	case tree.ActSend:
		m.sent++
		m.send(m.ends[a.Stream], a.Body)
	case tree.ActForward:
		m.send(m.ends[a.Stream], m.frames[a.Chunk])
	case tree.ActVerify:
		m.step(&tree.Verified{Chunk: a.Chunk})
	case tree.ActDeliver:
		m.got[a.Index]++
		if m.got[a.Index] > 1 {
			m.w.t.Fatalf("index %d delivered twice", a.Index)
		}
	case tree.ActRelease:
		if _, ok := m.frames[a.Chunk]; !ok {
			m.w.t.Fatalf("chunk %d released twice", a.Chunk)
		}
		delete(m.frames, a.Chunk)
	case tree.ActDial:
		m.dials++
		m.dial(a.Dial)
	case tree.ActEnd:
		e := m.ends[a.Stream]
		if a.Code == tree.EndRefused {
			m.w.plan(5*time.Second, func() { m.end(e, tree.CauseReset) })
			return
		}
		cause := tree.CauseReset
		if a.Code == tree.EndSlow {
			cause = tree.CauseSlow
		}
		m.end(e, cause)
	case tree.ActReceipt:
		m.receipt[a.Request] = a.Receipt
	}
}

// end ends a stream from this end.
func (m *member) end(e *end, cause tree.EndCause) {
	if e == nil || e.over {
		return
	}
	e.over = true
	o := e.other
	m.w.plan(m.w.delay(), func() { o.ended(cause) })
}

func (e *end) ended(cause tree.EndCause) {
	if e.over || e.m.dead {
		return
	}
	e.over = true
	if e.dial != 0 {
		d := e.dial
		e.dial = 0
		e.m.step(&tree.Dialled{Dial: d, Outcome: tree.DialBroken})
		return
	}
	e.m.step(tree.StreamEnded{Stream: e.id, Cause: cause})
}

func (m *member) open(o *end) *end {
	m.next++
	e := &end{m: m, id: m.next, other: o}
	m.ends[e.id] = e
	return e
}

func (m *member) dial(d *tree.Dial) {
	o := m.w.by[d.Peer]
	m.w.plan(m.w.delay()*2, func() {
		if o == nil || o.dead {
			m.step(&tree.Dialled{Dial: d.ID, Outcome: tree.DialUnreachable})
			return
		}
		mine := m.open(nil)
		theirs := o.open(mine)
		mine.other, mine.dial = theirs, d.ID
		first, err := wire.ParseFirst(d.Body)
		if err != nil || first.Subscribe == nil {
			m.w.t.Fatalf("subscribe: %v", err)
		}
		o.step(&tree.SubscribeIn{Stream: theirs.id, Peer: m.self, Msg: first.Subscribe})
	})
}

// send carries a message to the other end, in order.
func (m *member) send(e *end, body []byte) {
	if e == nil || e.over {
		return
	}
	at := m.w.now.Add(m.w.delay())
	if at.Before(e.last) {
		at = e.last
	}
	e.last = at
	o := e.other
	m.w.plan(at.Sub(m.w.now), func() { o.receive(body) })
}

func (e *end) receive(body []byte) {
	if e.over || e.m.dead {
		return
	}
	m := e.m
	if e.dial != 0 {
		ack, err := wire.ParseAck(body)
		if err != nil {
			m.w.t.Fatal(err)
		}
		ev := &tree.Dialled{Dial: e.dial, Ack: &ack}
		e.dial = 0
		if ack.Status == wire.StatusOK {
			ev.Stream = e.id
		} else {
			m.end(e, tree.CauseReset)
		}
		m.step(ev)
		return
	}
	var b wire.Broadcast
	if err := b.Parse(body); err != nil {
		m.w.t.Fatal(err)
	}
	ev := &tree.Frame{Stream: e.id, Msg: &b}
	if b.Kind == wire.KindSoc {
		m.chunks++
		ev.Chunk = m.chunks
		m.frames[ev.Chunk] = body
	}
	m.step(ev)
}

// kill ends a node without a word; others notice after detection.
func (m *member) kill(detect time.Duration) {
	m.dead = true
	for id := tree.StreamID(1); id <= m.next; id++ {
		if e := m.ends[id]; e != nil && !e.over {
			o := e.other
			m.w.plan(detect+m.w.delay(), func() { o.ended(tree.CauseReset) })
		}
	}
}

// publish sends chunk index from the broker.
func (w *world) publish(m *member, index uint64) {
	id := soc.FeedID(w.topic[:], index)
	s := wire.Soc{
		ID: id[:], Owner: make([]byte, 20), Signature: make([]byte, 65), Span: make([]byte, 8),
		Payload: fmt.Appendf(nil, "chunk %d", index), Index: index, HasIndex: true,
	}
	body := wire.AppendSoc(nil, &s)
	var b wire.Broadcast
	if err := b.Parse(body); err != nil {
		w.t.Fatal(err)
	}
	m.chunks++
	m.frames[m.chunks] = body
	m.step(&tree.Publish{Request: tree.RequestID(index + 1), Chunk: m.chunks, Soc: &b.Soc})
}

// alive are the nodes that were not killed.
func (w *world) alive() (alive []*member) {
	for _, m := range w.nodes {
		if !m.dead {
			alive = append(alive, m)
		}
	}
	return alive
}

// feeders are the live parents of each live node.
func (w *world) feeders() map[wire.Overlay][]wire.Overlay {
	parents := map[wire.Overlay][]wire.Overlay{}
	for _, m := range w.alive() {
		for _, p := range m.core.View().Parents {
			if !w.by[p.Peer].dead {
				parents[m.self] = append(parents[m.self], p.Peer)
			}
		}
	}
	return parents
}

// ring says whether following parents leads back to where it began.
func (w *world) ring() bool {
	parents := w.feeders()
	const open, done = 1, 2
	state := map[wire.Overlay]int{}
	var visit func(o wire.Overlay) bool
	visit = func(o wire.Overlay) bool {
		state[o] = open
		for _, p := range parents[o] {
			if state[p] == open || state[p] == 0 && visit(p) {
				return true
			}
		}
		state[o] = done
		return false
	}
	for _, m := range w.alive() {
		if state[m.self] == 0 && visit(m.self) {
			return true
		}
	}
	return false
}

// reached are the live nodes that the broker feeds when one node is taken away.
func (w *world) reached(without wire.Overlay) map[wire.Overlay]bool {
	parents := w.feeders()
	ok := map[wire.Overlay]bool{w.nodes[0].self: true}
	for again := true; again; {
		again = false
		for _, m := range w.alive() {
			if ok[m.self] || m.self == without {
				continue
			}
			for _, p := range parents[m.self] {
				if ok[p] && p != without {
					ok[m.self], again = true, true
				}
			}
		}
	}
	return ok
}

// single counts the nodes that have neither two parents nor the broker.
func (w *world) single() (n int) {
	for _, m := range w.alive() {
		if v := m.core.View(); !v.Broker && len(v.Parents) < 2 && (len(v.Parents) == 0 || !v.Parents[0].Broker) {
			n++
		}
	}
	return n
}

func (w *world) join(m *member, at *member) {
	m.step(tree.Join{Entries: []wire.Overlay{at.self}})
}

// rest checks what holds when nothing is under way.
func (w *world) rest(when string) {
	w.t.Helper()
	if w.ring() {
		w.t.Errorf("%s: a ring", when)
	}
	if alive, fed := len(w.alive()), len(w.reached(wire.Overlay{})); fed != alive {
		w.t.Errorf("%s: %d of %d nodes are fed", when, fed, alive)
	}
	slots := 0
	for _, m := range w.alive() {
		slots += m.core.View().Capacity
	}
	alive := w.alive()
	if needed := 2*(len(alive)-1) - len(alive[0].core.View().Children); slots < needed {
		return // somebody must do with one parent
	}
	if n := w.single(); n > 0 {
		w.t.Errorf("%s: %d of %d nodes with a single parent", when, n, len(alive))
	}
	for _, m := range alive[1:] {
		if cut := len(alive) - 1 - len(w.reached(m.self)); cut > 0 {
			w.t.Errorf("%s: %v cuts off %d nodes", when, m.self, cut)
		}
	}
}

// TestChurn builds trees, kills nodes one by one with chunks on the way, and
// looks at every rest for rings, islands and lost chunks. A node that had
// another way than over the victim misses nothing.
func TestChurn(t *testing.T) {
	rests, singles, nodes := 0, 0, 0
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			w := newWorld(t, seed)
			n, capacity := 10+w.rng.IntN(60), 3+w.rng.IntN(4)
			broker := w.add(tree.Config{Broker: true, Capacity: capacity})
			for range n {
				cfg, from := tree.Config{Capacity: capacity}, time.Duration(0)
				if w.rng.IntN(4) == 0 {
					cfg.Capacity, from = -1, time.Duration(w.rng.IntN(2))*10*time.Second
				}
				m := w.add(cfg)
				w.plan(from+time.Duration(w.rng.Int64N(int64(10*time.Second))), func() { w.join(m, broker) })
			}
			w.run(60 * time.Second)
			w.rest("built")
			index := uint64(0)
			for range n / 4 {
				alive := w.alive()
				victim := alive[1+w.rng.IntN(len(alive)-1)]
				spared := w.reached(victim.self)
				for i := range uint64(10) {
					at := index + i
					w.plan(time.Duration(w.rng.Int64N(int64(time.Second))), func() { w.publish(broker, at) })
				}
				w.plan(500*time.Millisecond, func() { victim.kill(200 * time.Millisecond) })
				w.run(60 * time.Second)
				w.rest(fmt.Sprintf("after chunk %d", index))
				rests, singles, nodes = rests+1, singles+w.single(), nodes+len(w.alive())
				for i, m := range w.alive() {
					for at := index; at < index+10; at++ {
						if spared[m.self] && m.got[at] != 1 {
							t.Errorf("node %d has chunk %d %d times", i, at, m.got[at])
						}
					}
					if len(m.frames) != 0 {
						t.Errorf("node %d holds %d chunks", i, len(m.frames))
					}
				}
				index += 10
			}
		})
	}
	t.Logf("%d rests, %d of %d nodes with a single parent", rests, singles, nodes)
	if singles*20 > nodes {
		t.Errorf("%d of %d nodes with a single parent", singles, nodes)
	}
}

// TestStorm has everybody join within a tenth of a second.
func TestStorm(t *testing.T) {
	for seed := range uint64(5) {
		w := newWorld(t, seed)
		broker := w.add(tree.Config{Broker: true, Capacity: 8})
		for range 150 {
			m := w.add(tree.Config{Capacity: 8})
			w.plan(time.Duration(w.rng.Int64N(int64(100*time.Millisecond))), func() { w.join(m, broker) })
		}
		w.run(60 * time.Second)
		w.rest(fmt.Sprint("seed ", seed))
		dials := 0
		for _, m := range w.nodes {
			dials += m.dials
		}
		t.Logf("seed %d: %.1f subscribes a join, %d with a single parent", seed, float64(dials)/150, w.single())
		if w.single() > 5 {
			t.Errorf("seed %d: %d nodes with a single parent", seed, w.single())
		}
	}
}

// TestIdle sees that a cohort at rest sends nothing.
func TestIdle(t *testing.T) {
	w := newWorld(t, 1)
	broker := w.add(tree.Config{Broker: true, Capacity: 4})
	for range 30 {
		w.join(w.add(tree.Config{Capacity: 4}), broker)
	}
	w.run(5 * time.Minute)
	if n := w.single(); n > 0 {
		t.Fatalf("%d nodes still look for a parent", n)
	}
	count := func() (n int) {
		for _, m := range w.nodes {
			n += m.sent + m.dials
		}
		return n
	}
	before := count()
	w.run(time.Hour)
	if after := count(); after != before {
		t.Errorf("%d frames in an idle hour", after-before)
	}
}
