package sim

// mix lets faults overlap, as many as Config.Mix: joins, deaths, graceful leaves
// and publications at random distances of a few round trips. Those that are to
// go are chosen first, so that it is known who has to get each chunk.
func (w *world) mix() {
	at, rtt := w.now, int64(w.cfg.RTTMedian)
	keep := len(w.live)/4 + 1
	for k := range w.cfg.Mix {
		at += int64(w.rng.ExpFloat64() * 3 * float64(rtt))
		switch p := w.rng.Float64(); {
		case p < 0.35:
			i := w.addNode(kindOurs)
			w.stats.joins++
			w.plan(evJoin, event{at: at, node: i})
		case p < 0.80:
			i := w.victim()
			if keep++; i < 0 || keep > len(w.live) {
				continue
			}
			if p < 0.60 {
				w.mark(i, evDie)
				w.stats.failures++
				w.plan(evDie, event{at: at, node: i, arg: w.quietly()})
			} else {
				w.mark(i, evLeave)
				w.nodes[i].doomed = true // others fail meanwhile, and not all of them are noticed yet
				w.stats.leaves++
				w.plan(evLeave, event{at: at, node: i})
			}
		default:
			w.plan(evPublish, event{at: at})
		}
		w.progress("mix", k+1, w.cfg.Mix)
	}
	w.run(at, nil)
	w.rest(true)
}
