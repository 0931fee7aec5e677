package node

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"

	"treecast/tree"
	"treecast/wire"
)

// CohortOptions is a node's part in one cohort. Only Topic, and for Join Entries,
// are needed; what is zero is the node's default.
type CohortOptions struct {
	Topic wire.Topic
	// Spec, Admin and Publishers pin the cohort: a parent that says otherwise is
	// left (PROTOCOL §4 Whose spec).
	Spec       *wire.Spec
	Admin      *wire.Owner
	Publishers []wire.Owner
	// Entries are nodes of the cohort to start at, in order of preference, each
	// with /p2p. Several addresses of one peer count as one entry.
	Entries []multiaddr.Multiaddr
	// Capacity and Parents are as in tree.Config; 0 = the node's.
	Capacity, Parents int
	// Report, if set, is called with each change that the core reports, in order,
	// from one goroutine that the callbacks of PublishAtAsync share: parents gained
	// and lost, refusals, and equivocations with both signatures (PROTOCOL §4
	// Duplicates). Reports that a slow one leaves waiting are dropped and counted.
	Report func(tree.Report)
}

// A Cohort is this node's part in one cohort. Its methods may be called by
// several goroutines.
type Cohort struct {
	n     *Node
	topic wire.Topic
	log   *slog.Logger
	open  opened
	loop  *loop // only for closures that run in it

	frames chan *batch // what readers wait on
	box    *mailbox    // what nobody waits on
	checks checkList
	wg     sync.WaitGroup // loop, readers, writers, dials

	halted atomic.Bool   // the loop is to end
	done   chan struct{} // closed: the loop has ended, last is set
	last   struct {
		view     tree.View
		counters tree.Counters
	}

	subs   subscriptions
	queues queues
	publishing
	watching
	leaving leaving
	busy    atomic.Int64 // when it last had a stream or publication, Unix nanoseconds
}

// watching is what tells the application about changes.
type watching struct {
	changes  changes
	refusal  atomic.Pointer[AckError]
	onReport func(tree.Report) // nil: nobody asked
}

// opened says who opened a cohort.
type opened struct {
	broker bool
	stored bool    // it is in the store
	by     peer.ID // the peer that opened it; empty: the own API
}

// frameBatches is how many batches may wait for a loop: enough to keep it busy
// while readers read, few enough to bound what it holds.
const frameBatches = 16

// newCohort makes a cohort whose loop does not run yet.
func (n *Node) newCohort(cfg tree.Config, by opened, report func(tree.Report)) (*Cohort, error) {
	cfg.Self = n.overlay
	cfg.Broker = by.broker
	cfg.Timing = n.cfg.Timing
	cfg.Publishing = n.cfg.Limits.Publishing
	cfg.PublishRate = n.cfg.PublishRate
	cfg.RequireProof = n.cfg.RequireProof
	cfg.Rand = newRand()
	core, err := tree.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("node: cohort %v: %w", cfg.Topic, err)
	}
	c := &Cohort{
		n: n, topic: cfg.Topic, open: by, log: n.log.With("topic", cfg.Topic.String()),
		frames: make(chan *batch, frameBatches), box: newMailbox(),
		done:       make(chan struct{}),
		publishing: publishing{slots: make(chan struct{}, n.cfg.Limits.Publishing)},
		watching:   watching{onReport: report},
		leaving:    leaving{left: make(chan struct{})},
	}
	recovery, err := n.newRecovery(&cfg)
	if err != nil {
		return nil, fmt.Errorf("node: cohort %v: %w", cfg.Topic, err)
	}
	before, err := n.restore(cfg.Topic, recovery.log)
	if err != nil {
		return nil, err
	}
	c.loop = &loop{
		c: c, core: core, recovery: recovery,
		streams:  make(map[tree.StreamID]*stream),
		dials:    make(map[tree.DialID]context.CancelFunc),
		hints:    make(map[wire.Overlay]scope),
		receipts: make(map[tree.RequestID]func(error)),
	}
	c.checks.wake = c.box.signal
	c.box.post(func() { c.loop.restore(&before) })
	c.active(time.Now())
	return c, nil
}

// start runs the loop.
func (c *Cohort) start() {
	c.wg.Go(c.loop.run) // ends after shut
	c.setUnderlays(c.n.underlays())
	c.setBudget(c.n.spent.Load())
}

// shut ends all that runs for the cohort and waits for it.
func (c *Cohort) shut() {
	c.halted.Store(true)
	c.box.signal()
	c.wg.Wait()
	for {
		select {
		case b := <-c.frames: // of a reader that was faster than the end
			b.free()
			continue
		default:
		}
		break
	}
	c.subs.close()
	c.gate.set(false)
	c.notifier.close()
	c.changes.bump()
}

// Topic names the cohort.
func (c *Cohort) Topic() wire.Topic { return c.topic }

// Close takes this node out of the cohort at once, where Leave lets its children
// move first: streams are reset, publications and
// subscriptions end with ErrClosed, and a cohort opened here is not reopened at
// the next start. It must not be called by a handler of the cohort; twice is fine.
func (c *Cohort) Close() error {
	if !c.n.remove(c) {
		c.shut() // another Close is under way, or the node's
		return nil
	}
	c.shut()
	c.n.past.add(c.last.counters)
	if c.open.stored {
		return c.n.store.dropCohort(c.topic, c.open.by)
	}
	return nil
}

// call runs fn in the loop and waits for it. False: the loop has ended, fn did
// not run, and last is set.
func (c *Cohort) call(fn func(l *loop)) bool {
	ran := make(chan struct{})
	if c.box.post(func() { fn(c.loop); close(ran) }) {
		<-ran // a closing loop still runs what was posted
		return true
	}
	<-c.done
	return false
}

// View is the cohort's state now, or as it was last.
func (c *Cohort) View() (v tree.View) {
	if !c.call(func(l *loop) { v = l.core.View() }) {
		v = c.last.view
	}
	return v
}

// Counters are the core's counts since the cohort was made.
func (c *Cohort) Counters() (n tree.Counters) {
	if !c.call(func(l *loop) { n = l.core.Counters() }) {
		n = c.last.counters
	}
	return n
}

// WaitAttached waits until this node is the broker, or a child of it, or has at
// least that many parents. When ctx ends first, the error wraps ctx's and, if
// an entry point refused meanwhile, an *AckError.
func (c *Cohort) WaitAttached(ctx context.Context, parents int) error {
	for {
		changed := c.changes.wait()
		v := c.View()
		if v.Broker || v.Attached && len(v.Parents) >= parents {
			return nil
		}
		for i := range v.Parents {
			if v.Parents[i].Broker {
				return nil
			}
		}
		select {
		case <-changed:
		case <-c.done:
			return ErrClosed
		case <-ctx.Done():
			err := ctx.Err()
			if r := c.refusal.Load(); r != nil {
				return fmt.Errorf("node: attached to %d of %d parents: %w (%w)", len(v.Parents), parents, err, r)
			}
			return fmt.Errorf("node: attached to %d of %d parents: %w", len(v.Parents), parents, err)
		}
	}
}

// join gives the core the entry points to start at.
func (c *Cohort) join(entries []wire.Overlay) {
	c.box.post(func() { c.loop.step(tree.Join{Entries: entries}) })
}

func (c *Cohort) setUnderlays(addrs [][]byte) {
	c.box.post(func() { c.loop.step(tree.Underlays{Addrs: addrs}) })
}

func (c *Cohort) setBudget(spent bool) {
	c.box.post(func() { c.loop.step(tree.Budget{Spent: spent}) })
}

// measured tells the core a round trip to a peer.
func (c *Cohort) measured(p peer.ID, rtt time.Duration) {
	c.box.post(func() {
		for _, id := range c.loop.streamIDs() {
			if s := c.loop.streams[id]; s != nil && s.peer == p && s.link != nil {
				c.loop.step(tree.RTT{Stream: id, RTT: rtt})
			}
		}
	})
}

// queueLevel is called by a writer whose queue was relieved.
func (c *Cohort) queueLevel(s *stream) { c.loop.queueLevel(s) }

func (c *Cohort) active(now time.Time) { c.busy.Store(now.UnixNano()) }

// changes tells many waiters that something changed, without a goroutine.
type changes struct {
	mu sync.Mutex
	ch chan struct{}
}

// wait returns a channel that the next bump closes.
func (x *changes) wait() <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ch == nil {
		x.ch = make(chan struct{})
	}
	return x.ch
}

func (x *changes) bump() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ch != nil {
		close(x.ch)
		x.ch = nil
	}
}
