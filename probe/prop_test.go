package probe_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"treecast/probe"
	"treecast/wire"
)

// A naiveSearch keeps all that was named and picks at the end: the oracle for
// what a search keeps, and for when it ends.
type naiveSearch struct {
	token probe.Token
	from  probe.StreamID
	reply uint64
	asker probe.Asker
	until time.Time
	asks  map[ask]bool
	named []wire.Candidate
}

type ask struct {
	stream probe.StreamID
	id     uint64
}

// best is the two best of distinct addresses: the first named of equals.
func (n *naiveSearch) best() (best []wire.Candidate) {
	fit := slices.DeleteFunc(slices.Clone(n.named), func(c wire.Candidate) bool {
		bounded := !n.asker.Childless && !n.asker.Foreign
		low := c.HasBand && probe.Rank{Band: c.Band, Overlay: c.Addr}.Less(probe.Rank{Band: n.asker.Band, Overlay: n.asker.Peer})
		return c.Addr == n.asker.Peer && c.Addr != wire.Overlay{} || bounded && !low
	})
	slices.SortStableFunc(fit, func(a, b wire.Candidate) int {
		if a.Displaces != b.Displaces {
			return map[bool]int{true: 1, false: -1}[a.Displaces]
		}
		return cmp.Compare(a.Depth, b.Depth)
	})
	for _, c := range fit {
		if len(best) < 2 && !slices.ContainsFunc(best, func(b wire.Candidate) bool { return b.Addr == c.Addr }) {
			best = append(best, c)
		}
	}
	return best
}

// model drives Searches with random calls beside the naive searches.
type model struct {
	t       *rapid.T
	s       *probe.Searches
	now     time.Time
	down    []probe.Link
	up      []probe.Link
	open    []*naiveSearch // in order of their beginning
	last    probe.Token
	lastID  uint64
	foreign bool // there are foreign children, whom the oracle does not follow
}

func drawCandidate(t *rapid.T) wire.Candidate {
	c := wire.Candidate{
		Addr: node(rapid.SampledFrom([]string{"A", "B", "C", "D", "Z"}).Draw(t, "named")), Depth: rapid.Uint32Range(0, 3).Draw(t, "depth"),
		HasBand: rapid.Bool().Draw(t, "ranked"), Band: rapid.Uint32Range(0, 4).Draw(t, "band"), Displaces: rapid.Bool().Draw(t, "displaces"),
	}
	if !c.HasBand {
		c.Band = 0
	}
	return c
}

// took sorts the actions of one call: probes belong to the search that the call
// began, ends are compared with the oracle's.
func (m *model) took(out []probe.Action, began *naiveSearch) {
	t := m.t
	for _, a := range out {
		var b wire.Broadcast
		if a.Stream != 0 {
			if err := b.Parse(a.Body); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case a.Stream == 0:
			i := slices.IndexFunc(m.open, func(n *naiveSearch) bool { return n.from == 0 && n.token == a.Token })
			m.ends(i, a.Found)
		case b.Kind == wire.KindFound:
			i := slices.IndexFunc(m.open, func(n *naiveSearch) bool { return n.from == a.Stream && n.reply == b.Found.ID })
			m.ends(i, b.Found.Candidates)
		case b.Probe.ID != 0:
			if began == nil || b.Probe.ID <= m.lastID {
				t.Fatalf("probe %d at a time when none is due", b.Probe.ID)
			}
			m.lastID = b.Probe.ID
			began.asks[ask{a.Stream, b.Probe.ID}] = true
		}
	}
	if err := m.s.Valid(); err != nil {
		t.Fatal(err)
	}
	if m.foreign {
		return
	}
	for _, n := range m.open { // whatever should have ended has
		if len(n.asks) == 0 || !m.now.Before(n.until) {
			t.Fatalf("search %d for stream %d goes on", n.token, n.from)
		}
	}
}

func (m *model) ends(i int, found []wire.Candidate) {
	if i < 0 {
		m.t.Fatal("end of a search that is not open")
	}
	n := m.open[i]
	m.open = slices.Delete(m.open, i, i+1)
	if m.foreign {
		return
	}
	if len(n.asks) > 0 && m.now.Before(n.until) {
		m.t.Fatalf("search %d ended early", n.token)
	}
	want := n.best()
	if fmt.Sprint(want) != fmt.Sprint(found) {
		m.t.Fatalf("found %v, want %v", found, want)
	}
}

func (m *model) tick() { m.took(m.s.Tick(m.now, m.down, nil), nil) }

func (m *model) asker() probe.Asker {
	return probe.Asker{
		Peer: node("Z"), Band: rapid.Uint32Range(0, 4).Draw(m.t, "asker's band"), Childless: rapid.Bool().Draw(m.t, "childless"),
	}
}

func (m *model) begin(*rapid.T) {
	m.last++
	o := probe.Origin{Token: m.last, Asker: m.asker(), Empty: rapid.IntRange(0, 5).Draw(m.t, "empty")}
	n := &naiveSearch{token: o.Token, asker: o.Asker, until: m.now.Add(min(time.Second<<o.Empty, 4*time.Second)), asks: map[ask]bool{}}
	m.open = append(m.open, n)
	out, drop := m.s.Begin(m.now, o, m.down, m.up, nil)
	if drop != probe.Kept {
		if count := m.count(0); count != 9 || drop != probe.DropBound {
			m.t.Fatalf("dropped as %d with %d searches", drop, count-1)
		}
		m.open = m.open[:len(m.open)-1]
	}
	m.took(out, n)
}

func (m *model) count(from probe.StreamID) (n int) {
	for _, o := range m.open {
		if o.from == from {
			n++
		}
	}
	return n
}

func (m *model) serve(*rapid.T) {
	asker := m.asker()
	m.last++
	p := wire.Probe{
		ID: uint64(m.last), Budget: rapid.Uint32Range(1, 64).Draw(m.t, "budget"), Hops: rapid.Uint32Range(0, 8).Draw(m.t, "hops"),
		Up: rapid.Bool().Draw(m.t, "up"), DeadlineMS: rapid.Uint32Range(0, 4000).Draw(m.t, "left"),
		HasAsker: true, Asker: asker.Peer, BoundBand: asker.Band, Childless: asker.Childless,
	}
	from := rapid.SampledFrom([]probe.StreamID{50, 51}).Draw(m.t, "from")
	n := &naiveSearch{
		from: from, reply: p.ID, asker: asker, asks: map[ask]bool{},
		until: m.now.Add(time.Duration(p.DeadlineMS) * time.Millisecond),
	}
	m.open = append(m.open, n)
	out, drop := m.s.Serve(m.now, &probe.Link{Stream: from}, &p, nil, m.down, m.up, nil)
	if drop != probe.Kept {
		if drop == probe.DropBound && m.count(from) != 5 || drop == probe.DropHops {
			m.t.Fatalf("dropped as %d with %d searches", drop, m.count(from)-1)
		}
		if drop != probe.DropBound { // that one is answered, with nothing
			m.open = m.open[:len(m.open)-1]
		}
	}
	m.took(out, n)
}

// sure counts the best that have a free slot.
func (n *naiveSearch) sure() (sure int) {
	for _, c := range n.best() {
		if !c.Displaces {
			sure++
		}
	}
	return sure
}

// answer answers an ask that is outstanding, or now and then one that is not.
func (m *model) answer(*rapid.T) {
	var asks []ask
	for _, n := range m.open {
		for a := range n.asks {
			asks = append(asks, a)
		}
	}
	slices.SortFunc(asks, func(a, b ask) int { return cmp.Compare(a.id, b.id) })
	a := ask{1, 1 << 40}
	if len(asks) > 0 {
		a = rapid.SampledFrom(asks).Draw(m.t, "ask")
	}
	if rapid.IntRange(0, 9).Draw(m.t, "wrong") == 0 {
		a.stream++
	}
	f := &wire.Found{ID: a.id, Candidates: rapid.SliceOfN(rapid.Custom(drawCandidate), 0, 2).Draw(m.t, "candidates")}
	i := slices.IndexFunc(m.open, func(n *naiveSearch) bool { return n.asks[a] })
	if i >= 0 {
		n := m.open[i]
		delete(n.asks, a)
		had := n.sure()
		n.named = append(n.named, f.Candidates...)
		if grace := m.now.Add(60 * time.Millisecond); had < 2 && n.sure() == 2 && grace.Before(n.until) {
			n.until = grace
		}
	}
	out, drop := m.s.Found(m.now, a.stream, f, m.down, nil)
	if (drop == probe.Kept) != (i >= 0) {
		m.t.Fatalf("answer %v: %d", a, drop)
	}
	m.took(out, nil)
}

// plain answers a plain probe, or none.
func (m *model) plain(*rapid.T) {
	if !m.foreign {
		return
	}
	f := &wire.Found{Candidates: rapid.SliceOfN(rapid.Custom(drawCandidate), 0, 2).Draw(m.t, "candidates")}
	out, _ := m.s.Found(m.now, rapid.SampledFrom([]probe.StreamID{3, 4, 5}).Draw(m.t, "stream"), f, m.down, nil)
	m.took(out, nil)
}

func (m *model) wait(*rapid.T) {
	if d := m.s.Deadline(); !d.IsZero() && rapid.Bool().Draw(m.t, "to the deadline") {
		m.now = d
	} else {
		m.now = m.now.Add(time.Duration(rapid.IntRange(0, 700).Draw(m.t, "ms")) * time.Millisecond)
	}
	m.tick()
}

// end ends a stream: of a child, of a parent, or of a prober.
func (m *model) end(*rapid.T) {
	stream := rapid.SampledFrom([]probe.StreamID{1, 2, 3, 4, 10, 50, 51}).Draw(m.t, "stream")
	gone := func(l probe.Link) bool { return l.Stream == stream }
	m.down, m.up = slices.DeleteFunc(m.down, gone), slices.DeleteFunc(m.up, gone)
	m.open = slices.DeleteFunc(m.open, func(n *naiveSearch) bool { return n.from == stream })
	for _, n := range m.open {
		for a := range n.asks {
			if a.stream == stream {
				delete(n.asks, a)
			}
		}
	}
	m.took(m.s.Ended(m.now, stream, m.down, nil), nil)
}

func (m *model) cancel(*rapid.T) {
	token := probe.Token(rapid.IntRange(0, int(m.last)).Draw(m.t, "token"))
	m.open = slices.DeleteFunc(m.open, func(n *naiveSearch) bool { return n.from == 0 && n.token == token })
	m.s.Cancel(token)
	m.took(nil, nil)
}

// TestRandomSearches compares with the oracle: what each search finds, that it
// ends exactly once, and not before or after its time.
func TestRandomSearches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { runModel(t, false) })
}

// TestRandomForeign is the same with foreign children: each search still ends
// exactly once.
func TestRandomForeign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { runModel(t, true) })
}

func runModel(t *rapid.T, withForeign bool) {
	seed := rapid.Uint64().Draw(t, "seed")
	s, err := probe.New(probe.Config{Rand: rand.New(rand.NewPCG(seed, 0)), PerStream: 4, Origins: 8, UpRate: 5})
	if err != nil {
		t.Fatal(err)
	}
	m := &model{t: t, s: s, now: time.Unix(1_700_000_000, 0), foreign: withForeign}
	m.down = []probe.Link{child(1, "P"), child(2, "Q")}
	m.up = []probe.Link{child(10, "U")}
	if withForeign {
		m.down = append(m.down, foreign(3, "F"), foreign(4, "G"))
	}
	for i := range m.down {
		m.down[i].Rank.Band = 2
	}
	t.Repeat(map[string]func(*rapid.T){
		"begin": m.begin, "serve": m.serve, "answer": m.answer, "plain": m.plain, "wait": m.wait, "end": m.end, "cancel": m.cancel,
	})
	// With time alone all of them end.
	for range 100 {
		d := m.s.Deadline()
		if d.IsZero() {
			break
		}
		m.now = d
		m.tick()
	}
	if len(m.open) > 0 {
		t.Fatalf("%d searches never end", len(m.open))
	}
}
