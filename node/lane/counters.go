package lane

import (
	"cmp"
	"slices"
	"time"

	"treecast/node/follow"
	"treecast/wire/beef"
)

// IngressCounters is what an Ingress has counted since its start. Maps go from
// reason to count: the Reason constants here and, for closed connections and
// rejected objects, those of wire/beef.
type IngressCounters struct {
	Open      int               // connections and requests now
	Accepted  uint64            // connections, refused ones included
	Datagrams uint64            // datagrams, dropped ones included
	Requests  uint64            // requests, refused ones included
	Refused   map[string]uint64 // connections and requests not served
	Closed    map[string]uint64 // connections and requests given up by the door
	Dropped   map[string]uint64 // datagrams dropped before their object was judged
	Objects   uint64            // objects handed to the publisher
	Bytes     uint64            // payload bytes of them
	Chunks    uint64            // object frames and fragments of them
	Published uint64            // objects that came back down
	Rejected  map[string]uint64 // objects not handed over, their connection kept
	Failed    map[string]uint64 // objects lost in publishing
	Throttled map[string]uint64 // times that a connection was left unread, or a request answered 503
}

// Counters returns a snapshot.
func (in *Ingress) Counters() IngressCounters {
	c := &in.counted
	return IngressCounters{
		Open:      int(c.open.Load()),
		Accepted:  c.accepted.Load(),
		Datagrams: c.datagrams.Load(),
		Requests:  c.requests.Load(),
		Refused:   c.refused.snapshot(),
		Closed:    c.closed.snapshot(),
		Dropped:   c.dropped.snapshot(),
		Objects:   c.objects.Load(),
		Bytes:     c.bytes.Load(),
		Chunks:    c.chunks.Load(),
		Published: c.published.Load(),
		Rejected:  c.rejected.snapshot(),
		Failed:    c.failed.snapshot(),
		Throttled: c.throttled.snapshot(),
	}
}

// EgressCounters is what an Egress has counted since its start.
type EgressCounters struct {
	Messages  uint64            // taken from the cohort
	Ignored   map[string]uint64 // of these neither object frame nor fragment, by reason
	Fragments map[string]uint64 // fragments, and objects given up, by beef.Outcome
	Objects   uint64            // whole ones
	Unmatched uint64            // of these elected by no consumer
	Repeated  uint64            // deliveries left out because the consumer had the object
	Records   uint64            // written whole, to all consumers
	Bytes     uint64            // of them, heads included
	Lost      uint64            // records thrown away with a lane or its queue
	Closed    map[string]uint64 // lanes closed: slow, gone, stuck, broken, closed, replaced, bad_ack
	Refused   map[string]uint64 // dial, consumers, election
	Follow    follow.Stats      // of those that resume, and of others who follow
	Consumers []ConsumerCounters
}

// ConsumerCounters is one consumer's part, the dialled ones first.
type ConsumerCounters struct {
	Name        string // the configured one, or the remote address
	Dialed      bool
	Connected   bool
	Format      Format
	Resume      string // the name to go on under; dialled ones have theirs
	Records     uint64
	Bytes       uint64
	Lost        uint64
	Queued      int   // records that wait
	QueuedBytes int64 // of Limits.Queue
}

// Counters returns a snapshot.
func (e *Egress) Counters() EgressCounters {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.back.giveTo(e.parts)
	e.parts.Expire(time.Now()) // an idle cohort is asked, it does not tick
	c := EgressCounters{
		Messages:  e.counted.messages,
		Ignored:   e.counted.ignored.snapshot(),
		Fragments: make(map[string]uint64),
		Objects:   e.counted.objects,
		Unmatched: e.counted.unmatched,
		Repeated:  e.counted.repeated,
		Records:   e.counted.records,
		Bytes:     e.counted.bytes,
		Lost:      e.counted.lost,
		Closed:    e.closed.snapshot(),
		Refused:   e.refused.snapshot(),
	}
	if e.cfg.Follow != nil {
		c.Follow = e.cfg.Follow.Stats()
	}
	for _, o := range beef.Outcomes() {
		if n := e.parts.Count(o); n > 0 {
			c.Fragments[o.String()] = n
		}
	}
	for _, one := range e.consumers {
		s := one.counters()
		c.Records += s.Records
		c.Bytes += s.Bytes
		c.Lost += s.Lost
		c.Consumers = append(c.Consumers, s)
	}
	slices.SortFunc(c.Consumers, func(a, b ConsumerCounters) int {
		if a.Dialed != b.Dialed {
			if a.Dialed {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return c
}

func (c *consumer) counters() ConsumerCounters {
	s := ConsumerCounters{
		Name:      c.name,
		Dialed:    c.dialed,
		Connected: c.connected(),
		Format:    c.format,
		Resume:    c.resume,
		Records:   c.records.Load(),
		Bytes:     c.bytes.Load(),
		Lost:      c.lost.Load(),
	}
	s.Queued, s.QueuedBytes = c.queue.fill()
	return s
}
