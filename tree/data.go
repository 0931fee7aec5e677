package tree

import (
	"bytes"
	"time"

	"github.com/cespare/xxhash/v2"

	"treecast/wire"
	"treecast/wire/soc"
)

// maxUnknown is how many bytes of unknown fields a chunk's frame may carry
// (PROTOCOL §2).
const maxUnknown = 256

// data is the state of the chunks' path: what is being verified, and what was
// delivered.
type data struct {
	binding  wire.Binding
	anybody  bool // the spec names no publishers
	topic    wire.Topic
	seed     uint64
	checks   []check // from head on, a FIFO: verdicts come in the order of the questions
	head     int
	sent     []uint64 // fingerprints of what went up: a ring
	sentNext int
	sentAt   map[uint64]time.Time
	inflight map[flight]int
	feeds    owners
	seen     window
	recent   int
	// equivocated counts the reports an owner, for at most as many owners as feeds.
	equivocated map[wire.Owner]equivocated
}

// A flight is a chunk that is being verified, on its way up or not. The two are
// apart, as what passes up is not delivered by that: the same chunk coming down
// meanwhile is no copy of it.
type flight struct {
	print uint64
	up    bool
}

// A check is a chunk that the driver verifies.
type check struct {
	chunk   ChunkID
	print   uint64 // fingerprint: id, owner, signature, span, payload
	owner   wire.Owner
	id      [32]byte
	sig     [65]byte
	index   uint64
	indexed bool
	size    int
	up      bool // a publication: from a child, or of the application
	local   bool
	passes  bool // a publication that goes on to the parents and is not delivered
	// recovered: it came in answer to a request.
	recovered bool
	from      StreamID
	peer      wire.Overlay
	request   RequestID
}

func (k *check) address() [32]byte { return soc.Address(&k.id, (*soc.Owner)(&k.owner)) }

func (d *data) init(cfg *Config) {
	d.topic = cfg.Topic
	d.seed = cfg.Rand.Uint64()
	d.recent = max(cfg.Recent, 0)
	d.feeds = owners{most: cfg.Owners, width: cfg.Window, recent: d.recent}
	d.seen = window{most: cfg.Window}
}

// fingerprint tells apart frames of different content, whatever their carriage.
// The seed is this core's own, so that nobody else can make two alike.
func (d *data) fingerprint(id *[32]byte, s *wire.Soc) uint64 {
	var x xxhash.Digest
	x.ResetWithSeed(d.seed)
	x.Write(id[:])
	x.Write(s.Owner)
	x.Write(s.Signature)
	x.Write(s.Span)
	x.Write(s.Payload)
	return x.Sum64()
}

// chunk takes a SOC frame: down from a parent, or up from a child.
func (c *Cohort) chunk(now time.Time, ev *Frame, p *parent, ch *child, out []Action) []Action {
	s := &ev.Msg.Soc
	k := check{chunk: ev.Chunk, from: ev.Stream, size: len(s.Payload)}
	if ch != nil {
		k.up, k.peer = true, ch.peer
	} else {
		k.peer = p.peer
	}
	reason := c.examine(now, s, &k)
	switch reason {
	case CountDelivered:
		c.data.push(&k)
		return append(out, Action{Kind: ActVerify, Chunk: k.chunk, ID: k.id})
	case CountDuplicate:
		if p != nil {
			p.second++
			c.inTime(p)
			c.counters[reason]++
			return c.release(ev.Chunk, c.brings(now, p, k.print, c.data.inflight[flight{k.print, false}] > 0, out))
		}
	case CountNotAdmitted:
		c.counters[reason]++
		return c.release(ev.Chunk, c.forged(now, k.from, k.peer, k.up, out))
	}
	c.counters[reason]++
	return c.release(ev.Chunk, out)
}

// examine does what can be done without a signature check: sizes, binding,
// regime and duplicates; of what passes through on its way up, only those of
// chunks that just went up. It fills in k, and returns CountDelivered for a chunk that is to be verified, else
// why it is dropped.
func (c *Cohort) examine(now time.Time, s *wire.Soc, k *check) Counter {
	switch {
	case c.spec == nil:
		return CountWrongBinding
	case s.Unknown > maxUnknown:
		return CountUnknownFields
	case len(s.Owner) != len(k.owner) || len(s.Signature) != len(k.sig) || len(s.Span) != 8 || len(s.Payload) == 0:
		return CountNonCanonical
	}
	copy(k.owner[:], s.Owner)
	copy(k.sig[:], s.Signature)
	if !c.admits(&k.owner) {
		return CountNotAdmitted
	}
	k.passes = k.up && !c.cfg.Broker
	hint, hinted := s.Index, s.HasIndex
	switch {
	case len(s.ID) == 32 && c.data.binding == wire.BindingFeedTopic && bytes.Equal(s.ID[:24], make([]byte, 24)):
		hint, hinted = beUint64(s.ID[24:]), true
	case len(s.ID) == 8 && c.data.binding == wire.BindingFeedTopic:
		hint, hinted = beUint64(s.ID), true
	case len(s.ID) != 32:
		return CountNonCanonical
	}
	passing := k.passes && !k.local
	carried := len(s.ID) == 32 && !bytes.Equal(s.ID[:24], make([]byte, 24))
	if c.data.binding != wire.BindingFeedTopic {
		copy(k.id[:], s.ID)
		if !c.bound(&k.id, &k.owner) {
			return CountWrongBinding
		}
		k.print = c.data.fingerprint(&k.id, s)
		if c.data.copied(now, k.print, passing) || !passing && c.data.seen.has(k.print) {
			return CountDuplicate
		}
		return CountDelivered
	}
	if carried {
		copy(k.id[:], s.ID)
		k.print = c.data.fingerprint(&k.id, s)
		if c.data.copied(now, k.print, passing) || !passing && hinted && c.data.feeds.known(&k.owner, hint, k.print) {
			return CountDuplicate
		}
		c.index(k, hint, hinted)
	} else {
		if hint > maxIndex {
			return CountNonCanonical
		}
		k.id = soc.FeedID(c.data.topic[:], hint)
		k.print = c.data.fingerprint(&k.id, s)
		k.index, k.indexed = hint, true
	}
	switch {
	case c.data.copied(now, k.print, passing):
		return CountDuplicate
	case passing:
		return CountDelivered
	case k.indexed && c.data.feeds.has(&k.owner, k.index):
		if c.data.feeds.differs(&k.owner, k.index, k.print) {
			return CountDelivered // to be verified: it may be an equivocation
		}
		return CountDuplicate
	case c.data.seen.has(k.print):
		return CountDuplicate
	}
	return CountDelivered
}

// copied says whether the very same chunk is being verified for delivery or, of
// one that passes through, is or just was on its way up.
func (d *data) copied(now time.Time, print uint64, passing bool) bool {
	return d.inflight[flight{print, false}] > 0 ||
		passing && (d.inflight[flight{print, true}] > 0 || d.wentUp(now, print))
}

// index finds the feed index of k's id: the hint, if it proves right, else one
// of those above the highest known (PROTOCOL §4 Feed index).
func (c *Cohort) index(k *check, hint uint64, hinted bool) {
	if hinted && hint <= maxIndex && soc.FeedID(c.data.topic[:], hint) == k.id {
		k.index, k.indexed = hint, true
		return
	}
	if c.explicit() {
		k.index, k.indexed = c.data.feeds.lookUp(&k.owner, &c.data.topic, &k.id)
	}
}

func beUint64(b []byte) (v uint64) {
	for _, x := range b {
		v = v<<8 | uint64(x)
	}
	return v
}

func (d *data) push(k *check) {
	if d.inflight == nil {
		d.inflight = make(map[flight]int)
	}
	d.inflight[flight{k.print, k.passes}]++
	d.checks = append(d.checks, *k)
}

// pop takes the oldest check, whose verdict has come.
func (d *data) pop(chunk ChunkID) (k check) {
	if d.head == len(d.checks) || d.checks[d.head].chunk != chunk {
		panic("tree: verdict out of order")
	}
	k = d.checks[d.head]
	d.head++
	if d.head == len(d.checks) {
		d.checks, d.head = d.checks[:0], 0
	} else if d.head >= 64 && 2*d.head >= len(d.checks) {
		d.checks, d.head = d.checks[:copy(d.checks, d.checks[d.head:])], 0
	}
	f := flight{k.print, k.passes}
	if d.inflight[f]--; d.inflight[f] <= 0 {
		delete(d.inflight, f)
	}
	return k
}

// verified takes the verdict on the oldest chunk asked about.
func (c *Cohort) verified(now time.Time, ev *Verified, out []Action) []Action {
	k := c.data.pop(ev.Chunk)
	if k.local {
		c.pub.checking--
	}
	switch ev.Verdict {
	case VerdictForged:
		c.counters[CountForged]++
		switch {
		case k.recovered:
			out = c.forgedAnswer(now, k.peer, out)
		case !k.local:
			out = c.forged(now, k.from, k.peer, k.up, out)
		}
		return c.reject(&k, ReceiptInvalid, out)
	case VerdictNonCanonical:
		c.counters[CountNonCanonical]++
		return c.reject(&k, ReceiptNonCanonical, out)
	}
	switch {
	case k.local && c.leave.done:
		return c.reject(&k, ReceiptNoBroker, out)
	case k.local && !c.cfg.Broker:
		return c.sendUp(now, &k, out)
	case k.up && !c.cfg.Broker:
		return c.release(k.chunk, c.passUp(now, &k, out))
	}
	switch c.data.take(&k, &ev.CAC) {
	case CountDuplicate:
		c.counters[CountDuplicate]++
		return c.reject(&k, ReceiptDuplicate, out)
	case CountEquivocation:
		c.counters[CountEquivocation]++
		out = c.equivocation(now, &k, out)
		return c.reject(&k, ReceiptEquivocation, out)
	}
	c.counters[CountDelivered]++
	if k.recovered {
		c.counters[CountRecovered]++
		c.overdue(now)
	}
	if p := c.parentOf(k.from); p != nil {
		p.first++
		c.leads(now, p)
		out = c.brings(now, p, k.print, true, out)
	}
	for i := range c.children {
		ch := &c.children[i]
		if ch.level == QueueLow {
			ch.moved = now
		}
		out = append(out, Action{Kind: ActForward, Stream: ch.stream, Chunk: k.chunk, Wait: ch.wait})
	}
	out = append(out, Action{Kind: ActDeliver, Chunk: k.chunk, ID: k.id, Index: k.index, HasIndex: k.indexed})
	if c.cfg.Broker {
		out = c.spend(now, k.size, out)
	}
	out = c.receipt(&k, out)
	return c.release(k.chunk, out)
}

// take enters a valid chunk in the duplicate state, and says what it is: new
// (CountDelivered), a duplicate, or an equivocation.
func (d *data) take(k *check, cac *[32]byte) Counter {
	if k.indexed {
		if d.feeds.has(&k.owner, k.index) {
			return d.feeds.compare(&k.owner, k.index, cac)
		}
		// By address, like other bindings, if there are more owners than are
		// tracked, or if it was delivered before its index could be told.
		if !d.seen.holds(k) && d.feeds.mark(k, cac) {
			if d.anybody { // there are no tables: a copy without its hint is known by address alone
				d.seen.take(k.address(), *cac, k.print, &k.sig)
			}
			return CountDelivered
		}
	}
	key := k.address()
	if d.binding == wire.BindingAnchor {
		key = *cac
	}
	return d.seen.take(key, *cac, k.print, &k.sig)
}

// reject ends a chunk that goes no further.
func (c *Cohort) reject(k *check, r Receipt, out []Action) []Action {
	if k.local {
		out = append(out, Action{Kind: ActReceipt, Request: k.request, Receipt: r})
	}
	return c.release(k.chunk, out)
}

func (c *Cohort) release(chunk ChunkID, out []Action) []Action {
	return append(out, Action{Kind: ActRelease, Chunk: chunk})
}

// forged blames the peer that sent a forged chunk: a child by count; a parent
// loses its place at once (PROTOCOL §4 One encoding).
func (c *Cohort) forged(now time.Time, stream StreamID, peer wire.Overlay, up bool, out []Action) []Action {
	if up {
		return append(out, Action{Kind: ActBlame, Peer: peer})
	}
	out = append(out,
		Action{Kind: ActReport, Report: &Report{Kind: ReportForged, Peer: peer, Parents: len(c.parents)}},
		Action{Kind: ActBlock, Peer: peer})
	if c.parentOf(stream) == nil {
		return out
	}
	out = append(out, Action{Kind: ActEnd, Stream: stream, Code: EndReset})
	return c.forgetParent(now, stream, false, out)
}
