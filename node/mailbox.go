package node

import "sync"

// A mailbox brings work into one goroutine from everywhere else without anybody
// waiting. It has no bound of its own: what may be in it at once is bounded by
// those who post, one task a stream, dial, publication or call.
type mailbox struct {
	wake chan struct{} // capacity 1: take has something, or did

	mu     sync.Mutex
	tasks  []func()
	closed bool
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

// post adds a task. False says that the box is closed and the task will not run.
func (m *mailbox) post(task func()) bool {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return false
	}
	m.tasks = append(m.tasks, task)
	m.mu.Unlock()
	m.signal()
	return true
}

func (m *mailbox) signal() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// take moves the tasks to dst, which is returned.
func (m *mailbox) take(dst []func()) []func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	dst = append(dst, m.tasks...)
	clear(m.tasks)
	m.tasks = m.tasks[:0]
	return dst
}

// close lets no task in any more; those inside can still be taken.
func (m *mailbox) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.signal()
}

// waiting is how many tasks nobody took yet.
func (m *mailbox) waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.tasks)
}

func (m *mailbox) isClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}
