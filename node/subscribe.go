package node

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
)

const (
	// DefaultBuffer is how many messages a subscription holds for its consumer.
	DefaultBuffer = 8192
	// subscriptionBytes bounds the payload bytes that it holds.
	subscriptionBytes = 32 << 20
)

// SubscribeOptions are the bounds of one subscription.
type SubscribeOptions struct {
	// Buffer is how many messages wait for the consumer before the subscription
	// ends with ErrSlow; 0 = DefaultBuffer. Their payloads may together have 32 MiB.
	Buffer int
	// Gaps asks for messages that tell of gaps, between those of the chunks around
	// them. Without it gaps are counted and logged alone.
	Gaps bool
}

// A Subscription is one consumer of a cohort's messages, each chunk once. Chunks
// with a feed index come in the order of their owner's indices: what is missing
// is waited for, at most 2 s and 16 MiB, then it is a gap (PROTOCOL §8). Others come
// in the order in which this node verified them. Its queue is its own: a consumer
// that does not keep up loses the subscription, not the tree its pace.
type Subscription struct {
	c     *Cohort
	limit int
	gaps  bool
	wake  chan struct{} // capacity 1

	mu    sync.Mutex
	queue []Message
	head  int // messages before it are taken
	bytes int
	err   error // set once: no message comes any more
}

// subscriptions is the set of a cohort's. The loop reads it without a lock.
type subscriptions struct {
	list atomic.Pointer[[]*Subscription]

	mu     sync.Mutex
	closed bool
}

func (x *subscriptions) add(s *Subscription) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return false
	}
	var list []*Subscription
	if old := x.list.Load(); old != nil {
		list = append(list, *old...)
	}
	list = append(list, s)
	x.list.Store(&list)
	return true
}

func (x *subscriptions) remove(s *Subscription) {
	x.mu.Lock()
	defer x.mu.Unlock()
	old := x.list.Load()
	if old == nil {
		return
	}
	list := make([]*Subscription, 0, len(*old))
	for _, o := range *old {
		if o != s {
			list = append(list, o)
		}
	}
	x.list.Store(&list)
}

// close ends all of them; what they hold can still be read.
func (x *subscriptions) close() {
	x.mu.Lock()
	x.closed = true
	list := x.list.Swap(nil)
	x.mu.Unlock()
	if list != nil {
		for _, s := range *list {
			s.end(ErrClosed, false)
		}
	}
}

// Subscribe starts a subscription: it gets every message that is delivered from
// now on. The error is ErrClosed if the cohort is.
func (c *Cohort) Subscribe(opt SubscribeOptions) (*Subscription, error) {
	s := &Subscription{c: c, limit: opt.Buffer, gaps: opt.Gaps, wake: make(chan struct{}, 1)}
	if s.limit <= 0 {
		s.limit = DefaultBuffer
	}
	if !c.subs.add(s) {
		return nil, ErrClosed
	}
	return s, nil
}

// push takes over one reference to m. False says that this message ended the
// subscription.
func (s *Subscription) push(m Message) bool {
	s.mu.Lock()
	switch {
	case s.err != nil:
		s.mu.Unlock()
		m.Release()
		return true
	case len(s.queue)-s.head >= s.limit || s.bytes+len(m.Payload) > subscriptionBytes:
		s.mu.Unlock()
		m.Release()
		s.end(ErrSlow, false)
		s.c.subs.remove(s)
		return false
	}
	if s.head > 0 && len(s.queue) == cap(s.queue) {
		n := copy(s.queue, s.queue[s.head:])
		clear(s.queue[n:])
		s.queue, s.head = s.queue[:n], 0
	}
	s.queue = append(s.queue, m)
	s.bytes += len(m.Payload)
	s.mu.Unlock()
	s.signal()
	return true
}

func (s *Subscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// end lets nothing in any more; with drop, what is inside goes too.
func (s *Subscription) end(err error, drop bool) {
	s.mu.Lock()
	if s.err == nil {
		s.err = err
	}
	if drop {
		for _, m := range s.queue[s.head:] {
			m.Release()
		}
		s.queue, s.head, s.bytes = nil, 0, 0
	}
	s.mu.Unlock()
	s.signal()
}

// Next returns the next message and waits for it. After the last one the error
// is ErrSlow or ErrClosed, or else ctx's. One consumer at a time may call it.
func (s *Subscription) Next(ctx context.Context) (Message, error) {
	for {
		s.mu.Lock()
		if s.head < len(s.queue) {
			m := s.queue[s.head]
			s.queue[s.head] = Message{}
			s.head++
			s.bytes -= len(m.Payload)
			if s.head == len(s.queue) {
				s.queue, s.head = s.queue[:0], 0
			}
			s.mu.Unlock()
			return m, nil
		}
		err := s.err
		s.mu.Unlock()
		if err != nil {
			return Message{}, err
		}
		over := ctx.Done()
		if over == nil { // one channel alone is cheaper to wait on
			<-s.wake
			continue
		}
		select {
		case <-s.wake:
		case <-over:
			return Message{}, ctx.Err()
		}
	}
}

// All ranges over the messages until an error, which comes last, with a zero
// Message. Breaking off leaves the subscription as it is.
func (s *Subscription) All(ctx context.Context) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for {
			m, err := s.Next(ctx)
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// Close ends the subscription and releases what it holds. Twice is fine.
func (s *Subscription) Close() {
	s.c.subs.remove(s)
	s.end(ErrClosed, true)
}

// Handle calls fn with each message that is delivered from now on, in order,
// from one goroutine; the message is released when fn returns. A handler that
// falls behind by more than DefaultBuffer messages gets no more. stop ends it and
// waits for a call under way, so fn must not call it, nor close the cohort.
func (c *Cohort) Handle(fn func(Message)) (stop func()) {
	s, err := c.Subscribe(SubscribeOptions{})
	if err != nil || !c.n.enter() {
		return func() {}
	}
	ended := make(chan struct{})
	go func() { // ends with the subscription, or by stop; the node's Close waits for it
		defer c.n.wg.Done()
		defer close(ended)
		for m, err := range s.All(context.Background()) {
			if err != nil {
				return
			}
			fn(m)
			m.Release()
		}
	}()
	return func() {
		s.Close()
		<-ended
	}
}
