package sim

import "time"

// Result is what a run has shown; its JSON form is the contract of CLI
// `treecast sim --json`.
type Result struct {
	Nodes    int    `json:"nodes"`
	Seed     uint64 `json:"seed"`
	Joins    int    `json:"joins"`
	Failures int    `json:"failures"`
	Leaves   int    `json:"leaves"`
	Depth    Depth  `json:"depth"`
	// DualParentedShare is that of the nodes that want two parents and are not
	// fed by the broker: the lowest over all rest points.
	DualParentedShare float64 `json:"dual_parented_share"`
	// Dominated, Islands and Cycles are the highest over all rest points: nodes of
	// two parents, with only ours above them, that a node other than the broker
	// cuts off; live nodes that the broker does not feed; rings of parents. Islands
	// and rings with foreign nodes or liars in them, or above, are in Detail.
	Dominated int `json:"dominated"`
	Islands   int `json:"islands"`
	Cycles    int `json:"cycles"`
	// The next four are about the storm's joins if there was a storm, else about
	// the build-up's. Frames are Probe frames, as each has one answer; the most at
	// one node is for one join. A join ends when the node has the parents it wants.
	FramesPerJoin     float64 `json:"frames_per_join"`
	FramesMaxNode     int     `json:"frames_max_node"`
	JoinRTT           Share2  `json:"join_rtt"`
	SubscribesPerJoin float64 `json:"subscribes_per_join"`
	// HealRTT is from a node's notice that it lost a parent until it has the
	// parents it wants again, in median round trips. HealFailed are the nodes that
	// did not get there within HealLimit.
	HealRTT    Share3 `json:"heal_rtt"`
	HealFailed int    `json:"heal_failed"`
	// Missing are pairs of a published chunk and a node that did not get it
	// although the broker had a way to it past all that failed meanwhile.
	Published           int     `json:"published"`
	Missing             int     `json:"missing"`
	DuplicatesSurfaced  int     `json:"duplicates_surfaced"`
	InvariantViolations int     `json:"invariant_violations"`
	TraceSHA256         string  `json:"trace_sha256"`
	ElapsedS            float64 `json:"elapsed_s"`

	Detail Detail `json:"-"`
}

// Depth is the distance from the broker in hops along the shortest path, which
// the first copy of a chunk takes, at the last rest point. Ideal is the mean of a
// tree without a free slot above its last row.
type Depth struct {
	Mean  float64 `json:"mean"`
	Max   int     `json:"max"`
	Ideal float64 `json:"ideal"`
}

// Share2 are two quantiles in median round trips.
type Share2 struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

// Share3 are three quantiles in median round trips.
type Share3 struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	Max float64 `json:"max"`
}

// Detail is what a run has shown beyond the contract.
type Detail struct {
	// Truncated says that Config.Frames ended the run.
	Truncated bool
	// Rests is the number of rest points whose graph was looked at.
	Rests int
	// Violations are the first of them in words, with their time.
	Violations []string
	// Unsettled is the number of live nodes without the parents they want, and
	// Orphans that of those without any, at the end.
	Unsettled, Orphans int
	// FarMean and FarMax are depths along the longest path.
	FarMean float64
	FarMax  int
	// AttachRTT is from a join to its first parent.
	AttachRTT Share3
	// DarkRTT is from the loss of a node's last parent until it has one again, Darks
	// the number of times that it came about, and Heals that of HealRTT's healings.
	DarkRTT      Share3
	Darks, Heals int
	// Frames by kind, and subscribes, over the whole run.
	Probes, Answers, Chunks, Subscribes int
	// Repeated are second copies that came in, Late deliveries that took longer
	// than LateAfter, MissingMax the most chunks that one node lacks.
	Repeated, Late, MissingMax int
	// Exempt are nodes with a foreign node or a liar above them, of which the
	// guarantees are not (PROTOCOL §5 Foreign parents), at the end. ExemptIslands
	// and ExemptRings are islands and rings of such: the most at any rest point.
	Exempt, ExemptIslands, ExemptRings int
	// BytesPerNode is the live heap after the build-up over the nodes; only
	// measured if Config.Progress is set, as it forces a collection.
	BytesPerNode float64
	// Simulated is the time that passed in the simulation.
	Simulated time.Duration
	// Idle is the number of frames in IdleFor at the end, when nothing was to be done.
	Idle int
}

// Bounds of what a Result counts.
const (
	// HealLimit is how long after the last failure healing is waited for.
	HealLimit = 90 * time.Second
	// LateAfter is when a delivery is late: what PROTOCOL §8 holds back for order.
	LateAfter = 2 * time.Second
	// IdleFor is how long an idle cohort is watched at the end.
	IdleFor = time.Minute
	// fewNodes is up to how many nodes a chunk is published in each failure, and
	// the graph looked at after each.
	fewNodes = 1000
	// samples is in how many failures it is done in larger trees.
	samples = 200
)
