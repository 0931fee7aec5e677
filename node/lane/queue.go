package lane

import (
	"sync"

	"treecast/wire/beef"
)

// delivery is one record for one consumer: a head of its own and the payload that
// it shares with every other consumer of the object.
type delivery struct {
	head    [beef.HeaderSize]byte // large enough for either format
	headLen int
	payload []byte  // read-only
	shared  *shared // whose payload it is; nil: memory of its own
}

func (d *delivery) size() int64 { return int64(d.headLen + len(d.payload)) }

// queue is the bounded queue of one consumer, between the cohort's hand-over and
// the consumer's writer. Putting never blocks. What the writer has not written
// whole stays at the front, so a dialled consumer that comes back misses nothing.
// It is safe for concurrent use by any number of putters and one writer.
type queue struct {
	limit int64         // bytes waiting, heads included
	wake  chan struct{} // holds one token while the writer may have work

	mu     sync.Mutex
	items  []delivery // items[head:] are waiting
	head   int
	first  uint64 // number of items[head], counted from the start of the queue
	bytes  int64
	closed bool
}

func newQueue(limit int64) *queue {
	return &queue{limit: limit, wake: make(chan struct{}, 1)}
}

// put appends d and returns true, or takes nothing and returns false when d does
// not fit. A closed queue forgets what it is given.
func (q *queue) put(d *delivery) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return true
	}
	if q.bytes+d.size() > q.limit {
		return false
	}
	q.items = append(q.items, *d)
	q.bytes += d.size()
	q.signal()
	return true
}

// front appends to dst the oldest records, at most most of them and none beyond
// the one that reaches size bytes. They stay in the queue; first is the number of
// the first of them.
func (q *queue) front(dst []delivery, most int, size int64) (batch []delivery, first uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range q.items[q.head:] {
		if len(dst) == most || size <= 0 {
			break
		}
		dst = append(dst, d)
		size -= d.size()
	}
	return dst, q.first
}

// advance removes the records before number next. What a clear has removed
// meanwhile is not removed twice.
func (q *queue) advance(next uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.first < next && q.head < len(q.items) {
		q.bytes -= q.items[q.head].size()
		q.items[q.head] = delivery{}
		q.head++
		q.first++
	}
	switch {
	case q.head == len(q.items):
		q.items, q.head = q.items[:0], 0
	case q.head > len(q.items)/2:
		kept := copy(q.items, q.items[q.head:])
		clear(q.items[kept:])
		q.items, q.head = q.items[:kept], 0
	}
}

// clear empties the queue and returns how many records it threw away.
func (q *queue) clear() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.items) - q.head
	q.items, q.head, q.bytes = nil, 0, 0
	q.first += uint64(n)
	return n
}

// close makes the queue refuse what comes from now on. The writer may still take
// what is there.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signal()
}

// drained reports that the queue is closed and empty.
func (q *queue) drained() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed && q.head == len(q.items)
}

// fill returns how many records are waiting and their bytes.
func (q *queue) fill() (records int, size int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items) - q.head, q.bytes
}

// signal leaves the token for the writer. The channel holds one, so this never
// blocks although mu is held.
func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
