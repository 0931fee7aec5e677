package sim

import (
	"fmt"
	"time"
)

// Run plays the run that cfg describes. It fails on a Config that makes none,
// naming field and value, and when Trace cannot be written.
func Run(cfg Config) (Result, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Result{}, err
	}
	start := time.Now()
	w, err := newWorld(cfg)
	if err != nil {
		return Result{}, err
	}
	w.build()
	if cfg.Storm > 0 {
		w.storm()
	}
	w.failures("churn", share(cfg.Churn, cfg.Nodes), evDie, false)
	w.failures("turnover", share(cfg.Turnover, cfg.Nodes), evDie, true)
	w.failures("leave", share(cfg.Leave, cfg.Nodes), evLeave, false)
	if cfg.Burst > 0 {
		w.burst()
	}
	if cfg.Partition > 0 {
		w.partition()
	}
	if cfg.Mix > 0 {
		w.mix()
	}
	w.idle()
	r := w.result()
	r.TraceSHA256, err = w.trace.hash()
	if err != nil {
		return r, fmt.Errorf("sim: trace: %w", err)
	}
	r.ElapsedS = time.Since(start).Seconds()
	return r, nil
}

func share(s float64, n int) int { return int(s*float64(n) + 0.5) }

// progress tells the caller, every so often.
func (w *world) progress(part string, done, total int) {
	if w.cfg.Progress != nil && (done == total || done%max(1, min(total/100, 1000)) == 0) {
		w.cfg.Progress(Progress{part, done, total, time.Duration(w.now), len(w.live), w.sent})
	}
}

// calm says that the episode under way is over: everything planned has happened
// and was noticed, no chunk is on its way, nobody is without the parents it had.
func (w *world) calm() bool {
	return w.planned == 0 && w.notices == 0 && w.flying == 0 && w.lost == 0 && w.joining == 0
}

// rest waits until an episode is over, at most HealLimit, gives up who is not
// well by then, and counts the chunks. Look says whether the graph is looked at.
func (w *world) rest(look bool) {
	limit := w.now + int64(HealLimit)
	w.run(limit, w.calm)
	if w.planned > 0 { // a leaver or a partition may take longer
		w.run(limit+int64(HealLimit), w.calm)
	}
	if w.lost > 0 || w.joining > 0 {
		w.giveUp()
	}
	w.closeChunks()
	if look {
		w.look()
	}
}

// giveUp waits no longer for those that lack a parent.
func (w *world) giveUp() {
	for _, i := range w.live {
		n := &w.nodes[i]
		if n.lostAt != 0 {
			n.lostAt, n.stuck = 0, true
			w.lost--
			w.stats.healFailed++
		}
		if !n.joined && !n.stuck {
			n.stuck = true
			w.joining--
		}
	}
}

// look surveys the graph and keeps the worst of what it shows.
func (w *world) look() {
	s := w.graph.look(w)
	st := &w.stats
	st.dominated, st.islands, st.cycles = max(st.dominated, s.dominated), max(st.islands, s.islands), max(st.cycles, s.cycles)
	st.exemptIslands, st.exemptRings = max(st.exemptIslands, s.exemptIslands), max(st.exemptRings, s.exemptRings)
	dual := 1.0
	if s.wanting > 0 {
		dual = float64(s.dual) / float64(s.wanting)
	}
	if st.rests == 0 || dual < st.dualShare {
		st.dualShare = dual
	}
	st.rests++
	st.last = s
}

// result gathers what the run has shown.
func (w *world) result() Result {
	s := &w.stats
	r := Result{
		Nodes: w.cfg.Nodes, Seed: w.cfg.Seed, Joins: s.joins, Failures: s.failures, Leaves: s.leaves,
		DualParentedShare: s.dualShare, Dominated: s.dominated, Islands: s.islands, Cycles: s.cycles,
		FramesMaxNode: s.mostAt, HealRTT: share3(s.healing), HealFailed: s.healFailed,
		Published: len(w.chunks.list), Missing: s.missing, DuplicatesSurfaced: s.surfaced, InvariantViolations: s.violations,
	}
	join := share3(s.joinTimes)
	r.JoinRTT = Share2{join.P50, join.P95}
	if n := float64(max(len(s.joinTimes), 1)); s.measured > 0 {
		r.FramesPerJoin, r.SubscribesPerJoin = float64(s.joinProbes)/n, float64(s.joinSubs)/n
	}
	l := &s.last
	count := float64(max(l.count, 1))
	r.Depth = Depth{float64(l.near) / count, l.nearMax, ideal(len(w.live), w.cfg.Relays, w.cfg.BrokerCapacity, w.cfg.Capacity)}
	r.Detail = Detail{
		Truncated: w.stop, Rests: s.rests, Violations: s.words, Unsettled: w.unsettled,
		FarMean: float64(l.far) / count, FarMax: l.farMax, AttachRTT: share3(s.attachTimes),
		DarkRTT: share3(s.dark), Darks: len(s.dark), Heals: len(s.healing),
		Probes: s.probes, Answers: s.answers, Chunks: s.chunks, Subscribes: s.subscribes,
		Repeated: max(0, int(w.copies)-s.delivered), Late: s.late, MissingMax: s.missingMax, Exempt: l.exempt,
		ExemptIslands: s.exemptIslands, ExemptRings: s.exemptRings,
		BytesPerNode: s.bytes, Simulated: time.Duration(w.now), Idle: s.idle,
	}
	for _, i := range w.live {
		if len(w.nodes[i].parents) == 0 {
			r.Detail.Orphans++
		}
	}
	return r
}
