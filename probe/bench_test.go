package probe_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"treecast/probe"
	"treecast/wire"
)

// bench is one node's searches under test, with the links that it has and a
// clock. Every call's actions are returned in a readable form.
type bench struct {
	t    *testing.T
	s    *probe.Searches
	now  time.Time
	down []probe.Link
	up   []probe.Link
}

func newBench(t *testing.T, cfg probe.Config) *bench {
	t.Helper()
	if cfg.Rand == nil {
		cfg.Rand = rand.New(rand.NewPCG(1, 2))
	}
	s, err := probe.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, s: s, now: time.Unix(1_700_000_000, 0)}
}

func node(name string) (o wire.Overlay) {
	copy(o[:], name)
	return o
}

func name(o wire.Overlay) string { return strings.TrimRight(string(o[:]), "\x00") }

// child is a link to a relaying child of ours; its round trip takes no time to
// speak of, so that deadlines stay round.
func child(stream probe.StreamID, name string) probe.Link {
	return probe.Link{Stream: stream, Rank: probe.Rank{Band: 5, Overlay: node(name)}, Relays: true, RTT: time.Microsecond}
}

func foreign(stream probe.StreamID, name string) probe.Link {
	return probe.Link{Stream: stream, Rank: probe.Rank{Band: 5, Overlay: node(name)}, Foreign: true}
}

// candidate reads "A:depth" or "A:depth:band", with a "!" for one that displaces.
func candidate(text string) (c wire.Candidate) {
	text, c.Displaces = strings.CutSuffix(text, "!")
	n, _ := fmt.Sscanf(strings.ReplaceAll(text, ":", " "), "%s %d %d", new(string), &c.Depth, &c.Band)
	c.HasBand = n == 3
	c.Addr = node(strings.SplitN(text, ":", 2)[0])
	return c
}

func candidates(text string) (list []wire.Candidate) {
	for _, w := range strings.Fields(text) {
		list = append(list, candidate(w))
	}
	return list
}

// found takes a Candidates frame and tells what came of it.
func (b *bench) found(stream probe.StreamID, id uint64, list string) string {
	b.t.Helper()
	out, drop := b.s.Found(b.now, stream, &wire.Found{ID: id, Candidates: candidates(list)}, b.down, nil)
	return b.show(out, drop)
}

// begin starts a search of this node's own.
func (b *bench) begin(o probe.Origin) string {
	b.t.Helper()
	out, drop := b.s.Begin(b.now, o, b.down, b.up, nil)
	return b.show(out, drop)
}

func (b *bench) serve(from probe.StreamID, p wire.Probe, self *wire.Candidate) string {
	b.t.Helper()
	out, drop := b.s.Serve(b.now, &probe.Link{Stream: from}, &p, self, b.down, b.up, nil)
	return b.show(out, drop)
}

// tick goes to the deadline, and tells how far away it was.
func (b *bench) tick() string {
	b.t.Helper()
	d := b.s.Deadline()
	if d.IsZero() {
		return "never"
	}
	after := d.Sub(b.now)
	if out := b.s.Tick(d.Add(-1), b.down, nil); len(out) > 0 {
		b.t.Errorf("acts %d times before its deadline", len(out))
	}
	b.now = d
	return fmt.Sprintf("%v %s", after, b.show(b.s.Tick(b.now, b.down, nil), probe.Kept))
}

func (b *bench) ended(stream probe.StreamID) string {
	b.t.Helper()
	b.down = slices.DeleteFunc(b.down, func(l probe.Link) bool { return l.Stream == stream })
	return b.show(b.s.Ended(b.now, stream, b.down, nil), probe.Kept)
}

// show writes "stream probe#id*budget@hops", "stream plain", "stream found#id
// candidates", or "token: candidates", joined with "; ".
func (b *bench) show(out []probe.Action, drop probe.Drop) string {
	b.t.Helper()
	if err := b.s.Valid(); err != nil {
		b.t.Fatal(err)
	}
	var parts []string
	if drop != probe.Kept {
		parts = append(parts, fmt.Sprintf("drop %d", drop))
	}
	for _, a := range out {
		if a.Stream == 0 {
			parts = append(parts, fmt.Sprintf("%d:%s", a.Token, list(a.Found)))
			continue
		}
		var m wire.Broadcast
		if err := m.Parse(a.Body); err != nil {
			b.t.Fatal(err)
		}
		switch p := &m.Probe; {
		case m.Kind == wire.KindFound:
			parts = append(parts, fmt.Sprintf("%d found#%d%s", a.Stream, m.Found.ID, list(m.Found.Candidates)))
		case p.ID == 0:
			parts = append(parts, fmt.Sprintf("%d plain", a.Stream))
		default:
			up := map[bool]string{true: "^"}[p.Up]
			parts = append(parts, fmt.Sprintf("%d probe#%d*%d@%d%s", a.Stream, p.ID, p.Budget, p.Hops, up))
		}
	}
	return strings.Join(parts, "; ")
}

func list(cs []wire.Candidate) string {
	var b strings.Builder
	for _, c := range cs {
		fmt.Fprintf(&b, " %s:%d", name(c.Addr), c.Depth)
	}
	return b.String()
}

func (b *bench) want(got, want string) {
	b.t.Helper()
	if got != want {
		b.t.Errorf("got  %q\nwant %q", got, want)
	}
}

var childless = probe.Asker{Peer: node("Z"), Childless: true}
