package sink

import (
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// result is what became of one message that was sent.
type result struct {
	msg *nats.Msg
	ack *jetstream.PubAck // nil with an error
	err error
}

// results are those that run has not seen. The client's goroutines add to them,
// no more than there are messages under way.
type results struct {
	wake chan struct{} // holds a token when there are any

	mu   sync.Mutex
	list []result
}

func (r *results) add(one result) {
	r.mu.Lock()
	r.list = append(r.list, one)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// take returns all of them, and takes over spare for those to come.
func (r *results) take(spare []result) []result {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.list
	r.list = spare[:0]
	return list
}
