package demo

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// Report is what a demo showed; the fields of `treecast demo --json`.
type Report struct {
	Nodes        int     `json:"nodes"`
	Attached     int     `json:"attached"`      // before the first kill
	DualParented float64 `json:"dual_parented"` // share of the nodes not under the broker, before the first kill
	MaxDepth     int     `json:"max_depth"`     // fewest steps from the broker to the node farthest from it
	Relays       int     `json:"relays"`        // nodes with children, the broker apart

	Objects          int   `json:"objects"`
	ObjectBytesTotal int64 `json:"object_bytes_total"`
	Consumers        int   `json:"consumers"`

	DeliveriesExpected int `json:"deliveries_expected"`
	Deliveries         int `json:"deliveries"` // distinct ones, compared byte for byte
	Missing            int `json:"missing"`
	Corrupted          int `json:"corrupted"`
	DuplicatesSurfaced int `json:"duplicates_surfaced"`

	Killed         int `json:"killed"`
	KilledChildren int `json:"killed_children"` // nodes that lost a parent by that
	Left           int `json:"left"`            // relays that left gracefully

	RateReached  float64   `json:"rate_reached"`   // objects a second that the ingress took
	LongestGapMS float64   `json:"longest_gap_ms"` // between two deliveries at one consumer, while objects were submitted
	HealMS       Healing   `json:"heal_ms"`        // from the cut until a child has the parents it wants again
	LatencyMS    Latency   `json:"latency_ms"`     // from the submission until a consumer has the record
	WireBytes    WireShare `json:"wire_bytes_per_payload_byte"`
	Recovered    int       `json:"recovered"` // chunks that the consumers' nodes had to ask for
	ElapsedS     float64   `json:"elapsed_s"`
	OK           bool      `json:"ok"` // nothing missing, corrupted or surfaced twice

	complete int // objects that every consumer has
	unhealed int // nodes that lost a parent and had not found another at the end
}

// Distributions in milliseconds; 0 without a sample.
type (
	// Healing leaves out nodes that had not healed at the end.
	Healing struct {
		P50 float64 `json:"p50"`
		P95 float64 `json:"p95"`
		Max float64 `json:"max"`
	}
	// Latency has a sample for every delivery.
	Latency struct {
		P50 float64 `json:"p50"`
		P99 float64 `json:"p99"`
		Max float64 `json:"max"`
	}
)

// WireShare is bytes sent on the tree's streams by all nodes, for each byte of
// the objects and each node that is to get them: 1 is what a single copy to
// everybody would cost, 2 that of two parents each.
type WireShare float64

// quantile is the q-th of the sorted samples, in milliseconds.
func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return ms(sorted[max(0, min(i, len(sorted)-1))])
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func healing(samples []time.Duration) Healing {
	slices.Sort(samples)
	return Healing{quantile(samples, 0.5), quantile(samples, 0.95), quantile(samples, 1)}
}

func latency(samples []time.Duration) Latency {
	slices.Sort(samples)
	return Latency{quantile(samples, 0.5), quantile(samples, 0.99), quantile(samples, 1)}
}

// WriteTable prints the report for people; its last line says how many objects
// every consumer has.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	row("network", "%d nodes, %d attached, %d relaying, depth %d, %.0f %% of those not under the broker with two parents",
		r.Nodes, r.Attached, r.Relays, r.MaxDepth, 100*r.DualParented)
	row("objects", "%d, %d bytes, at %.1f a second", r.Objects, r.ObjectBytesTotal, r.RateReached)
	row("consumers", "%d, %d of %d deliveries, %d missing, %d corrupted, %d surfaced twice", r.Consumers,
		r.Deliveries, r.DeliveriesExpected, r.Missing, r.Corrupted, r.DuplicatesSurfaced)
	row("cut off", "%d relays, by which %d nodes lost a parent, %d of them without another at the end",
		r.Killed, r.KilledChildren, r.unhealed)
	if r.Left > 0 {
		row("left", "%d relays, gracefully", r.Left)
	}
	row("healed in", "p50 %.1f ms, p95 %.1f ms, max %.1f ms", r.HealMS.P50, r.HealMS.P95, r.HealMS.Max)
	row("latency", "p50 %.1f ms, p99 %.1f ms, max %.1f ms", r.LatencyMS.P50, r.LatencyMS.P99, r.LatencyMS.Max)
	row("longest gap", "%.1f ms", r.LongestGapMS)
	row("wire", "%.2f bytes sent per payload byte and node", float64(r.WireBytes))
	row("took", "%.1f s", r.ElapsedS)
	fmt.Fprintf(&b, "%d of %d objects delivered, byte for byte, to each of %d consumers; relays cut off on the way: %d",
		r.complete, r.Objects, r.Consumers, r.Killed)
	if r.Left > 0 {
		fmt.Fprintf(&b, ", left: %d", r.Left)
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}
