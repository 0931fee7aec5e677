package tree_test

import (
	"container/heap"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// world is a small network of cores: a queue of things to come, ordered by time
// and then by the order in which they were planned. All chance comes from one seed.
type world struct {
	t     tester
	rng   *rand.Rand
	now   time.Time
	queue plan
	seq   int
	topic wire.Topic
	spec  wire.Spec
	nodes []*member
	by    map[wire.Overlay]*member
	lat   time.Duration // median one way
	far   time.Duration // what chance adds to it
	check time.Duration // how long a signature takes, at most
}

// tester is what *testing.T and *rapid.T have in common.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Fatal(args ...any)
}

// seeds is how many seeds a test plays: fewer under the race detector, which is
// there for the driver and not for this.
func seeds(n uint64) uint64 {
	if raceEnabled {
		return max(1, n/8)
	}
	return n
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

// member is a node: a core and its driver, or a plain leaf.
type member struct {
	w       *world
	self    wire.Overlay
	core    *tree.Cohort
	plain   *plainLeaf
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
	left    bool         // it said so
	busy    time.Time    // until when it checks signatures
	fault   func() bool  // whether a chunk is to be withheld from a child
	seen    func(uint64) // told of each chunk that is delivered
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

func newWorld(t tester, seed uint64) *world {
	w := &world{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), now: epoch, by: map[wire.Overlay]*member{},
		lat: 20 * time.Millisecond, far: 20 * time.Millisecond, topic: sha256.Sum256([]byte("world")),
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
	return w.lat/2 + w.chance(w.far)
}

// chance is a random duration below d.
func (w *world) chance(d time.Duration) time.Duration {
	return time.Duration(w.rng.Int64N(int64(d) + 1))
}

func (m *member) step(ev tree.Event) {
	if m.dead {
		return
	}
	acts := m.core.Step(m.w.now, ev, nil)
	if err := m.core.Valid(); err != nil {
		m.w.t.Fatalf("after %T: %v", ev, err)
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
		if m.fault == nil || !m.fault() {
			m.send(m.ends[a.Stream], m.frames[a.Chunk])
		}
	case tree.ActVerify:
		m.verify(a.Chunk)
	case tree.ActDeliver:
		if m.seen != nil {
			m.seen(a.Index)
		}
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
		if _, ok := m.receipt[a.Request]; ok {
			m.w.t.Fatalf("request %d has a second receipt", a.Request)
		}
		m.receipt[a.Request] = a.Receipt
	case tree.ActReport:
		switch a.Report.Kind {
		case tree.ReportAttached: // nothing else closes a ring
			if m.w.ring() {
				m.w.t.Fatal("a ring")
			}
		case tree.ReportLeft:
			m.left, m.dead = true, true
		}
	}
}

// verify answers for a chunk in the order of the questions.
func (m *member) verify(chunk tree.ChunkID) {
	if m.w.check == 0 {
		m.step(&tree.Verified{Chunk: chunk})
		return
	}
	at := m.w.now.Add(m.w.chance(m.w.check))
	if at.Before(m.busy) {
		at = m.busy
	}
	m.busy = at
	m.w.plan(at.Sub(m.w.now), func() { m.step(&tree.Verified{Chunk: chunk}) })
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
	if p := e.m.plain; p != nil {
		p.ended(e)
		return
	}
	if e.dial != 0 {
		d := e.dial
		e.dial = 0
		e.m.step(&tree.Dialled{Dial: d, Outcome: tree.DialBroken})
		return
	}
	e.m.step(tree.StreamEnded{Stream: e.id, Cause: cause})
}

// breaks ends a stream by nobody's will; each end notices in its own time.
func (e *end) breaks() {
	if o := e.other; !e.over && !o.over {
		e.m.w.plan(e.m.w.delay(), func() { e.ended(tree.CauseReset) })
		e.m.w.plan(e.m.w.delay(), func() { o.ended(tree.CauseReset) })
	}
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
		if m.dead {
			return
		}
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
		if o.plain != nil {
			o.refuse(theirs)
			return
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
	if m.plain != nil {
		m.plain.receive(e, body)
		return
	}
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

// refuse is what a node without slots answers.
func (m *member) refuse(e *end) {
	ack := wire.Ack{Status: wire.StatusFull}
	m.send(e, ack.Append(nil))
}

// publish has a node publish the chunk of that index.
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
