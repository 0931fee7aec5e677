package beef

import (
	"fmt"
	"time"
)

// Defaults of a ReassemblerConfig (PROTOCOL §7 Reassembly).
const (
	DefaultSlots           = 4096
	DefaultReassemblyBytes = 256 << 20
	DefaultReassemblyAge   = 30 * time.Second
)

// ReassemblerConfig bounds a Reassembler (PROTOCOL §7 Reassembly). A zero field
// is its default; none but Spare can be switched off.
type ReassemblerConfig struct {
	// Slots is how many objects may be under way; DefaultSlots. As many that
	// were completed or not wanted are remembered.
	Slots int
	// Bytes is how much memory their data may take, spare buffers included;
	// DefaultReassemblyBytes. A payload of more than 32 KiB takes its length rounded up
	// to 8 KiB.
	Bytes int64
	// Spare is how many bytes of buffers that objects have left behind are kept for
	// those to come; DefaultSpare, negative: none.
	Spare int64
	// Age is how long a slot waits for its next new fragment, and how long a
	// closed one is remembered; DefaultReassemblyAge.
	Age time.Duration
	// MaxObject bounds an object in bytes; DefaultMaxObject. The payload may be
	// MaxEnvelope longer.
	MaxObject int
	// Wants is asked once per slot, as soon as fragment 0 is there, whether the
	// object is to be put together. The fragment and its data are only lent;
	// its DeliverCount is the highest that the slot saw. nil = always.
	// OfferOfFragment and Elections.Wants make the answer.
	Wants func(*Fragment) bool
	// GivenUp is told of each object that is dropped before it was whole, for its
	// age or for a bound; nil = nobody. It must not call the Reassembler.
	GivenUp func(contentID [32]byte, topicID TopicID)
}

// Reassembler puts payloads together again from fragments that come in any
// order, more than once, or not at all (PROTOCOL §7 Reassembly). Slots are
// given up oldest first, the age being that of the last new fragment.
//
// Two ingresses may send the same object: their fragments share a slot, whose
// DeliverCount is the highest of all. After an object is complete, or was found
// to be unwanted, its fragments are dropped for Age, but for those with a higher
// DeliverCount: these start anew.
//
// Memory is charged as it is allocated, in step with the bytes that came, but for
// buffers that an earlier object has left behind; the bounds hold after each call. What
// nobody used for Age is given back to the runtime.
type Reassembler struct {
	cfg    ReassemblerConfig
	slots  map[slotKey]*slot
	open   slotList
	closed slotList
	bytes  int64
	spares spares
	used   time.Time // when the last fragment came
	counts [outcomeCount]uint64
}

// NewReassembler returns an empty Reassembler. The error names the field that is
// out of range.
func NewReassembler(cfg ReassemblerConfig) (*Reassembler, error) {
	bound, err := objectBound(cfg.MaxObject)
	if err != nil {
		return nil, err
	}
	cfg.MaxObject = int(bound)
	if cfg.Slots == 0 {
		cfg.Slots = DefaultSlots
	}
	if cfg.Bytes == 0 {
		cfg.Bytes = DefaultReassemblyBytes
	}
	if cfg.Age == 0 {
		cfg.Age = DefaultReassemblyAge
	}
	switch {
	case cfg.Slots < 0:
		return nil, fmt.Errorf("beef: reassembly slots %d", cfg.Slots)
	case cfg.Bytes < 0:
		return nil, fmt.Errorf("beef: reassembly bytes %d", cfg.Bytes)
	case cfg.Age < 0:
		return nil, fmt.Errorf("beef: reassembly age %v", cfg.Age)
	}
	r := &Reassembler{cfg: cfg, slots: make(map[slotKey]*slot)}
	switch {
	case cfg.Spare == 0:
		r.spares.limit = min(DefaultSpare, cfg.Bytes)
	case cfg.Spare > 0:
		r.spares.limit = min(cfg.Spare, cfg.Bytes)
	}
	return r, nil
}

// Add takes a fragment, copying what it keeps. With OutcomeComplete the frame is
// the object's, as it was before it was cut: HashKey and SeqNum are those of the
// first fragment that came, and the payload belongs to the caller, who may give it to
// Recycle. Otherwise the frame is the zero one. The frame's TopicID is what the
// fragments said; nothing is known of the payload but its hash.
func (r *Reassembler) Add(now time.Time, f *Fragment) (Frame, Outcome) {
	r.Expire(now)
	r.used = now
	frame, o := r.add(now, f)
	r.counts[o]++
	return frame, o
}

func (r *Reassembler) add(now time.Time, f *Fragment) (Frame, Outcome) {
	if int64(f.OrigLen) > int64(r.cfg.MaxObject)+MaxEnvelope {
		return Frame{}, OutcomeOverBound
	}
	stride := int64(0)
	if f.Index < f.Total {
		stride = f.stride()
	}
	if stride == 0 {
		return Frame{}, OutcomeUneven
	}
	key := slotKey{f.ContentID, f.TopicID}
	s := r.slots[key]
	if s != nil && s.closed != 0 {
		if f.DeliverCount <= s.header.DeliverCount {
			return Frame{}, s.closed
		}
		r.forget(s)
		s = nil
	}
	if s == nil {
		s = r.openSlot(key, f, stride)
	}
	if !s.agrees(f, stride) {
		return Frame{}, OutcomeDisagrees
	}
	s.header.DeliverCount = max(s.header.DeliverCount, f.DeliverCount)
	if s.has(f.Index) {
		return Frame{}, OutcomeDuplicate
	}
	if f.Index == 0 && !r.wants(s, f) {
		r.close(s, OutcomeUnwanted, now)
		return Frame{}, OutcomeUnwanted
	}
	return r.store(now, s, f)
}

// wants judges fragment 0, with the highest DeliverCount the slot knows of.
func (r *Reassembler) wants(s *slot, f *Fragment) bool {
	if r.cfg.Wants == nil {
		return true
	}
	lent := *f
	lent.DeliverCount = s.header.DeliverCount
	return r.cfg.Wants(&lent)
}

func (r *Reassembler) store(now time.Time, s *slot, f *Fragment) (Frame, Outcome) {
	r.open.remove(s)
	r.open.push(s)
	s.touched = now
	before := s.charge
	s.store(f, &r.spares)
	r.bytes += s.charge - before
	r.spares.shrink(r.cfg.Bytes - r.bytes)
	if s.whole() {
		return r.finish(now, s)
	}
	for r.bytes > r.cfg.Bytes {
		oldest := r.open.first
		r.giveUp(oldest)
		if oldest == s {
			return Frame{}, OutcomeBytes
		}
		r.counts[OutcomeBytes]++
	}
	return Frame{}, OutcomeHeld
}

// finish judges a whole payload by its hash.
func (r *Reassembler) finish(now time.Time, s *slot) (Frame, Outcome) {
	payload := s.body
	if s.contentID() != s.key.content {
		r.forget(s)
		return Frame{}, OutcomeHash
	}
	r.close(s, OutcomeLate, now)
	return Frame{Header: s.header, Payload: payload}, OutcomeComplete
}

// openSlot makes a slot, and room for it.
func (r *Reassembler) openSlot(key slotKey, f *Fragment, stride int64) *slot {
	for r.open.len >= r.cfg.Slots {
		r.giveUp(r.open.first)
		r.counts[OutcomeSlots]++
	}
	s := newSlot(key, f, stride)
	r.slots[key] = s
	r.open.push(s)
	return s
}

// close turns an open slot into the memory of one.
func (r *Reassembler) close(s *slot, why Outcome, now time.Time) {
	r.open.remove(s)
	r.bytes -= s.charge
	s.close(why, now)
	for r.closed.len >= r.cfg.Slots {
		r.forget(r.closed.first)
	}
	r.closed.push(s)
}

// giveUp drops an open slot that will not become whole.
func (r *Reassembler) giveUp(s *slot) {
	key := s.key
	r.forget(s)
	if r.cfg.GivenUp != nil {
		r.cfg.GivenUp(key.content, key.topic)
	}
}

// forget drops a slot with all that is known of it.
func (r *Reassembler) forget(s *slot) {
	if s.closed != 0 {
		r.closed.remove(s)
	} else {
		r.open.remove(s)
	}
	r.bytes -= s.charge
	delete(r.slots, s.key)
	r.Recycle(s.body)
}

// Recycle takes the memory of a payload that Add returned and that nobody reads or
// writes any more, for an object to come. It may be dropped instead, by either side.
func (r *Reassembler) Recycle(payload []byte) {
	r.spares.put(payload)
	r.spares.shrink(r.cfg.Bytes - r.bytes)
}

// Expire gives up what is older than Age at now. Add does it as well; a timer at
// Deadline frees memory when nothing comes.
func (r *Reassembler) Expire(now time.Time) {
	for s := r.open.first; s != nil && now.Sub(s.touched) >= r.cfg.Age; s = r.open.first {
		r.giveUp(s)
		r.counts[OutcomeAge]++
	}
	for s := r.closed.first; s != nil && now.Sub(s.touched) >= r.cfg.Age; s = r.closed.first {
		r.forget(s)
	}
	if now.Sub(r.used) >= r.cfg.Age {
		r.spares.shrink(0)
	}
}

// Deadline is when Expire next has something to do; zero: never.
func (r *Reassembler) Deadline() time.Time {
	var at time.Time
	for _, s := range []*slot{r.open.first, r.closed.first} {
		if s == nil {
			continue
		}
		if due := s.touched.Add(r.cfg.Age); at.IsZero() || due.Before(at) {
			at = due
		}
	}
	if due := r.used.Add(r.cfg.Age); len(r.spares.list) > 0 && (at.IsZero() || due.Before(at)) {
		at = due
	}
	return at
}

// Slots returns how many objects are under way.
func (r *Reassembler) Slots() int { return r.open.len }

// Bytes returns how much memory the data of open slots takes, without spare buffers.
func (r *Reassembler) Bytes() int64 { return r.bytes }

// Count returns how often an outcome came about: fragments, and for OutcomeAge,
// OutcomeSlots and OutcomeBytes slots given up.
func (r *Reassembler) Count(o Outcome) uint64 {
	if o >= outcomeCount {
		return 0
	}
	return r.counts[o]
}
