package tree

// A Counter is one reason why something was dropped or refused, or one event
// worth counting (PROTOCOL §10).
type Counter uint8

// The counters of a cohort.
const (
	CountDelivered Counter = iota
	CountDuplicate
	CountWrongDirection
	CountUnknownFields
	CountNonCanonical
	CountForged
	CountNotAdmitted
	CountWrongBinding
	CountEquivocation
	CountFromDepth
	CountProbes
	CountProbeBound
	CountProbeRate
	CountProbeHops
	CountFoundUnasked
	CountJoinsBound
	CountRefusedFull
	CountRefusedRejected
	CountRefusedUnknown
	CountRefusedSlow
	CountSlow
	CountHeals
	CountRankRefused
	CountSpecConflict
	CountRingAverted
	CountReparents
	CountReparentIgnored
	CountDisplaced
	CountLag
	CountSentUp
	CountRecovered
	CountLeadFailed
	numCounters
)

var counterNames = [numCounters]string{
	"delivered", "duplicate", "wrong_direction", "unknown_fields", "non_canonical", "forged",
	"not_admitted", "wrong_binding", "equivocation", "from_depth", "probes", "probe_bound",
	"probe_rate", "probe_hops", "found_unasked", "joins_bound", "refused_full",
	"refused_rejected", "refused_unknown", "refused_slow", "slow", "heals", "rank_refused",
	"spec_conflict", "ring_averted", "reparents", "reparent_ignored", "displaced", "lag", "sent_up",
	"recovered", "lead_failed",
}

// String is the counter's name, fit for a metric's label.
func (c Counter) String() string { return counterNames[c] }

// Counters are all counts of a cohort since it was made.
type Counters [numCounters]uint64
