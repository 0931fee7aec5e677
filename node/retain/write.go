package retain

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"treecast/wire"
)

const (
	// batchTasks and batchBytes bound what is written at once.
	batchTasks = 1024
	batchBytes = 4 << 20
	// lull is how long marks wait for a message that they can be written with.
	lull = 50 * time.Millisecond
	// ageEvery is how often messages that have become too old are looked for.
	ageEvery = time.Minute
	// dropBatch is how many receipts are removed at once.
	dropBatch = 64
	// maxVoids bounds the void ranges of a feed; of more the oldest are forgotten.
	maxVoids = 256
)

// A task is a message to keep, a void range, or somebody who waits.
type task struct {
	feed  feedKey
	index uint64
	buf   *wire.Buf // of a message
	void  wire.IndexRange
	done  func(error) // of somebody who waits
	sync  bool
}

// writing is what the writing goroutine alone knows.
type writing struct {
	heads  map[feedKey]head
	next   uint64 // number of the next receipt
	oldest uint64 // number of the oldest receipt
	bytes  uint64 // kept
	aged   time.Time
}

// head is the highest index of a feed that was written.
type head struct {
	index uint64
	any   bool
}

// Put has a message kept: buf holds it, and the store takes over one reference.
// One that is there under that index stays. False: it will not be kept, because
// too much waits to be written and nobody needs it confirmed, or the store is
// closed.
func (s *Store) Put(topic wire.Topic, owner wire.Owner, index uint64, buf *wire.Buf, confirmed bool) bool {
	size := int64(len(buf.Msg()))
	s.mu.Lock()
	if s.closed || !confirmed && s.waiting+size > s.cfg.QueueBytes {
		s.mu.Unlock()
		buf.Release()
		s.dropped.Add(1)
		return false
	}
	s.waiting += size
	s.queue = append(s.queue, task{feed: feedKey{topic, owner}, index: index, buf: buf})
	s.mu.Unlock()
	s.signal()
	return true
}

// AddVoid keeps a void range.
func (s *Store) AddVoid(topic wire.Topic, owner wire.Owner, r wire.IndexRange) {
	s.enqueue(task{feed: feedKey{topic, owner}, void: r, sync: true})
}

// After calls done, once and from the store's goroutine, when all that was given
// to the store before is written and the store is within its bounds; with sync, when it would survive the machine's
// end. Calls come in order. On a closed store done is called at once, with an
// error.
func (s *Store) After(sync bool, done func(error)) {
	if !s.enqueue(task{done: done, sync: sync}) {
		done(errClosed)
	}
}

var errClosed = errors.New("retain: store closed")

func (s *Store) enqueue(t task) bool {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	s.queue = append(s.queue, t)
	s.mu.Unlock()
	s.signal()
	return true
}

// run is the goroutine that writes.
func (s *Store) run() {
	timer := time.NewTimer(lull)
	defer timer.Stop()
	var tasks []task
	for {
		var marks map[feedKey]mark
		var end bool
		tasks, marks, end = s.take(tasks[:0])
		switch {
		case len(tasks) > 0:
			s.write(tasks, marks)
			clear(tasks)
			continue
		case end:
			if len(marks) > 0 {
				s.write(nil, marks)
			}
			return
		}
		select {
		case <-s.wake:
			timer.Reset(lull)
		case <-timer.C:
			s.mu.Lock()
			if len(s.queue) == 0 {
				marks = s.takeMarks()
			}
			s.mu.Unlock()
			if len(marks) > 0 {
				s.write(nil, marks)
			}
			s.evict(time.Now())
			timer.Reset(ageEvery)
		}
	}
}

// take moves the first tasks of the queue to dst, and the marks if these are all the
// tasks there are, or it is the end: a mark tells of messages that came before it.
func (s *Store) take(dst []task) (_ []task, marks map[feedKey]mark, end bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := 0
	n := 0
	for ; n < len(s.queue) && n < batchTasks && size < batchBytes; n++ {
		if b := s.queue[n].buf; b != nil {
			size += len(b.Msg())
		}
	}
	dst = append(dst, s.queue[:n]...)
	s.written = dst
	rest := copy(s.queue, s.queue[n:])
	clear(s.queue[rest:])
	s.queue = s.queue[:rest]
	s.waiting -= int64(size)
	if len(s.queue) == 0 && (n > 0 || s.closed) {
		marks = s.takeMarks()
	}
	return dst, marks, s.closed
}

// write writes tasks and marks as one, brings the store back under its bounds and
// then tells those who wait.
func (s *Store) write(tasks []task, marks map[feedKey]mark) {
	b := s.db.NewBatch()
	sync := false
	r := receipt{time: time.Now().UnixNano()}
	var err error
	for i := range tasks {
		t := &tasks[i]
		sync = sync || t.sync
		switch {
		case t.buf != nil:
			err = errors.Join(err, s.writeMessage(b, t, &r))
		case t.done == nil:
			err = errors.Join(err, s.writeVoid(b, t))
		}
	}
	if len(r.runs) > 0 {
		err = errors.Join(err, b.Set(receiptKey(s.next), r.append(nil), nil))
		s.next++
		s.bytes += r.bytes
	}
	for k, m := range marks {
		err = errors.Join(err, b.Set(k.append(nil, kindMark), m.append(nil), nil))
	}
	how := pebble.NoSync
	if sync {
		how = pebble.Sync
		err = errors.Join(err, b.LogData([]byte{0}, nil)) // an empty batch would sync nothing
	}
	if err = errors.Join(err, b.Commit(how), b.Close()); err != nil {
		err = fmt.Errorf("retain: write: %w", err)
		s.cfg.Log.Error("messages not kept", "err", err)
	}
	s.done(tasks)
	s.kept.Store(int64(s.bytes))
	s.evict(time.Now())
	for i := range tasks {
		if done := tasks[i].done; done != nil {
			done(err)
		}
	}
}

// done lets the messages of tasks go: they are read from db from now on.
func (s *Store) done(tasks []task) {
	s.mu.Lock()
	s.written = nil
	s.mu.Unlock()
	for i := range tasks {
		if t := &tasks[i]; t.buf != nil {
			t.buf.Release()
		}
	}
}

// writeMessage adds a message to b, unless it is there.
func (s *Store) writeMessage(b *pebble.Batch, t *task, r *receipt) error {
	h, err := s.head(&t.feed)
	if err != nil {
		return err
	}
	key := t.feed.at(kindChunk, t.index)
	if h.any && t.index <= h.index { // rare: late, recovered, or again after a restart
		if r.has(&t.feed, t.index) {
			return nil
		}
		_, closer, err := s.db.Get(key)
		if err == nil {
			return closer.Close()
		}
		if !errors.Is(err, pebble.ErrNotFound) {
			return err
		}
	}
	if !h.any || t.index > h.index {
		s.heads[t.feed] = head{t.index, true}
	}
	msg := t.buf.Msg()
	r.note(&t.feed, t.index, len(msg))
	return b.Set(key, msg, nil)
}

// maxFeeds bounds the feeds whose head is remembered; of more, all are looked up
// again.
const maxFeeds = 1 << 16

func (s *Store) head(k *feedKey) (head, error) {
	if h, ok := s.heads[*k]; ok {
		return h, nil
	}
	if len(s.heads) >= maxFeeds {
		clear(s.heads)
	}
	prefix := k.append(nil, kindChunk)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
	if err != nil {
		return head{}, err
	}
	var h head
	if it.Last() {
		h = head{indexOf(it.Key()), true}
	}
	s.heads[*k] = h
	return h, it.Close()
}

func (s *Store) writeVoid(b *pebble.Batch, t *task) error {
	list, err := s.Voids(t.feed.topic, t.feed.owner)
	if err != nil {
		return err
	}
	for i := 0; len(list)-i >= maxVoids; i++ {
		if err := b.Delete(t.feed.at(kindVoid, list[i].From), nil); err != nil {
			return err
		}
	}
	return b.Set(t.feed.at(kindVoid, t.void.From), binary.BigEndian.AppendUint64(nil, t.void.To), nil)
}
