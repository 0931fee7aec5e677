// Package sim is a discrete-event simulator of one cohort: thousands to a
// million nodes, each running the very [treecast/tree] and [treecast/probe]
// that the daemon runs, over links with latency, deaths, partitions, foreign
// nodes and liars (PROTOCOL §5, §6; CLI `treecast sim`).
//
// It has no second copy of the protocol's rules. What it models by itself is the
// world (time, links, dials, how a death is noticed) and nodes that are not ours:
// the plain SWIP-61 relay, which is also `--rules plain`, and the SWIP-60 leaf.
//
// After every event that changes an attachment it checks the ranks and slots of
// those concerned; at every rest point the whole graph: rings, islands, and
// nodes that another one could cut off (ARCHITECTURE Invariants 1-3, 5).
//
// Everything follows from [Config].Seed: the same Config gives the same actions
// in the same order, and so the same [Result].TraceSHA256. One goroutine, no
// clock but for [Result].ElapsedS.
package sim
