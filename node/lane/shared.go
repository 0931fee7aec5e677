package lane

import (
	"sync"
	"sync/atomic"

	"treecast/wire/beef"
)

// shared is a payload put together from fragments, which deliveries share. Its memory
// goes back to the reassembler when the last of its users is done with it. A user
// that cannot tell whether somebody still reads it is never done, and leaves the
// memory to the collector: that is always right, if not as cheap.
type shared struct {
	payload []byte
	users   atomic.Int32
	home    *handedBack
}

// newShared is one with one user, who made it.
func newShared(payload []byte, home *handedBack) *shared {
	s := &shared{payload: payload, home: home}
	s.users.Store(1)
	return s
}

// use adds a user; the caller is one. A nil one is memory that nobody shares.
func (s *shared) use() {
	if s != nil {
		s.users.Add(1)
	}
}

// done takes a user away, who does not read the payload any more.
func (s *shared) done() {
	if s != nil && s.users.Add(-1) == 0 {
		s.home.put(s.payload)
	}
}

// handedBack are payloads on their way back to the reassembler, which has one user at a
// time, from the goroutines that wrote them: at most beef.DefaultSpare bytes, which is
// all that the reassembler keeps.
type handedBack struct {
	mu    sync.Mutex
	list  [][]byte
	bytes int64
}

// maxHandedBack bounds how many payloads wait, which may be small.
const maxHandedBack = 32

// put leaves a payload, or drops it where enough wait.
func (h *handedBack) put(payload []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	size := int64(cap(payload))
	if len(h.list) == maxHandedBack || h.bytes+size > beef.DefaultSpare {
		return
	}
	h.list = append(h.list, payload)
	h.bytes += size
}

// giveTo gives everything that waits to the reassembler.
func (h *handedBack) giveTo(r *beef.Reassembler) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, payload := range h.list {
		r.Recycle(payload)
		h.list[i] = nil
	}
	h.list, h.bytes = h.list[:0], 0
}
