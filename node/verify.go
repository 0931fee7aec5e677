package node

import (
	"errors"
	"sync"

	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// checkBatch is how many chunks go to a verifier together: as many as share the
// inversions of their signatures' checks, few enough that a burst keeps all CPUs
// busy.
const checkBatch = soc.BatchSize

// check is one chunk to verify. It holds a reference, as the core may release
// the chunk meanwhile.
type check struct {
	chunk   tree.ChunkID
	buf     *wire.Buf
	soc     wire.Soc
	id      [32]byte // the signed one; soc.ID may be a shorter form
	verdict tree.Verdict
	cac     [32]byte
}

// settle takes the answer to the check.
func (k *check) settle(c *soc.Check) {
	switch {
	case c.Err == nil:
		k.verdict, k.cac = tree.VerdictValid, c.CAC
	case errors.Is(c.Err, soc.ErrForged):
		k.verdict = tree.VerdictForged
	default:
		k.verdict = tree.VerdictNonCanonical
	}
}

// checkJob is a batch of one cohort's checks.
type checkJob struct {
	owner  *checkList
	checks [checkBatch]check
	n      int
	done   bool // guarded by owner.mu
}

var checkJobs = sync.Pool{New: func() any { return new(checkJob) }}

// run verifies the job's chunks, in a batch that is the caller's to lend.
func (j *checkJob) run(o *owners, batch []soc.Check) {
	for i := range j.n {
		k := &j.checks[i]
		batch[i].Chunk = soc.Chunk{ID: k.id[:], Owner: k.soc.Owner, Signature: k.soc.Signature, Span: k.soc.Span, Payload: k.soc.Payload}
	}
	o.verify(batch[:j.n])
	for i := range j.n {
		j.checks[i].settle(&batch[i])
	}
	clear(batch[:j.n]) // it keeps neither chunks nor keys
}

// free releases what the job holds and gives it back.
func (j *checkJob) free() {
	for i := range j.n {
		j.checks[i].buf.Release()
		j.checks[i] = check{}
	}
	*j = checkJob{checks: j.checks}
	checkJobs.Put(j)
}

// A checkList puts the results of one cohort's jobs back into the order in which
// they were asked for. The loop asks and takes; verifiers finish.
type checkList struct {
	wake func() // tells the loop that take has something

	mu     sync.Mutex
	asked  []*checkJob // in order, the first not finished
	ready  []*checkJob // in order
	closed bool
}

// finish is called by a verifier when j is checked.
func (l *checkList) finish(j *checkJob) {
	l.mu.Lock()
	j.done = true
	n := 0
	for n < len(l.asked) && l.asked[n].done {
		n++
	}
	if l.closed {
		for _, done := range l.asked[:n] {
			done.free()
		}
	} else {
		l.ready = append(l.ready, l.asked[:n]...)
	}
	rest := copy(l.asked, l.asked[n:])
	clear(l.asked[rest:])
	l.asked = l.asked[:rest]
	closed := l.closed
	l.mu.Unlock()
	if n > 0 && !closed {
		l.wake()
	}
}

// take moves the finished jobs to dst.
func (l *checkList) take(dst []*checkJob) []*checkJob {
	l.mu.Lock()
	defer l.mu.Unlock()
	dst = append(dst, l.ready...)
	clear(l.ready)
	l.ready = l.ready[:0]
	return dst
}

// close drops what is ready and what will be.
func (l *checkList) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, j := range l.ready {
		j.free()
	}
	l.ready = nil
}

// verifier is the pool of goroutines that check chunks for all cohorts, in the
// order of submission. It never waits for anybody but its own work, so a loop may
// submit without a bound of its own here: each bounds what it has asked.
type verifier struct {
	owners *owners

	wg   sync.WaitGroup
	mu   sync.Mutex
	cond sync.Cond
	jobs []*checkJob
	head int // jobs before it are taken
	end  bool
}

func newVerifier(workers int, o *owners) *verifier {
	v := &verifier{owners: o}
	v.cond.L = &v.mu
	for range workers {
		v.wg.Go(v.work) // ends after close
	}
	return v
}

// submit hands over a job, in order of its owner's other jobs.
func (v *verifier) submit(j *checkJob) {
	j.owner.mu.Lock()
	j.owner.asked = append(j.owner.asked, j)
	j.owner.mu.Unlock()
	v.mu.Lock()
	if v.head > 0 && len(v.jobs) == cap(v.jobs) {
		n := copy(v.jobs, v.jobs[v.head:])
		clear(v.jobs[n:])
		v.jobs, v.head = v.jobs[:n], 0
	}
	v.jobs = append(v.jobs, j)
	v.mu.Unlock()
	v.cond.Signal()
}

func (v *verifier) work() {
	var batch [checkBatch]soc.Check
	for {
		v.mu.Lock()
		for v.head == len(v.jobs) && !v.end {
			v.cond.Wait()
		}
		if v.head == len(v.jobs) {
			v.mu.Unlock()
			return
		}
		j := v.jobs[v.head]
		v.jobs[v.head] = nil
		v.head++
		if v.head == len(v.jobs) {
			v.jobs, v.head = v.jobs[:0], 0
		}
		v.mu.Unlock()
		v.check(j, batch[:])
		j.owner.finish(j)
	}
}

// check does a job, in a batch of at least its size that is the caller's to lend.
func (v *verifier) check(j *checkJob, batch []soc.Check) {
	j.run(v.owners, batch)
	v.owners.counts.addN(countChecked, j.n)
}

// close finishes what was submitted and ends the goroutines. Nothing may be
// submitted any more.
func (v *verifier) close() {
	v.mu.Lock()
	v.end = true
	v.mu.Unlock()
	v.cond.Broadcast()
	v.wg.Wait()
}
