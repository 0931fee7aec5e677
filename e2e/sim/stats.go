package sim

import (
	"slices"

	"treecast/wire"
)

// stats counts over a run.
type stats struct {
	joinStats
	chunkStats
	restStats
	failures, leaves            int
	healFailed                  int
	healing, dark               []float32 // median round trips
	probes, answers, subscribes int
	violations                  int
	words                       []string
	bytes                       float64 // of live heap a node
	idle                        int     // frames in an idle minute
}

// joinStats are about joins; all but the first about those that are measured.
type joinStats struct {
	joins                        int
	measured                     int
	joinTimes, attachTimes       []float32 // median round trips
	joinProbes, joinSubs, mostAt int
}

// chunkStats are about chunks.
type chunkStats struct {
	chunks                    int // frames
	delivered, surfaced, late int
	missing, missingMax       int
}

// restStats are the worst of all rest points, and the last.
type restStats struct {
	rests                      int
	dominated, islands, cycles int
	exemptIslands, exemptRings int
	dualShare                  float64
	last                       survey
}

// rtts are simulated nanoseconds in median round trips.
func (w *world) rtts(ns int64) float32 { return float32(float64(ns) / float64(w.cfg.RTTMedian)) }

// attached notes a node's first parent.
func (s *stats) attached(w *world, n *node) {
	if n.measured {
		s.attachTimes = append(s.attachTimes, w.rtts(w.now-n.joinAt))
	}
}

// joined notes that a node has the parents it wants for the first time.
func (s *stats) joined(w *world, n *node) {
	if n.measured {
		s.joinTimes = append(s.joinTimes, w.rtts(w.now-n.joinAt))
		s.joinSubs += int(n.subs)
	}
	n.visits = nil
}

// lit notes that a node that had lost all its parents has one again.
func (s *stats) lit(w *world, n *node) {
	if n.darkAt != 0 {
		s.dark = append(s.dark, w.rtts(w.now-n.darkAt))
		n.darkAt = 0
	}
}

func (s *stats) healed(w *world, n *node) {
	s.healing = append(s.healing, w.rtts(w.now-n.lostAt))
}

// measure makes a node's join one that the join figures are about.
func (w *world) measure(i int32) {
	w.nodes[i].measured = true
	w.stats.measured++
}

// count takes a control frame that reached node i. The asker of a plain probe is
// known to the simulator alone.
func (w *world) count(i, asker int32) {
	if w.msg.Kind == wire.KindFound {
		w.stats.answers++
	}
	if w.msg.Kind != wire.KindProbe {
		return
	}
	w.stats.probes++
	if w.msg.Probe.HasAsker {
		asker = w.index(w.msg.Probe.Asker)
	}
	if asker < 0 || !w.nodes[asker].measured || w.nodes[asker].joined || w.nodes[asker].state != stateLive {
		return
	}
	w.stats.joinProbes++
	n := &w.nodes[asker]
	for k := range n.visits {
		if v := &n.visits[k]; v.node == i {
			v.n++
			w.stats.mostAt = max(w.stats.mostAt, int(v.n))
			return
		}
	}
	w.stats.mostAt = max(w.stats.mostAt, 1)
	if len(n.visits) < maxVisits {
		n.visits = append(n.visits, visit{i, 1})
	}
}

// maxVisits bounds the nodes whose probes of one join are told apart.
const maxVisits = 256

// quantile is the value below which a share q of the sorted list lies.
func quantile(sorted []float32, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[min(int(q*float64(len(sorted))), len(sorted)-1)])
}

func share3(list []float32) Share3 {
	slices.Sort(list)
	return Share3{quantile(list, 0.5), quantile(list, 0.95), quantile(list, 1)}
}

// ideal is the mean depth of a tree of n nodes, a share of them relays, in which
// every row is full before the next begins and relays come first.
func ideal(n int, relays float64, broker, capacity int) float64 {
	left, leftRelays := n, int(float64(n)*relays+0.5)
	slots, depth, sum := broker, 1, 0
	for left > 0 && slots > 0 {
		row := min(slots, left)
		r := min(row, leftRelays)
		sum += depth * row
		left, leftRelays = left-row, leftRelays-r
		slots = r * capacity / 2
		depth++
	}
	return float64(sum) / float64(max(n-left, 1))
}
