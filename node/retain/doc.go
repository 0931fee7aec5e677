// Package retain keeps the chunks of a cohort's feeds and gives them to those
// who lack them (PROTOCOL §8).
//
// A [Log] is what one cohort keeps: the newest of its traffic in memory, in a
// [Ring], and with a [Store] all of it on disk, up to a size and an age that
// the node's cohorts share. Both are read alike, a [Page] at a time, by owner
// and index. [Serve] and [Fetch] are the two ends of the recovery protocol over
// a stream that somebody else opened; package order decides what is asked of
// whom.
//
// What is kept are the messages as they came, byte for byte. The package checks
// no signature: what it is given was verified, and what it fetches is for its
// caller to verify.
package retain
