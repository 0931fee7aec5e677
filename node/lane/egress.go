package lane

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"treecast/wire/beef"
)

// Egress delivers a cohort's objects to consumers (PROTOCOL §7 Election, Egress
// lanes). It is safe for concurrent use, but the order in which a consumer gets
// objects is that of the calls of Handle.
type Egress struct {
	cfg      EgressConfig
	listener net.Listener  // nil: nobody connects over TCP
	changed  chan struct{} // holds a token when groups changed

	closing context.Context // ends when Close begins
	begin   context.CancelFunc
	ended   context.Context // ends when Close has waited long enough
	end     context.CancelFunc
	wg      sync.WaitGroup
	closed  counts // lanes closed
	refused counts // connections refused

	mu        sync.Mutex // covers what follows
	consumers map[beef.ConsumerID]*consumer
	elections beef.Elections       // of consumers with a queue
	resumed   beef.Elections       // of those with a name
	names     map[string]*consumer // with a name, connected
	lastID    beef.ConsumerID
	parts     *beef.Reassembler
	back      handedBack                      // payloads that parts made, written by all
	delivered *window[deliveredKey, struct{}] // nil: nothing is remembered
	connected int                             // consumers that connected
	groups    map[uint32]int                  // consumers that elected a topic of the group
	matches   []beef.Match                    // of one object, reused
	counted   egressCounts
}

// deliveredKey is one object at one consumer.
type deliveredKey struct {
	object   pair
	consumer beef.ConsumerID
}

// egressCounts are the counters that mu covers.
type egressCounts struct {
	messages, objects, unmatched, repeated uint64
	records, bytes, lost                   uint64 // of consumers that have gone
	ignored                                counts
}

// NewEgress starts the dialled lanes and, if configured, listens for consumers.
// The error names the configuration's first fault, or the address that cannot be
// listened on.
func NewEgress(cfg EgressConfig) (*Egress, error) {
	cfg.Dial = slices.Clone(cfg.Dial)
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Egress{
		cfg: cfg, changed: make(chan struct{}, 1),
		consumers: make(map[beef.ConsumerID]*consumer), groups: make(map[uint32]int), names: make(map[string]*consumer),
	}
	if cfg.Limits.Delivered > 0 && cfg.Limits.DeliveredAge > 0 {
		e.delivered = newWindow[deliveredKey, struct{}](cfg.Limits.Delivered, cfg.Limits.DeliveredAge)
	}
	e.parts, err = beef.NewReassembler(beef.ReassemblerConfig{
		Slots:     cfg.Limits.Slots,
		Bytes:     cfg.Limits.Bytes,
		Age:       cfg.Limits.Age,
		MaxObject: cfg.MaxObject,
		Wants:     e.wants,
	})
	if err != nil {
		return nil, fmt.Errorf("lane: egress config: %w", err)
	}
	if cfg.Listen != "" {
		if e.listener, err = net.Listen("tcp", cfg.Listen); err != nil {
			return nil, fmt.Errorf("lane: egress lane: %w", err)
		}
	}
	e.closing, e.begin = context.WithCancel(context.Background())
	e.ended, e.end = context.WithCancel(context.Background())
	for i := range cfg.Dial {
		d := &cfg.Dial[i]
		c := e.add(d.Name, true, wish{election: d.Election, format: d.Format, resume: d.Name})
		if err := e.mark(c); err != nil {
			e.cfg.Log.Error("position not stored: what comes before the lane is open is lost", "lane", c.name, "err", err)
		}
		e.wg.Go(func() { e.dial(c, d) }) // ends with e.closing
	}
	if e.listener != nil {
		e.wg.Go(e.accept) // ends when Close closes the listener
	}
	return e, nil
}

// Addr returns the address that consumers connect to; nil if there is none.
func (e *Egress) Addr() net.Addr {
	if e.listener == nil {
		return nil
	}
	return e.listener.Addr()
}

// Close takes no more messages, gives connected consumers a moment for what waits
// for them, and closes every lane. Nothing of the egress runs afterwards. It may
// be called twice.
func (e *Egress) Close() error {
	e.mu.Lock()
	e.begin() // under mu, so that whoever enters is seen below and waited for
	e.mu.Unlock()
	if e.listener != nil {
		e.listener.Close() // the error is that it is closed
	}
	e.mu.Lock()
	for _, c := range e.consumers {
		c.queue.close()
	}
	e.mu.Unlock()
	if e.cfg.Limits.Flush > 0 {
		stop := time.AfterFunc(e.cfg.Limits.Flush, e.end)
		defer stop.Stop()
	} else {
		e.end()
	}
	e.wg.Wait()
	e.end()
	return nil
}

// Handle takes one message of the cohort. It never waits for a consumer. What is
// neither an object frame nor a fragment is counted and dropped. Without a consumer
// nothing is looked at, so an object that began before the first one is not
// delivered.
func (e *Egress) Handle(m Message) {
	if m.Release != nil {
		defer m.Release()
	}
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.counted.messages++
	if len(e.consumers) == 0 {
		return
	}
	version, err := beef.FrameVersion(m.Payload)
	if err != nil {
		e.ignore(&m, err)
		return
	}
	if version == beef.FrameVerFragment {
		frag, err := beef.ParseFragment(m.Payload)
		if err != nil {
			e.ignore(&m, err)
			return
		}
		if offer, ok := beef.OfferOfFragment(&frag); ok && e.resumed.Len() > 0 {
			e.arrived(&offer, int64(frag.OrigLen))
		}
		e.back.giveTo(e.parts)
		if f, outcome := e.parts.Add(now, &frag); outcome == beef.OutcomeComplete {
			whole := newShared(f.Payload, &e.back)
			e.deliver(now, &m, &f, whole)
			whole.done()
		}
		return
	}
	f, err := beef.ParseFrame(m.Payload)
	if err != nil {
		e.ignore(&m, err)
		return
	}
	e.deliver(now, &m, &f, nil)
}

// ignore counts a message that is no part of an object; called under mu.
func (e *Egress) ignore(m *Message, err error) {
	reason := "malformed"
	if fault := (*beef.FaultError)(nil); errors.As(err, &fault) {
		reason = fault.Reason
	}
	e.counted.ignored.add(reason)
	e.cfg.Log.Debug("message ignored", "owner", hex.EncodeToString(m.Owner[:]), "index", m.Index, "err", err)
}

// wants is asked by the reassembler, so under mu, when fragment 0 is there.
func (e *Egress) wants(f *beef.Fragment) bool {
	offer, ok := beef.OfferOfFragment(f)
	return !ok || e.elections.Wants(&offer)
}

// deliver gives an object to every consumer that elects it and did not have it;
// called under mu. whole is the payload where it is not the message's memory; nil
// makes one copy for all consumers, so that an object that waits for one of them
// does not hold on to the node's buffers.
func (e *Egress) deliver(now time.Time, m *Message, f *beef.Frame, whole *shared) {
	offer, err := beef.OfferOf(f)
	if err != nil {
		e.ignore(m, err)
		return
	}
	e.counted.objects++
	if whole == nil && e.resumed.Len() > 0 { // of fragments the first has told
		e.arrived(&offer, int64(len(f.Payload)))
	}
	e.matches = e.elections.Match(&offer, e.matches[:0])
	if len(e.matches) == 0 {
		e.counted.unmatched++
		return
	}
	key := pairOf(f.ContentID, f.TopicID)
	var payload []byte
	if whole != nil {
		payload = whole.payload
	}
	for _, match := range e.matches {
		if !e.first(now, deliveredKey{key, match.Consumer}) {
			e.counted.repeated++
			continue
		}
		if payload == nil {
			payload = slices.Clone(f.Payload)
		}
		c := e.consumers[match.Consumer]
		d := delivery{shared: whole}
		c.head(&d, f, match.Topic, payload)
		whole.use() // as the consumer, until it has written it
		if !c.queue.put(&d) {
			c.overflow(&d)
		}
	}
}

// arrived tells consumers with a name of an object that came for them.
func (e *Egress) arrived(offer *beef.Offer, size int64) {
	e.matches = e.resumed.Match(offer, e.matches[:0])
	for _, match := range e.matches {
		e.consumers[match.Consumer].arrived(size)
	}
}

// first tells whether the consumer did not have the object, and remembers that it
// now has (PROTOCOL §7 Duplicate submissions).
func (e *Egress) first(now time.Time, key deliveredKey) bool {
	if e.delivered == nil {
		return true
	}
	if _, had := e.delivered.get(now, key); had {
		return false
	}
	e.delivered.put(now, key, struct{}{})
	return true
}

// add registers a consumer.
func (e *Egress) add(name string, dialed bool, w wish) *consumer {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lastID++
	c := &consumer{
		e: e, id: e.lastID, name: name, dialed: dialed, wish: w, queue: newQueue(e.cfg.Limits.Queue),
		groups: groupsOf(w.election.Topics, e.cfg.ShardBits),
	}
	e.consumers[c.id] = c
	if e.cfg.Follow != nil && w.resume != "" {
		e.resumed.Set(c.id, w.election)
	} else {
		e.elections.Set(c.id, w.election)
	}
	e.count(c.groups, 1)
	if e.closing.Err() != nil { // Close has passed by
		c.queue.close()
	}
	return c
}

// remove forgets a consumer, keeping its counters.
func (e *Egress) remove(c *consumer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.elections.Remove(c.id)
	e.resumed.Remove(c.id)
	e.count(c.groups, -1)
	delete(e.consumers, c.id)
	c.queue.close()
	c.lost.Add(uint64(c.queue.clear()))
	e.counted.records += c.records.Load()
	e.counted.bytes += c.bytes.Load()
	e.counted.lost += c.lost.Load()
}
