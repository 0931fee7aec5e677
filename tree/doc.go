// Package tree is one node's part in one cohort: a deterministic core that
// takes events and appends actions (PROTOCOL §4, §5).
//
// It admits publications and chunks by the cohort's spec, keeps the duplicate
// window, gives child slots away, finds and keeps parents below its own rank,
// searches its subtree for those it has no slot for, heals after a parent's
// death, and tells a publisher that its chunk came back down.
//
// It opens no stream, checks no signature, reads no clock: all of that is an
// action whose answer comes as an event. See [Cohort].
package tree
