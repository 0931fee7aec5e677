package probe_test

import (
	"fmt"
	"testing"
	"time"

	"treecast/probe"
	"treecast/wire"
)

// An answer leaves when all that were asked have answered, 60 ms after the second
// candidate, or at the deadline.
func TestWhenItEnds(t *testing.T) {
	three := func() *bench {
		b := newBench(t, probe.Config{})
		b.down = []probe.Link{child(1, "A"), child(2, "B"), child(3, "C")}
		b.want(b.begin(probe.Origin{Token: 1, Asker: childless}), "3 probe#1*2@1; 2 probe#2*1@1; 1 probe#3*1@1")
		return b
	}
	b := three() // all
	b.want(b.found(3, 1, ""), "")
	b.want(b.found(2, 2, ""), "")
	b.want(b.found(1, 3, "P:1:2"), "1: P:1")
	b.want(b.tick(), "never")

	b = three() // two candidates
	b.now = b.now.Add(200 * time.Millisecond)
	b.want(b.found(3, 1, "P:1:2"), "")
	b.want(b.found(2, 2, "Q:1:2"), "")
	b.now = b.now.Add(10 * time.Millisecond)
	b.want(b.tick(), "50ms 1: P:1 Q:1")

	b = three() // the grace begins once
	b.want(b.found(3, 1, "P:3:4 Q:3:4"), "")
	b.now = b.now.Add(50 * time.Millisecond)
	b.want(b.found(2, 2, "R:1:2 S:2:3"), "")
	b.want(b.tick(), "10ms 1: R:1 S:2")

	b = three() // the grace never makes it longer
	b.now = b.now.Add(970 * time.Millisecond)
	b.want(b.found(3, 1, "P:3:4 Q:3:4"), "")
	b.want(b.tick(), "30ms 1: P:3 Q:3")

	b = three() // one candidate, and the deadline
	b.want(b.found(3, 1, "P:3:4"), "")
	b.want(b.tick(), "1s 1: P:3")
	b.want(b.found(2, 2, "Q:3:4"), "drop 4")
}

// Answers that nobody waits for: never asked, asked somebody else, answered before.
func TestUnasked(t *testing.T) {
	b := newBench(t, probe.Config{})
	b.down = []probe.Link{child(1, "A"), child(2, "B")}
	b.begin(probe.Origin{Token: 1, Asker: childless})
	b.want(b.found(1, 9, "P:1:2"), "drop 4")
	b.want(b.found(1, 0, "P:1:2"), "drop 4")
	b.want(b.found(3, 1, "P:1:2")+b.found(3, 2, "P:1:2"), "drop 4drop 4")
	first := b.found(1, 1, "") + b.found(2, 1, "")
	b.want(first, "drop 4")
	b.want(b.found(1, 1, ""), "drop 4")
	b.want(b.found(2, 1, ""), "drop 4")
}

// Who is asked: children that relay and rank below the bound, never the asker,
// whoever the probe came from, or a foreign node; parents only when it climbs.
func TestWhoIsAsked(t *testing.T) {
	b := newBench(t, probe.Config{})
	leaf, over, far := child(2, "B"), child(3, "Y"), foreign(4, "F")
	leaf.Relays, over.Rank.Band = false, 9
	b.down = []probe.Link{child(1, "A"), leaf, over, far, child(5, "N"), child(6, "E")}
	b.up = []probe.Link{child(7, "P"), foreign(8, "G"), child(9, "N"), child(6, "E")}
	p := wire.Probe{ID: 1, Budget: 64, Hops: 1, DeadlineMS: 900, HasAsker: true, Asker: node("N"), BoundBand: 6}
	b.want(b.serve(6, p, nil), "1 probe#1*64@2")
	p.Up = true
	b.want(b.serve(6, p, nil), "7 probe#2*31@2^; 1 probe#3*33@2")
}

// A node that can offer itself answers at once and asks nobody.
func TestSelf(t *testing.T) {
	b := newBench(t, probe.Config{})
	b.down = []probe.Link{child(1, "A")}
	self := candidate("S:3:4")
	p := wire.Probe{ID: 5, Budget: 4, Hops: 1, DeadlineMS: 900, HasAsker: true, Asker: node("Z"), BoundBand: 6}
	b.want(b.serve(6, p, &self), "6 found#5 S:3")
	b.want(b.serve(6, wire.Probe{Depth: 3}, &self), "6 found#0 S:3")
	b.want(b.tick(), "never")
}

// The deadline that is passed on is what is left, less 1.5 round trips; who
// would have less than a millisecond is not asked.
func TestDeadlinePassedOn(t *testing.T) {
	for _, c := range []struct {
		rtt, left time.Duration
		want      uint32
	}{
		{0, 900, 825}, // not measured: 50 ms
		{100, 900, 750},
		{100, 151, 1},
		{100, 150, 0},
		{100, 0, 0},
	} {
		b := newBench(t, probe.Config{})
		l := child(1, "A")
		l.RTT = c.rtt * time.Millisecond
		p := wire.Probe{ID: 5, Budget: 4, Hops: 1, DeadlineMS: uint32(c.left), HasAsker: true, Asker: node("Z"), Childless: true}
		out, drop := b.s.Serve(b.now, &probe.Link{Stream: 9}, &p, nil, []probe.Link{l}, nil, nil)
		var m wire.Broadcast
		if err := m.Parse(out[0].Body); err != nil || drop != probe.Kept || len(out) != 1 {
			t.Fatal(err, drop, out)
		}
		if c.want == 0 && m.Kind != wire.KindFound || m.Probe.DeadlineMS != c.want {
			t.Errorf("rtt %d ms, left %d ms: passed on %v %d", c.rtt, c.left, m.Kind, m.Probe.DeadlineMS)
		}
	}
}

// What a probe passes on about its asker is what came in.
func TestProbePassedOn(t *testing.T) {
	b := newBench(t, probe.Config{})
	for _, p := range []wire.Probe{
		{Depth: 3, ID: 5, Budget: 9, Hops: 2, DeadlineMS: 900, HasAsker: true, Asker: node("Z"), BoundBand: 6},
		{Depth: 3, ID: 5, Budget: 9, Hops: 2, DeadlineMS: 900, HasAsker: true, Asker: node("Z"), Childless: true},
		{Depth: 3, ID: 5, Budget: 9, Hops: 2, DeadlineMS: 900}, // of a foreign asker
	} {
		out, _ := b.s.Serve(b.now, &probe.Link{Stream: 9}, &p, nil, []probe.Link{child(1, "A")}, nil, nil)
		var m wire.Broadcast
		if err := m.Parse(out[0].Body); err != nil {
			t.Fatal(err)
		}
		want := p
		want.Depth, want.Hops, want.ID, want.DeadlineMS = 4, 3, m.Probe.ID, m.Probe.DeadlineMS
		if m.Probe != want {
			t.Errorf("passed on %+v, want %+v", m.Probe, want)
		}
	}
	// A plain one goes on as 2 walkers (PROTOCOL §5 Walkers).
	b.down = []probe.Link{child(1, "A"), child(2, "B"), child(3, "C")}
	b.want(b.serve(9, wire.Probe{Depth: 3}, nil), "3 probe#4*1@1; 2 probe#5*1@1")
	b.want(b.tick(), "300ms 9 found#0")
}

func TestLimits(t *testing.T) {
	fine := wire.Probe{ID: 5, Budget: 64, Hops: 64, DeadlineMS: 4000, HasAsker: true, Asker: node("Z"), Childless: true}
	for _, c := range []struct {
		what   string
		change func(*wire.Probe)
		want   probe.Drop
	}{
		{"all at their limits", func(*wire.Probe) {}, probe.Kept},
		{"budget 0", func(p *wire.Probe) { p.Budget = 0 }, probe.DropHops},
		{"budget 65", func(p *wire.Probe) { p.Budget = 65 }, probe.DropHops},
		{"budget 2^32-1", func(p *wire.Probe) { p.Budget = 1<<32 - 1 }, probe.DropHops},
		{"hops 65", func(p *wire.Probe) { p.Hops = 65 }, probe.DropHops},
		{"hops 2^32-1", func(p *wire.Probe) { p.Hops = 1<<32 - 1 }, probe.DropHops},
		{"deadline 4001 ms", func(p *wire.Probe) { p.DeadlineMS = 4001 }, probe.DropHops},
		{"up 8 hops", func(p *wire.Probe) { p.Up, p.Hops = true, 8 }, probe.Kept},
		{"up 9 hops", func(p *wire.Probe) { p.Up, p.Hops = true, 9 }, probe.DropHops},
	} {
		b := newBench(t, probe.Config{})
		p := fine
		c.change(&p)
		if _, drop := b.s.Serve(b.now, &probe.Link{Stream: 1}, &p, nil, nil, nil, nil); drop != c.want {
			t.Errorf("%s: %d", c.what, drop)
		}
	}
}

// At the last hop nobody is asked any more: after 64 of them, or 8 upwards.
func TestLastHop(t *testing.T) {
	b := newBench(t, probe.Config{})
	b.down, b.up = []probe.Link{child(1, "A")}, []probe.Link{child(2, "P")}
	p := wire.Probe{ID: 5, Budget: 1, Hops: 64, DeadlineMS: 900, HasAsker: true, Asker: node("Z"), Childless: true}
	b.want(b.serve(9, p, nil), "9 found#5")
	p.Hops, p.Up, p.Budget = 8, true, 8
	b.want(b.serve(9, p, nil), "1 probe#1*8@9")
}

func TestBounds(t *testing.T) {
	b := newBench(t, probe.Config{PerStream: 3, UpRate: 2, Origins: 2})
	b.down = []probe.Link{child(1, "A")}
	p := wire.Probe{Budget: 1, Hops: 1, DeadlineMS: 900, HasAsker: true, Asker: node("Z"), Childless: true}
	ask := func(from probe.StreamID) string { p.ID++; return b.serve(from, p, nil) }
	// Outstanding for one stream; another one has its own.
	b.want(ask(8)+";"+ask(8)+";"+ask(8), "1 probe#1*1@2;1 probe#2*1@2;1 probe#3*1@2")
	b.want(ask(8), "drop 1; 8 found#4")
	b.want(ask(9), "1 probe#4*1@2")
	b.want(b.found(1, 2, ""), "8 found#2")
	b.want(ask(8), "1 probe#5*1@2")
	// Climbing ones a second and child. One that is dropped for it counts as well.
	p.Up = true
	b.want(ask(7)+";"+ask(7)+";"+ask(7), "1 probe#6*1@2;1 probe#7*1@2;drop 2")
	b.want(ask(6), "1 probe#8*1@2")
	b.now = b.now.Add(time.Second - 1)
	b.s.Tick(b.now, b.down, nil)
	b.want(ask(7), "drop 2")
	b.now = b.now.Add(1)
	b.want(ask(7), "1 probe#9*1@2")
	// Searches begun here.
	for i, want := range []string{"1 probe#10*4@1", "1 probe#11*4@1", "drop 1"} {
		b.want(b.begin(probe.Origin{Token: probe.Token(i), Asker: childless}), want)
	}
	b.s.Cancel(0)
	b.want(b.begin(probe.Origin{Token: 3, Asker: childless}), "1 probe#12*4@1")
	b.s.Cancel(99) // nobody's
	b.want(b.begin(probe.Origin{Token: 4, Asker: childless}), "drop 1")
}

// The end of a stream counts as its answer to all that it was asked; what it
// asked is given up without a word.
func TestEnded(t *testing.T) {
	b := newBench(t, probe.Config{})
	b.down = []probe.Link{child(1, "A"), child(2, "B")}
	p := wire.Probe{ID: 5, Budget: 2, Hops: 1, DeadlineMS: 900, HasAsker: true, Asker: node("Z"), Childless: true}
	b.want(b.begin(probe.Origin{Token: 1, Asker: childless}), "1 probe#1*2@1; 2 probe#2*2@1")
	b.want(b.serve(8, p, nil), "1 probe#3*1@2; 2 probe#4*1@2")
	b.want(b.serve(9, p, nil), "1 probe#5*1@2; 2 probe#6*1@2")
	b.want(b.found(2, 2, "P:1:2"), "")
	b.want(b.found(2, 6, ""), "")
	b.want(b.ended(8), "")
	b.want(b.found(1, 3, ""), "drop 4")
	b.want(b.ended(1), "1: P:1; 9 found#5")
	b.want(b.tick(), "never")

	// With its last ask gone, a search turns to the foreign children.
	b = newBench(t, probe.Config{})
	b.down = []probe.Link{child(1, "A"), foreign(2, "F")}
	b.want(b.begin(probe.Origin{Token: 1, Asker: childless}), "1 probe#1*4@1")
	b.want(b.ended(1), "2 plain")
	b.want(b.ended(2), "1:")
}

// Every hop has ids of its own, never 0 and never the same.
func TestIDs(t *testing.T) {
	b := newBench(t, probe.Config{})
	b.down = []probe.Link{child(1, "A")}
	for i := 1; i <= 5; i++ {
		b.want(b.begin(probe.Origin{Token: probe.Token(i), Asker: childless}), fmt.Sprintf("1 probe#%d*4@1", i))
	}
}

// Searches end in the order of their beginning, whatever the links' order.
func TestTokens(t *testing.T) {
	b := newBench(t, probe.Config{})
	b.down = []probe.Link{child(1, "A")}
	for i := 1; i <= 3; i++ {
		b.begin(probe.Origin{Token: probe.Token(10 - i), Asker: childless})
	}
	b.want(b.tick(), "1s 9:; 8:; 7:")
}
