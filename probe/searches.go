package probe

import (
	"slices"
	"time"

	"treecast/wire"
)

// unknownRTT stands for a round trip that was not measured yet.
const unknownRTT = 50 * time.Millisecond

// Drop is why a Probe or a Candidates frame was dropped.
type Drop uint8

// The reasons.
const (
	Kept        Drop = iota
	DropBound        // more outstanding than PerStream, answered empty, or than Origins
	DropRate         // climbing faster than UpRate
	DropHops         // hops, budget or deadline over its limit
	DropUnasked      // an answer that nobody waits for
)

// Searches are all searches of one node in one cohort. Not safe for concurrent use.
type Searches struct {
	cfg      Config
	lastID   uint64 // of a frame sent
	lastKey  uint64 // of a search
	keys     []uint64
	active   []search // beside keys, in order of their beginning
	origins  int
	foreign  []foreigner
	rates    []rate
	silences []silence
	next     time.Time // earliest of all deadlines; zero = none

	shares []share // scratch
	order  []int
}

// A rate counts the climbing probes of one child in the running second.
type rate struct {
	stream StreamID
	since  time.Time
	n      int
}

// New makes an empty set of searches.
func New(cfg Config) (*Searches, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Searches{cfg: cfg}, nil
}

// Origin is a search that begins at this node.
type Origin struct {
	Token Token
	Asker Asker
	// Empty is the number of this asker's rounds that found nothing, as counted here.
	Empty int
	// Depth is that of this node's children (PROTOCOL §3 Probe).
	Depth uint32
}

// Begin starts a search for an asker that found this node full. Down are the
// children, Up the parents that may be climbed to (none at a broker). The end
// comes as an action with the token, at the latest after the round's wait.
func (s *Searches) Begin(now time.Time, o Origin, down, up []Link, out []Action) ([]Action, Drop) {
	if s.origins >= s.cfg.Origins {
		return out, DropBound
	}
	budget, wait := s.cfg.round(o.Empty)
	wait = s.cfg.patience(wait, down, up)
	se := search{token: o.Token, asker: o.Asker, depth: o.Depth, until: now.Add(wait)}
	s.origins++
	return s.walk(now, se, walk{budget: budget, hops: 0}, down, up, out), Kept
}

// Serve takes a Probe that came over from. Self is this node as a candidate,
// nil if it has no slot for this asker: then the walkers that are left go on
// over down and, if the probe climbs, up. They go on too where it would have to
// make room: that is the second choice.
func (s *Searches) Serve(now time.Time, from *Link, p *wire.Probe, self *wire.Candidate, down, up []Link, out []Action) ([]Action, Drop) {
	se := search{from: from.Stream, reply: p.ID, asker: AskerOf(p), depth: p.Depth + 1}
	w := walk{budget: int(p.Budget), hops: int(p.Hops), climbs: p.Up}
	wait := time.Duration(p.DeadlineMS) * time.Millisecond
	if p.ID == 0 { // plain (PROTOCOL §5 Walkers)
		w, wait = walk{budget: 2}, s.cfg.PlainWait
	}
	switch {
	case w.budget < 1 || w.budget > MaxBudget, w.hops < 0 || w.hops > MaxHops, w.climbs && w.hops > MaxUpHops,
		p.DeadlineMS > uint32(MaxDeadline/time.Millisecond):
		return out, DropHops
	}
	outstanding := 0
	for i := range s.active {
		if s.active[i].from == from.Stream {
			outstanding++
		}
	}
	if outstanding >= s.cfg.PerStream {
		// An empty answer costs no more than silence and spares the asker its wait.
		return s.answer(&se, out), DropBound
	}
	if w.climbs && !s.allow(now, from.Stream) {
		return out, DropRate
	}
	if self != nil {
		se.offer(self)
		if !self.Displaces {
			return s.answer(&se, s.inOrder(&se, len(s.active), out)), Kept
		}
	}
	if !w.climbs || w.hops == MaxUpHops {
		up = nil
	}
	if w.hops == MaxHops {
		down = nil
	}
	se.until = now.Add(wait)
	return s.walk(now, se, w, down, up, out), Kept
}

// AskerOf reads the asker out of a Probe; a plain one names nobody.
func AskerOf(p *wire.Probe) Asker {
	return Asker{Peer: p.Asker, Band: p.BoundBand, Childless: p.Childless, Foreign: p.ID == 0 || !p.HasAsker}
}

// allow counts a climbing probe of a child against its rate.
func (s *Searches) allow(now time.Time, stream StreamID) bool {
	i := slices.IndexFunc(s.rates, func(r rate) bool { return r.stream == stream })
	if i < 0 {
		s.rates = append(s.rates, rate{stream: stream, since: now})
		i = len(s.rates) - 1
	}
	r := &s.rates[i]
	if now.Sub(r.since) >= time.Second {
		r.since, r.n = now, 0
	}
	r.n++
	return r.n <= s.cfg.UpRate
}

// A walk is the state of the walkers that reach a node together.
type walk struct {
	budget, hops int
	climbs       bool
}

// walk sends the walkers of se on, or answers at once if they can go nowhere.
func (s *Searches) walk(now time.Time, se search, w walk, down, up []Link, out []Action) []Action {
	s.lastKey++
	key := s.lastKey
	below := down[:0:0]
	for _, l := range down {
		if l.Relays && !l.Foreign && l.Stream != se.from && l.Rank.Overlay != se.asker.Peer && se.asker.Admits(l.Rank) {
			below = append(below, l)
		}
	}
	above := up[:0:0]
	for _, l := range up {
		if !l.Foreign && l.Stream != se.from && l.Rank.Overlay != se.asker.Peer && se.asker.Admits(l.Rank) {
			above = append(above, l)
		}
	}
	for _, sh := range s.split(w.budget, s.answering(now, below), above) {
		rtt := sh.link.RTT
		if rtt <= 0 {
			rtt = unknownRTT
		}
		left := se.until.Sub(now) - rtt*3/2
		if left < time.Millisecond {
			continue
		}
		s.lastID++
		p := wire.Probe{
			Depth: se.depth, ID: s.lastID, Budget: uint32(sh.budget), Hops: uint32(w.hops + 1), Up: sh.up,
			DeadlineMS: uint32(left / time.Millisecond), BoundBand: se.asker.Band, HasAsker: !se.asker.Foreign,
			Asker: se.asker.Peer, Childless: se.asker.Childless,
		}
		se.asks = append(se.asks, ask{sh.link.Stream, p.ID})
		out = append(out, Action{Stream: sh.link.Stream, Body: wire.AppendProbe(nil, &p)})
	}
	if len(se.asks) == 0 {
		var asked bool
		if out, asked = s.foreigners(now, key, &se, down, out); !asked {
			return s.end(&se, s.inOrder(&se, len(s.active), out))
		}
	}
	s.keys, s.active = append(s.keys, key), append(s.active, se)
	s.reckon()
	return out
}

// foreigners turns to the foreign children when the own ones yielded fewer
// than two candidates and the asker may take what they name.
func (s *Searches) foreigners(now time.Time, key uint64, se *search, down []Link, out []Action) ([]Action, bool) {
	if se.plain || se.sure() >= 2 || !se.asker.Unbounded() {
		return out, false
	}
	se.plain = true
	return s.askForeign(now, key, se, down, out)
}

func plainProbe(depth uint32) []byte { return wire.AppendProbe(nil, &wire.Probe{Depth: depth}) }

// end finishes a search that is not, or no longer, in the list.
func (s *Searches) end(se *search, out []Action) []Action {
	if se.from != 0 {
		return s.answer(se, out)
	}
	s.origins--
	return append(out, Action{Token: se.token, Found: slices.Clone(se.best[:se.n])})
}

func (s *Searches) answer(se *search, out []Action) []Action {
	return append(out, Action{
		Stream: se.from,
		Body:   wire.AppendFound(nil, &wire.Found{ID: se.reply, Candidates: se.best[:se.n]}),
	})
}

// Found takes a Candidates frame that came over stream. Down are the children,
// in case foreign ones are to be asked next.
func (s *Searches) Found(now time.Time, stream StreamID, f *wire.Found, down []Link, out []Action) ([]Action, Drop) {
	i := -1
	s.spoke(stream)
	if f.ID == 0 {
		fo := s.foreigner(stream)
		if fo == nil {
			return out, DropUnasked
		}
		if fo.owed > 0 { // late, but it did answer
			fo.owed--
			fo.ignored--
			return out, Kept
		}
		if fo.search == 0 {
			return out, DropUnasked
		}
		i = slices.Index(s.keys, fo.search)
		fo.search, fo.ignored = 0, 0
	} else {
		i = slices.IndexFunc(s.active, func(se search) bool { return slices.Contains(se.asks, ask{stream, f.ID}) })
	}
	if i < 0 {
		return out, DropUnasked
	}
	se := &s.active[i]
	se.answered(stream, f.ID)
	had := se.sure()
	for j := range f.Candidates {
		se.offer(&f.Candidates[j])
	}
	if had < 2 && se.sure() == 2 && now.Add(s.cfg.Grace).Before(se.until) {
		se.until, se.early = now.Add(s.cfg.Grace), true
	}
	out = s.conclude(now, i, down, out)
	s.reckon()
	return out, Kept
}

// conclude ends search i if nothing is outstanding any more and nobody is left to ask.
func (s *Searches) conclude(now time.Time, i int, down []Link, out []Action) []Action {
	se := &s.active[i]
	if len(se.asks) > 0 {
		return out
	}
	var asked bool
	if out, asked = s.foreigners(now, s.keys[i], se, down, out); asked {
		return out
	}
	return s.remove(i, out)
}

// remove ends search i, whatever is outstanding.
func (s *Searches) remove(i int, out []Action) []Action {
	key := s.keys[i]
	out = s.inOrder(&s.active[i], i, out)
	i = slices.Index(s.keys, key)
	se := s.forget(i)
	return s.end(&se, out)
}

// forget takes search i out of the list. Foreign children that it still waits
// for owe an answer that nobody will be there for.
func (s *Searches) forget(i int) search {
	se := s.active[i]
	for j := range s.foreign {
		if f := &s.foreign[j]; f.search == s.keys[i] {
			f.search = 0
			f.owed++
			f.ignored++
		}
	}
	s.keys = slices.Delete(s.keys, i, i+1)
	s.active = slices.Delete(s.active, i, i+1)
	return se
}

// Ended forgets a stream: what it was asked counts as answered, what it asked
// is given up.
func (s *Searches) Ended(now time.Time, stream StreamID, down []Link, out []Action) []Action {
	s.spoke(stream)
	s.foreign = slices.DeleteFunc(s.foreign, func(f foreigner) bool { return f.stream == stream })
	s.rates = slices.DeleteFunc(s.rates, func(r rate) bool { return r.stream == stream })
	for i := 0; i < len(s.active); {
		se := &s.active[i]
		if se.from == stream {
			s.forget(i)
			continue
		}
		before := len(se.asks)
		se.asks = slices.DeleteFunc(se.asks, func(a ask) bool { return a.stream == stream })
		n := len(s.active)
		if len(se.asks) < before {
			out = s.conclude(now, i, down, out)
		}
		i += 1 - (n - len(s.active)) // it, and those that were answered before it, are gone
	}
	s.reckon()
	return out
}

// Cancel gives up the origin's search token without an answer.
func (s *Searches) Cancel(token Token) {
	i := slices.IndexFunc(s.active, func(se search) bool { return se.from == 0 && se.token == token })
	if i >= 0 {
		s.remove(i, nil)
		s.reckon()
	}
}

// Tick ends what is due at now.
func (s *Searches) Tick(now time.Time, down []Link, out []Action) []Action {
	if s.next.IsZero() || now.Before(s.next) {
		return out
	}
	for i := range s.foreign {
		f := &s.foreign[i]
		if f.search == 0 || now.Before(f.until) {
			continue
		}
		if j := slices.Index(s.keys, f.search); j >= 0 {
			s.active[j].answered(f.stream, 0)
		}
		f.search = 0
		f.owed++
		f.ignored++
	}
	for i := 0; i < len(s.active); {
		n := len(s.active)
		if se := &s.active[i]; !now.Before(se.until) {
			if !se.early {
				s.unanswered(now, se)
			}
			out = s.remove(i, out)
		} else {
			out = s.conclude(now, i, down, out)
		}
		i += 1 - (n - len(s.active)) // it, and those that were answered before it, are gone
	}
	s.reckon()
	return out
}

// Deadline is when Tick wants to be called; zero: never.
func (s *Searches) Deadline() time.Time { return s.next }

// reckon finds the earliest deadline.
func (s *Searches) reckon() {
	s.next = time.Time{}
	for i := range s.active {
		s.next = earliest(s.next, s.active[i].until)
	}
	for i := range s.foreign {
		if s.foreign[i].search != 0 {
			s.next = earliest(s.next, s.foreign[i].until)
		}
	}
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
