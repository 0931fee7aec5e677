package probe_test

import (
	"testing"
	"time"

	"treecast/probe"
	"treecast/wire"
)

// Foreign children are asked when the own ones yield fewer than two, for askers
// that may take what has no rank.
func TestForeignAsked(t *testing.T) {
	b := newBench(t, probe.Config{})
	b.down = []probe.Link{child(1, "A"), foreign(2, "F"), foreign(3, "G")}
	b.want(b.begin(probe.Origin{Token: 1, Asker: childless}), "1 probe#1*4@1")
	b.want(b.found(1, 1, "P:2:3"), "2 plain; 3 plain")
	b.want(b.found(3, 0, "Q:5 R:1"), "") // two by now, but there is an answer to come
	b.want(b.found(2, 0, ""), "1: R:1 P:2")

	b.want(b.begin(probe.Origin{Token: 2, Asker: childless}), "1 probe#2*4@1")
	b.want(b.found(1, 2, "P:2:3 Q:2:3"), "2: P:2 Q:2")

	b.want(b.begin(probe.Origin{Token: 3, Asker: probe.Asker{Peer: node("Z"), Band: 9}}), "1 probe#3*4@1")
	b.want(b.found(1, 3, ""), "3:")

	// None of ours: at once. The asker's own stream is left out, and so is that
	// from which its probe came.
	b.down = []probe.Link{foreign(2, "F"), foreign(3, "G")}
	b.want(b.begin(probe.Origin{Token: 4, Asker: probe.Asker{Peer: node("F"), Foreign: true}}), "3 plain")
	b.want(b.found(3, 0, ""), "4:")
	b.want(b.serve(3, wire.Probe{Depth: 2}, nil), "2 plain")
	b.want(b.found(2, 0, "P:4"), "3 found#0 P:4")
}

// The receivers of a plain probe are one deeper than what it says.
func TestPlainDepth(t *testing.T) {
	b := newBench(t, probe.Config{})
	for _, c := range []struct {
		act  func() []probe.Action
		want uint32
	}{
		{func() []probe.Action {
			out, _ := b.s.Begin(b.now, probe.Origin{Token: 1, Asker: childless, Depth: 7}, []probe.Link{foreign(1, "F")}, nil, nil)
			return out
		}, 7},
		{func() []probe.Action {
			out, _ := b.s.Serve(b.now, &probe.Link{Stream: 9}, &wire.Probe{Depth: 3}, nil, []probe.Link{foreign(2, "G")}, nil, nil)
			return out
		}, 4},
	} {
		var m wire.Broadcast
		if err := m.Parse(c.act()[0].Body); err != nil || m.Probe != (wire.Probe{Depth: c.want}) {
			t.Errorf("plain probe %+v, %v; want depth %d", m.Probe, err, c.want)
		}
	}
}

// One at a time for each child: who waits for one search's answer is not asked
// for another one.
func TestPlainOneAtATime(t *testing.T) {
	b := newBench(t, probe.Config{})
	b.down = []probe.Link{foreign(2, "F"), foreign(3, "G")}
	b.want(b.begin(probe.Origin{Token: 1, Asker: childless}), "2 plain; 3 plain")
	b.want(b.begin(probe.Origin{Token: 2, Asker: childless}), "2:")
	b.want(b.found(2, 0, "P:1"), "")
	b.want(b.begin(probe.Origin{Token: 3, Asker: childless}), "2 plain")
	b.want(b.found(2, 0, "Q:1"), "3: Q:1")
	b.want(b.found(3, 0, ""), "1: P:1")
	b.want(b.found(3, 0, ""), "drop 4")
}

// After 300 ms the next answer is the late one and is discarded; two that were
// ignored are enough, until the child answers after all.
func TestPlainIgnored(t *testing.T) {
	b := newBench(t, probe.Config{})
	b.down = []probe.Link{foreign(2, "F")}
	b.want(b.begin(probe.Origin{Token: 1, Asker: childless}), "2 plain")
	b.want(b.tick(), "300ms 1:")
	b.want(b.begin(probe.Origin{Token: 2, Asker: childless}), "2 plain")
	b.want(b.found(2, 0, "P:1"), "") // late
	b.want(b.found(2, 0, "Q:1"), "2: Q:1")
	for token := probe.Token(3); token <= 4; token++ {
		b.begin(probe.Origin{Token: token, Asker: childless})
		b.tick()
	}
	b.want(b.begin(probe.Origin{Token: 5, Asker: childless}), "5:")
	b.want(b.found(2, 0, "P:1"), "")
	b.want(b.begin(probe.Origin{Token: 6, Asker: childless}), "2 plain")
	// A new stream is a new child.
	b.want(b.ended(2), "6:")
	b.down = []probe.Link{foreign(5, "F")}
	b.want(b.begin(probe.Origin{Token: 7, Asker: childless}), "5 plain")
}

// The wait for a foreign child ends with the search, and a search that was given
// up leaves an answer to be discarded.
func TestPlainCutShort(t *testing.T) {
	b := newBench(t, probe.Config{Wait: 100 * time.Millisecond})
	b.down = []probe.Link{foreign(2, "F")}
	b.want(b.begin(probe.Origin{Token: 1, Asker: childless}), "2 plain")
	b.want(b.tick(), "100ms 1:")
	b.want(b.found(2, 0, "P:1"), "")

	b.want(b.begin(probe.Origin{Token: 2, Asker: childless}), "2 plain")
	b.s.Cancel(2)
	b.want(b.tick(), "never")
	b.want(b.begin(probe.Origin{Token: 3, Asker: childless}), "2 plain")
	b.want(b.found(2, 0, "P:1"), "")
	b.want(b.found(2, 0, "Q:1"), "3: Q:1")

	// One served for a stream that ended meanwhile.
	b.want(b.serve(9, wire.Probe{Depth: 2}, nil), "2 plain")
	b.want(b.ended(9), "")
	b.want(b.tick(), "never")
	b.want(b.found(2, 0, "P:1"), "")
	b.want(b.begin(probe.Origin{Token: 4, Asker: childless}), "2 plain")
}
