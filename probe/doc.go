// Package probe runs one node's searches for free slots in one cohort
// (PROTOCOL §5 Probe, Walkers).
//
// A search starts here for a peer that found this node full ([Searches.Begin]),
// or arrives as a Probe frame from a parent or, climbing, from a child
// ([Searches.Serve]). Either way its budget is split over links, each share
// under an id of this node's own, and the answers are filtered to the best two.
// An answer leaves when all that were asked have answered, a short grace after
// the second candidate, or at the deadline.
//
// The package decides nothing about slots and ranks of this node itself: the
// caller says whether it can offer itself. It holds no goroutine, clock or
// randomness of its own, caches nothing and merges nothing.
package probe
