package sim

import (
	"math"
	"time"
)

// maxRTT bounds the round trip of a pair: beyond it no connection would be kept.
const maxRTT = 2 * time.Second

// oneWay is the latency of the link between two nodes: half a round trip that
// is lognormal over the pairs, up to a bound. It follows from the pair and the seed, so that
// nothing is stored for a pair.
func (w *world) oneWay(a, b int32) int64 {
	if a > b {
		a, b = b, a
	}
	h := mix(mix(w.cfg.Seed+0x51) ^ uint64(uint32(a))<<32 ^ uint64(uint32(b)))
	u := (float64(h>>11) + 0.5) / (1 << 53)
	rtt := float64(w.cfg.RTTMedian) * math.Exp(w.cfg.RTTSigma*normal(u))
	return min(max(int64(rtt/2), int64(time.Microsecond)), int64(maxRTT/2))
}

// normal is the standard normal deviate below which a share u lies.
func normal(u float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*u) }

// crosses says whether a partition lies between two nodes now.
func (w *world) crosses(a, b int32) bool {
	return w.cutUntil != 0 && w.nodes[a].cut != w.nodes[b].cut
}
