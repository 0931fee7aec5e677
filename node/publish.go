package node

import (
	"context"
	"fmt"
	"sync"

	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// gate holds publications back while the core says so (PROTOCOL §5 Pace).
type gate struct {
	mu   sync.Mutex
	hold bool
	open chan struct{} // closed when hold ends; nil: nobody waits
}

func (g *gate) set(hold bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hold = hold
	if !hold && g.open != nil {
		close(g.open)
		g.open = nil
	}
}

// closed is nil when the gate is open, or a channel to wait for that on.
func (g *gate) closed() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.hold {
		return nil
	}
	if g.open == nil {
		g.open = make(chan struct{})
	}
	return g.open
}

// publishing is what publications of a cohort wait on.
type publishing struct {
	gate     gate
	slots    chan struct{} // one each publication under way
	notifier notifier
}

// notifier calls back the application, in order, from a goroutine of its own, as
// the loop must not wait for it. It starts with the first call.
type notifier struct {
	once sync.Once
	wg   sync.WaitGroup
	box  *mailbox
}

// start runs the goroutine, once.
func (x *notifier) start() {
	x.once.Do(func() {
		x.box = newMailbox()
		x.wg.Go(x.run) // ends after close
	})
}

func (x *notifier) run() {
	var tasks []func()
	for range x.box.wake {
		end := x.box.isClosed() // before take, so that nothing is left behind
		tasks = x.box.take(tasks[:0])
		for i, task := range tasks {
			task()
			tasks[i] = nil
		}
		if end {
			return
		}
	}
}

// maxReports bounds the reports that wait for the application.
const maxReports = 256

// report has task called like call does, unless too much waits already.
func (x *notifier) report(task func()) bool {
	x.start()
	if x.box.waiting() >= maxReports {
		return false
	}
	x.box.post(task)
	return true
}

// call has task called after those before it; once the notifier is closed, at
// once and by the caller.
func (x *notifier) call(task func()) {
	if !x.box.post(task) {
		task()
	}
}

// close calls back what is left and ends the goroutine.
func (x *notifier) close() {
	x.once.Do(func() { x.box = newMailbox() })
	x.box.close()
	x.wg.Wait()
}

// slot waits until one more publication may be under way.
func (c *Cohort) slot(ctx context.Context) error {
	for {
		held := c.gate.closed()
		if held == nil {
			break
		}
		select {
		case <-held:
		case <-c.done:
			return ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-c.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// publish gives a chunk to the core and has done called once, from the loop, with
// what came of it. The caller has a slot; it is free again after done.
func (c *Cohort) publish(chunk *wire.Soc, done func(error)) {
	buf := c.n.pool.Soc(chunk)
	var msg wire.Broadcast
	if err := msg.Parse(buf.Msg()); err != nil {
		panic(fmt.Sprintf("node: own chunk does not decode: %v", err))
	}
	l := c.loop
	if !c.box.post(func() {
		l.lastReq++
		l.receipts[l.lastReq] = done
		c.active(l.now)
		l.step(&tree.Publish{Request: l.lastReq, Chunk: l.chunks.add(buf, &msg.Soc, wire.Overlay{}), Soc: &msg.Soc})
	}) {
		buf.Release()
		done(ErrClosed)
	}
}

// publishWait publishes and waits for the receipt.
func (c *Cohort) publishWait(ctx context.Context, chunk *wire.Soc) error {
	if err := c.slot(ctx); err != nil {
		return err
	}
	result := make(chan error, 1)
	c.publish(chunk, func(err error) {
		<-c.slots
		result <- err
	})
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Publish publishes a chunk that was signed elsewhere and waits for its receipt:
// for a broker that it was broadcast, else that it came back down. The bytes are
// copied. A refusal is a *ReceiptError; when ctx ends first the publication goes
// on all the same.
func (c *Cohort) Publish(ctx context.Context, chunk soc.Chunk) error {
	if err := soc.CheckCanonical(&chunk); err != nil {
		return fmt.Errorf("node: publish: %w", err)
	}
	return c.publishWait(ctx, &wire.Soc{
		ID: chunk.ID, Owner: chunk.Owner, Signature: chunk.Signature, Span: chunk.Span, Payload: chunk.Payload,
	})
}

// receiptError is nil for the receipts that mean it was broadcast.
func receiptError(r tree.Receipt) error {
	if r == tree.ReceiptDone {
		return nil
	}
	return &ReceiptError{Receipt: r}
}

// Publisher signs and publishes the updates of one owner's feed in a FEED_TOPIC
// cohort (PROTOCOL §4 Bindings). Its indices are reserved in blocks that are
// synced to the data directory first, so that no restart ever uses one twice.
// Its methods may be called by several goroutines.
type Publisher struct {
	c       *Cohort
	key     *soc.Key
	owner   wire.Owner
	indices *indices
	end     context.Context
	close   context.CancelFunc
}

// Publisher makes a publisher that signs with key. A topic and owner have one
// counter of indices at a time: a second Publisher for them shares it. The error
// wraps ErrNoSpec before the spec is known, and names a binding without indices.
func (c *Cohort) Publisher(key *soc.Key) (*Publisher, error) {
	v := c.View()
	switch {
	case v.Spec == nil:
		return nil, fmt.Errorf("node: publisher: %w", ErrNoSpec)
	case v.Spec.Binding != wire.BindingFeedTopic:
		return nil, fmt.Errorf("node: publisher: a cohort of binding %v has no feed indices", v.Spec.Binding)
	}
	owner := wire.Owner(key.Owner())
	var first uint64
	for _, h := range v.Heads {
		if h.Owner == owner && h.Index < maxIndex {
			first = h.Index + 1
		}
	}
	x, err := c.n.feedIndices(c.topic, owner, first)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Publisher{c: c, key: key, owner: owner, indices: x, end: ctx, close: cancel}, nil
}

// Owner is the address under which the publisher's chunks are known.
func (p *Publisher) Owner() wire.Owner { return p.owner }

// Reserve hands out n consecutive indices, the first of which it returns: each
// index once in all time, over restarts too. What is not published stays a gap.
func (p *Publisher) Reserve(n int) (first uint64, err error) {
	if p.end.Err() != nil {
		return 0, ErrClosed
	}
	return p.indices.reserve(n)
}

// sign makes the chunk of one index. The payload is not copied.
func (p *Publisher) sign(index uint64, payload []byte) (*wire.Soc, error) {
	if index > maxIndex {
		return nil, fmt.Errorf("node: publish: feed index %d", index)
	}
	id := soc.FeedID(p.c.topic[:], index)
	span := soc.Span(len(payload))
	sig, err := p.key.Sign(&id, span[:], payload)
	if err != nil {
		return nil, fmt.Errorf("node: publish: %w", err)
	}
	return &wire.Soc{
		ID: id[:], Owner: p.owner[:], Signature: sig[:], Span: span[:], Payload: payload,
		Index: index, HasIndex: true,
	}, nil
}

// PublishAt publishes payload, 1..4096 bytes, under an index that Reserve gave,
// and waits for the receipt as Cohort.Publish does.
func (p *Publisher) PublishAt(ctx context.Context, index uint64, payload []byte) error {
	if p.end.Err() != nil {
		return ErrClosed
	}
	chunk, err := p.sign(index, payload)
	if err != nil {
		return err
	}
	return p.c.publishWait(ctx, chunk)
}

// PublishAtAsync is PublishAt without the wait for the receipt: done is called
// with the outcome, once, in order with the others and from one goroutine, which
// a slow done holds up along with further publications. The call itself waits
// while the cohort holds publications back or Limits.Publishing are under way,
// until Close. Calls one after the other publish in that order. The payload may be
// used again when it returns.
func (p *Publisher) PublishAtAsync(index uint64, payload []byte, done func(error)) {
	n := &p.c.notifier
	n.start()
	chunk, err := p.sign(index, payload)
	if err == nil {
		err = p.c.slot(p.end)
	}
	if err != nil {
		if p.end.Err() != nil {
			err = ErrClosed
		}
		n.call(func() { done(err) })
		return
	}
	p.c.publish(chunk, func(err error) {
		n.call(func() {
			done(err)
			<-p.c.slots
		})
	})
}

// Publish reserves the next index, publishes payload under it and waits for the
// receipt. Indices follow the order of calls only if these do not overlap.
func (p *Publisher) Publish(ctx context.Context, payload []byte) (index uint64, err error) {
	if index, err = p.Reserve(1); err != nil {
		return 0, err
	}
	return index, p.PublishAt(ctx, index, payload)
}

// Close ends the publisher: calls that wait for their turn return ErrClosed. What
// was published goes on. Twice is fine.
func (p *Publisher) Close() { p.close() }
