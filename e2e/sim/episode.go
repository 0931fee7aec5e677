package sim

import "slices"

// victim is a live node by chance, -1 if there is none left.
func (w *world) victim() int32 {
	for range 1000 {
		if len(w.live) == 0 {
			return -1
		}
		if i := w.live[w.rng.IntN(len(w.live))]; w.nodes[i].state == stateLive && !w.nodes[i].going {
			return i
		}
	}
	return -1
}

// quietly says whether the next death is one that nobody is told of.
func (w *world) quietly() int32 {
	if w.rng.Float64() < w.cfg.Silent {
		return 1
	}
	return 0
}

// failures lets nodes go one by one, each time waiting until all are well again.
// With joins, a newcomer comes at the same time.
func (w *world) failures(part string, count int, kind eventKind, joins bool) {
	every := 1
	if w.cfg.Nodes > fewNodes {
		every = max(1, count/samples)
	}
	for k := range count {
		i := w.victim()
		if i < 0 || w.stop {
			return
		}
		rtt := int64(w.cfg.RTTMedian)
		sampled := k%every == every-1 || k == count-1
		w.mark(i, kind)
		w.plan(kind, event{at: w.now + 2*rtt, node: i, arg: w.quietly()})
		if sampled && (every == 1 || w.published(part) < samples) {
			w.plan(evPublish, event{at: w.now + w.rng.Int64N(6*rtt)})
		}
		if joins {
			j := w.addNode(kindOurs)
			w.stats.joins++
			w.plan(evJoin, event{at: w.now + w.rng.Int64N(4*rtt), node: j})
		}
		w.rest(sampled)
		if kind == evLeave {
			w.stats.leaves++
		} else {
			w.stats.failures++
		}
		w.progress(part, k+1, count)
	}
}

// published is the number of chunks of a part of the run.
func (w *world) published(part string) int {
	c := &w.chunks
	if c.part != part {
		c.part, c.from = part, len(c.list)
	}
	return len(c.list) - c.from
}

// burst lets many nodes fail at one moment.
func (w *world) burst() {
	at := w.now + 2*int64(w.cfg.RTTMedian)
	for range share(w.cfg.Burst, len(w.live)) {
		i := w.victim()
		if i < 0 {
			break
		}
		w.mark(i, evDie)
		w.stats.failures++
		w.plan(evDie, event{at: at, node: i, arg: w.quietly()})
	}
	w.plan(evPublish, event{at: w.now + w.rng.Int64N(6*int64(w.cfg.RTTMedian))})
	w.rest(true)
	w.progress("burst", 1, 1)
}

// partition cuts some nodes off for a while.
func (w *world) partition() {
	far := slices.Clone(w.live)
	for k := range share(w.cfg.Partition, len(far)) {
		j := k + w.rng.IntN(len(far)-k)
		far[k], far[j] = far[j], far[k]
		w.nodes[far[k]].cut = true
	}
	at := w.now + int64(w.cfg.RTTMedian)
	w.cutPlanned = true
	w.plan(evCut, event{at: at, arg: 1})
	w.plan(evCut, event{at: at + int64(w.cfg.PartitionFor)})
	w.plan(evPublish, event{at: at + w.rng.Int64N(int64(w.cfg.PartitionFor)+1)})
	w.run(at+int64(w.cfg.PartitionFor), nil)
	w.rest(true)
	w.cutPlanned = false
	w.progress("partition", 1, 1)
}

// idle sees that a cohort at rest sends nothing, once what a change leaves behind
// is over (ARCHITECTURE Invariants 5).
func (w *world) idle() {
	if w.stop {
		return
	}
	// An unwanted parent for whom nobody better is found is forgiven after a minute.
	w.run(w.now+2*int64(IdleFor), nil)
	// Whoever feeds itself in a ring goes on looking for a way out, as does one whom no
	// Subscribe reaches in time.
	well, before := w.unsettled == 0 && w.roomy() && w.graph.fed(w), w.sent
	w.run(w.now+int64(IdleFor), nil)
	w.stats.idle = w.sent - before
	if well && w.stats.idle > 0 {
		w.violated(0, "%d frames in an idle minute", w.stats.idle)
	}
	if w.held > 0 {
		w.violated(0, "%d chunks are still held at rest", w.held)
	}
	w.look()
}

// roomy says whether there are slots for all the parents that are wanted. Where
// there are not, those that had to make room go on looking.
func (w *world) roomy() bool {
	slots, wanted := 0, 0
	for i := range w.nodes {
		n := &w.nodes[i]
		if i > 0 && n.state != stateLive {
			continue
		}
		slots += int(n.capacity)
		wanted += 2
	}
	return slots >= wanted-2-int(min(w.nodes[0].children, w.nodes[0].capacity))
}
