package node

import "sync"

// queues are those of a cohort's streams. The loop adds and removes them; the node's
// upkeep looks at them without the loop, which so sleeps on when nothing happens,
// in each of the cohorts there may be.
type queues struct {
	mu   sync.Mutex
	list map[*queue]struct{}
}

func (x *queues) add(q *queue) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.list == nil {
		x.list = make(map[*queue]struct{})
	}
	x.list[q] = struct{}{}
}

func (x *queues) remove(q *queue) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.list, q)
}

func (x *queues) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.list)
}

// bytes is how much of frames they hold: what the longest one does, as the others
// hold references to the same buffers.
func (x *queues) bytes() (most int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for q := range x.list {
		_, _, bytes := q.fill()
		most = max(most, bytes)
	}
	return most
}
