package sim

// An eventKind says what an event does to its node.
type eventKind uint8

const (
	evFrame       eventKind = iota // arg: frame; ref: stream
	evEnd                          // arg: endCause; ref: stream
	evArrive                       // a Subscribe reaches the acceptor; ref: stream
	evUnreachable                  // a dial failed; arg: tree.DialOutcome; ref: stream
	evAckTimeout                   // ref: stream
	evTick
	evJoin
	evDiscover
	evDie   // arg: 1 = silently
	evLeave // gracefully
	evGone  // a leaver's patience is over
	evPublish
	evCut // arg: 1 = begins, 0 = ends
)

// event is one thing to come, 32 bytes and free of pointers, so that a queue of
// a million costs the collector nothing.
type event struct {
	at   int64 // ns since the start
	seq  uint64
	ref  uint64
	node int32
	arg  int32
}

// The kind shares a word with the serial number.
func (e *event) kind() eventKind { return eventKind(e.seq) }

func (e *event) before(f *event) bool { return e.at < f.at || e.at == f.at && e.seq < f.seq }

// queue is a heap of four branches, ordered by time and then by the order in
// which events were put in.
type queue struct {
	heap []event
	seq  uint64
}

func (q *queue) len() int { return len(q.heap) }

func (q *queue) push(kind eventKind, e event) {
	q.seq++
	e.seq = q.seq<<8 | uint64(kind)
	i := len(q.heap)
	q.heap = append(q.heap, e)
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&q.heap[up]) {
			break
		}
		q.heap[i] = q.heap[up]
		i = up
	}
	q.heap[i] = e
}

func (q *queue) pop() event {
	top := q.heap[0]
	n := len(q.heap) - 1
	last := q.heap[n]
	q.heap = q.heap[:n]
	if n == 0 {
		return top
	}
	i := 0
	for {
		first := 4*i + 1
		if first >= n {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, n); c++ {
			if q.heap[c].before(&q.heap[least]) {
				least = c
			}
		}
		if !q.heap[least].before(&last) {
			break
		}
		q.heap[i] = q.heap[least]
		i = least
	}
	q.heap[i] = last
	return top
}
