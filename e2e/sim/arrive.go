package sim

import "runtime"

// build lets the first nodes join, one after the other at random distances: not
// more in a round trip than a quarter and a 64th of those that are there, nor
// than Config.Arrivals, so that it is no storm.
func (w *world) build() {
	total := w.cfg.Nodes + w.cfg.Leaves60
	at := float64(w.now)
	for k := range total {
		kind := kindOurs
		if k < w.cfg.Leaves60 {
			kind = kindLeaf60
		}
		rate := min(w.cfg.Arrivals, 0.25+float64(len(w.live))/64)
		at += w.rng.ExpFloat64() / rate * float64(w.cfg.RTTMedian)
		i := w.addNode(kind)
		if w.cfg.Storm == 0 && k >= w.cfg.Leaves60 {
			w.measure(i)
		}
		w.plan(evJoin, event{at: int64(at), node: i})
		w.run(int64(at), nil)
		w.stats.joins++
		w.progress("build", k+1, total)
	}
	w.rest(true)
	w.weigh()
}

// weigh measures the live heap.
func (w *world) weigh() {
	if w.cfg.Progress == nil {
		return
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	w.stats.bytes = float64(m.HeapAlloc) / float64(len(w.nodes))
}

// storm lets many nodes join at nearly the same time.
func (w *world) storm() {
	for range w.cfg.Storm {
		i := w.addNode(kindOurs)
		w.measure(i)
		w.stats.joins++
		w.plan(evJoin, event{at: w.now + w.rng.Int64N(int64(StormSpan)), node: i})
	}
	w.rest(true)
	w.progress("storm", 1, 1)
}
