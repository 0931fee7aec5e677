package beefnode

import (
	"context"
	"errors"
	"sync"

	"treecast/node"
	"treecast/tree"
	"treecast/wire/soc"
)

// publisher is an ingress's way into one cohort, wherever the node stands in it. At
// the broker it is a node.Publisher and nothing else. At another node the spec has
// to come first, with a parent; and while there is none, between two parents, what
// finds no way to the broker waits and is published again, instead of being lost
// (PROTOCOL §4 From depth).
type publisher struct {
	cohort *node.Cohort
	key    *soc.Key
	end    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	feed    *node.Publisher // nil: the spec is not known yet
	away    bool            // the last publication found no way
	again   []publication   // to be published again; no more than may be under way
	running bool            // republish is
}

// publication is one call of PublishAtAsync.
type publication struct {
	index   uint64
	payload []byte
	done    func(error)
}

func newPublisher(c *node.Cohort, key *soc.Key) *publisher {
	p := &publisher{cohort: c, key: key}
	p.end, p.cancel = context.WithCancel(context.Background())
	return p
}

// open returns the cohort's feed, waiting for the spec if need be.
func (p *publisher) open() (*node.Publisher, error) {
	for {
		feed, err := p.tryOpen()
		if !errors.Is(err, node.ErrNoSpec) {
			return feed, err
		}
		if err := p.cohort.WaitAttached(p.end, 1); err != nil {
			return nil, err
		}
	}
}

func (p *publisher) tryOpen() (*node.Publisher, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end.Err() != nil {
		return nil, node.ErrClosed
	}
	if p.feed == nil {
		feed, err := p.cohort.Publisher(p.key)
		if err != nil {
			return nil, err
		}
		p.feed = feed
	}
	return p.feed, nil
}

// Reserve is lane.Publisher's; it waits for the cohort's spec.
func (p *publisher) Reserve(n int) (first uint64, err error) {
	feed, err := p.open()
	if err != nil {
		return 0, err
	}
	return feed.Reserve(n)
}

// PublishAtAsync is lane.Publisher's. It waits while the node has no parent.
func (p *publisher) PublishAtAsync(index uint64, payload []byte, done func(error)) {
	p.mu.Lock()
	feed, away := p.feed, p.away
	p.mu.Unlock()
	if feed == nil { // no index was reserved
		done(node.ErrNoSpec)
		return
	}
	if away {
		if err := p.cohort.WaitAttached(p.end, 1); err != nil {
			done(err)
			return
		}
	}
	p.publish(feed, publication{index, payload, done})
}

func (p *publisher) publish(feed *node.Publisher, one publication) {
	feed.PublishAtAsync(one.index, one.payload, func(err error) {
		if refused := (*node.ReceiptError)(nil); errors.As(err, &refused) && refused.Receipt == tree.ReceiptNoBroker && p.retry(one) {
			return
		}
		one.done(err)
	})
}

// retry keeps a publication that found no way to the broker; false once closed.
func (p *publisher) retry(one publication) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end.Err() != nil {
		return false
	}
	p.away = true
	p.again = append(p.again, one)
	if !p.running {
		p.running = true
		p.wg.Go(p.republish) // ends when nothing waits, and with end
	}
	return true
}

// republish publishes what found no way once there is a parent again.
func (p *publisher) republish() {
	for {
		err := p.cohort.WaitAttached(p.end, 1)
		p.mu.Lock()
		feed, waiting := p.feed, p.again
		p.again = nil
		if err == nil {
			p.away = false
		}
		if len(waiting) == 0 {
			p.running = false
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		for _, one := range waiting {
			if err != nil {
				one.done(err)
			} else {
				p.publish(feed, one)
			}
		}
	}
}

// close ends every wait. What was handed over is still settled.
func (p *publisher) close() {
	p.mu.Lock()
	p.cancel()
	if p.feed != nil {
		p.feed.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}
