package node

import (
	"context"
	"sync/atomic"
	"time"

	"treecast/node/retain/order"
	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// maxAsked is how many chunks of one cohort may wait for their check before the
// loop takes no further frames: so they wait in the transport instead.
const maxAsked = 1024

// heldBytes is how many bytes of frames that may wait are worth a write.
const heldBytes = writeBytes / 2

// A loop owns the core of one cohort. All its fields and methods belong to its
// one goroutine; the rest of the node reaches it through the cohort's mailbox and,
// for frames, the cohort's channel. It waits for nobody else.
type loop struct {
	c    *Cohort
	core *tree.Cohort
	now  time.Time

	streams    map[tree.StreamID]*stream
	lastStream tree.StreamID
	dials      map[tree.DialID]context.CancelFunc
	hints      map[wire.Overlay]scope // of the connection that last named a candidate
	chunks     chunkTable
	receipts   map[tree.RequestID]func(error)
	lastReq    tree.RequestID

	job   *checkJob    // being filled
	asked int          // chunks out for their check
	alone [1]soc.Check // scratch of submit

	recovery

	levels []*stream     // whose queue crossed a level in the actions under way
	pushed []*stream     // whose writers are to be woken
	held   []*stream     // whose writers are to be woken later, as more may come
	until  time.Time     // then
	lone   bool          // the actions under way are of a chunk that was checked alone
	out    []tree.Action // scratch of step
	frame  tree.Frame
	result tree.Verified
	jobs   []*checkJob
	tasks  []func()
}

// run is the goroutine. It ends after Cohort.shut. The mailbox wakes it for all but
// frames, as each channel more that is waited for costs something with every wake.
func (l *loop) run() {
	var due atomic.Bool // the timer has fired
	timer := time.AfterFunc(time.Hour, func() {
		due.Store(true)
		l.c.box.signal()
	})
	defer timer.Stop()
	var armed time.Time
	for {
		frames := l.c.frames
		if l.asked >= maxAsked {
			frames = nil
		}
		select {
		case b := <-frames:
			l.now = time.Now()
			l.batch(b)
		case <-l.c.box.wake:
			if l.c.halted.Load() {
				l.end()
				return
			}
			l.now = time.Now()
			l.verdicts()
			l.runTasks()
			if due.Swap(false) {
				l.step(tree.Tick{})
				l.inOrder(order.Tick{})
				armed = time.Time{}
			}
		}
		l.submit()
		if l.silence {
			l.silence = false
			l.step(tree.Silence{})
		}
		l.letGo()
		l.wakeWriters()
		if d := earlier(earlier(l.core.Deadline(), l.order.Deadline()), l.until); !d.Equal(armed) {
			armed = d
			if d.IsZero() {
				timer.Stop()
			} else {
				timer.Reset(max(time.Until(d), 0))
			}
		}
	}
}

// step gives the core one event and does what it says. Levels that queues cross
// meanwhile are events of their own, as an event must not interrupt another.
func (l *loop) step(ev tree.Event) {
	l.out = l.core.Step(l.now, ev, l.out[:0])
	for i := range l.out {
		if l.out[i].Kind == tree.ActDeliver {
			l.deliver(&l.out[i], l.out[i+1:])
		} else {
			l.act(&l.out[i])
		}
		l.out[i] = tree.Action{}
	}
	for len(l.levels) > 0 {
		s := l.levels[len(l.levels)-1]
		l.levels = l.levels[:len(l.levels)-1]
		l.queueLevel(s)
	}
	if l.regroup {
		l.regroup = false
		l.regrouped()
	}
}

// push notes that a stream's queue has something new. Its writer is woken when the
// loop has done all it has to do, so that it finds as much as there is; but at once
// for a lone chunk, which is to go on before this node looks at it.
func (l *loop) push(s *stream) {
	s.waits = 0
	if l.lone {
		s.out.signal()
	} else if !s.pushed {
		s.pushed = true
		l.pushed = append(l.pushed, s)
	}
}

// hold is push of a frame that may wait for more: as many bytes as are worth a write,
// or a while. What has waited for most of it goes with the next frame that comes, as to
// wake for it alone costs more.
func (l *loop) hold(s *stream, size int, wait time.Duration) {
	if s.waits += size; s.waits >= heldBytes {
		l.push(s)
		return
	}
	if !s.held {
		s.held = true
		l.held = append(l.held, s)
		l.until = earlier(l.until, l.now.Add(wait))
	}
	if l.until.Sub(l.now) <= wait/4 {
		l.until = l.now
	}
}

// letGo has the frames written that have waited long enough.
func (l *loop) letGo() {
	if l.until.IsZero() || l.now.Before(l.until) {
		return
	}
	l.until = time.Time{}
	for i, s := range l.held {
		s.held = false
		if s.waits > 0 {
			l.push(s)
		}
		l.held[i] = nil
	}
	l.held = l.held[:0]
}

func (l *loop) wakeWriters() {
	for i, s := range l.pushed {
		s.pushed = false
		s.out.signal()
		l.pushed[i] = nil
	}
	l.pushed = l.pushed[:0]
}

// earlier is the earlier of two times of which zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// batch brings a reader's frames to the core.
func (l *loop) batch(b *batch) {
	if b.answer != nil {
		l.answer(b)
		return
	}
	s := b.s
	if s.link != nil {
		s.link.seen(l.now)
	}
	for i := range b.n {
		if s.gone {
			break
		}
		f := &b.frames[i]
		l.frame = tree.Frame{Stream: s.id, Msg: &f.msg}
		if f.msg.Kind == wire.KindSoc {
			l.frame.Chunk = l.chunks.add(f.buf, &f.msg.Soc, s.overlay)
			f.buf = nil // the table's now
			l.sent(s, &f.msg.Soc)
		}
		l.step(&l.frame)
	}
	if b.ended {
		l.ended(s, b.cause)
	}
	b.free()
}

// ended tells the core that a stream is gone, unless it ended it itself.
func (l *loop) ended(s *stream, cause tree.EndCause) {
	if s.gone {
		return
	}
	l.forget(s)
	l.step(tree.StreamEnded{Stream: s.id, Cause: cause})
}

// forget takes a stream out of the loop's hands.
func (l *loop) forget(s *stream) {
	s.gone = true
	delete(l.streams, s.id)
	l.c.queues.remove(&s.out)
	if s.link != nil {
		l.c.n.links.unwatch(s.link, l.c)
		s.link = nil
	}
	l.c.active(l.now)
}

// attach keeps the connection of a parent or child alive and watched.
func (l *loop) attach(s *stream) {
	s.link = l.c.n.links.watch(s.peer, l.c)
}

// admit takes a stream whose first frame was read, under a fresh ID.
func (l *loop) admit(s *stream) {
	l.lastStream++
	s.id = l.lastStream
	l.streams[s.id] = s
	l.c.queues.add(&s.out)
	l.c.active(l.now)
}

// queueLevel tells the core the level of a stream's queue, if it knows another.
func (l *loop) queueLevel(s *stream) {
	if s.gone {
		return
	}
	level, _, _ := s.out.fill()
	if level == s.told {
		return
	}
	s.told = level
	l.step(tree.Queue{Stream: s.id, Level: level})
}

// verdicts brings the results of checks to the core, in the order asked.
func (l *loop) verdicts() {
	l.jobs = l.c.checks.take(l.jobs[:0])
	for i, j := range l.jobs {
		l.checked(j)
		l.jobs[i] = nil
	}
	l.answersJudged()
}

// checked brings the results of one job to the core.
func (l *loop) checked(j *checkJob) {
	l.asked -= j.n
	for k := range j.n {
		c := &j.checks[k]
		l.result = tree.Verified{Chunk: c.chunk, Verdict: c.verdict, CAC: c.cac}
		l.step(&l.result)
	}
	l.judged += uint64(j.n)
	j.free()
}

func (l *loop) runTasks() {
	l.tasks = l.c.box.take(l.tasks[:0])
	for i, task := range l.tasks {
		task()
		l.tasks[i] = nil
	}
}

// verify adds a chunk to the job that submit will hand over.
func (l *loop) verify(id tree.ChunkID, signed *[32]byte) {
	held := l.chunks.get(id)
	if l.job == nil {
		l.job = checkJobs.Get().(*checkJob)
		l.job.owner = &l.c.checks
	}
	k := &l.job.checks[l.job.n]
	k.chunk, k.buf, k.soc, k.id = id, held.buf.Retain(), held.soc, *signed
	l.job.n++
	l.asked++
	l.questions++
	if l.job.n == checkBatch {
		l.submit()
	}
}

// submit has the job that verify filled checked: by the verifiers, unless it is one
// chunk and nothing waits, neither for its check nor to be read. Then it is checked
// here, as waking two goroutines costs a good part of a check. So a cohort with
// little to do has no hand-overs, and one with much has batches. Not in the midst
// of actions, unless the job is full.
func (l *loop) submit() {
	for l.job != nil {
		j := l.job
		l.job = nil
		if l.asked > 1 || len(l.c.frames) > 0 {
			l.c.n.verifier.submit(j)
			return
		}
		l.c.n.verifier.check(j, l.alone[:])
		l.lone = true
		l.checked(j)
		l.lone = false
		l.answersJudged()
	}
}

// end takes the cohort down: what was posted still reaches the core, then every
// stream is reset and every waiter told.
func (l *loop) end() {
	l.now = time.Now()
	l.c.box.close()
	l.runTasks()
	if l.job != nil {
		l.job.free()
		l.job = nil
	}
	for _, cancel := range l.dials {
		cancel()
	}
	clear(l.dials)
	for _, s := range l.streams {
		l.forget(s)
		s.reset(0)
	}
	for _, done := range l.receipts {
		done(ErrClosed)
	}
	clear(l.receipts)
	l.endRecovery()
	l.c.last.view, l.c.last.counters = l.core.View(), l.core.Counters()
	l.c.checks.close()
	l.chunks.clear()
	close(l.c.done)
}
