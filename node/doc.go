// Package node runs treecast on libp2p: it owns everything that touches the
// world around the deterministic core in package tree (PROTOCOL §1 to §5, §10).
//
// A [Node] has one identity, one libp2p host and any number of cohorts. Per
// cohort one goroutine, the loop, owns the core; per stream there is one reader
// and one writer; a fixed pool of goroutines checks chunks for all cohorts:
//
//	reader ──batches──▶ loop ──frames──▶ queue of each child ──▶ writer
//	                    │  ▲
//	               chunks  verdicts, in the order asked
//	                    ▼  │
//	                  verifier pool
//
// A reader blocks on the loop, so that a flood is stopped at its source; the
// loop blocks on nobody: a child whose queue is full is cut off, and a
// subscription that does not keep up ends. A chunk's bytes are read once into a
// buffer of wire.Pool; that same buffer is verified, queued to every child and
// shown to the application.
//
// Chunks with a feed index are kept (package retain) and pass one more stage on
// their way to the application, which puts them in order and finds out what is
// missing (package order). What is missing is asked for over streams of their own,
// and comes back to the loop like a reader's frames (PROTOCOL §8).
//
// A child that was accepted stays one until its stream is reset or its connection
// ends; one that has closed its own half is looked at now and then with a write
// that can send nothing, as some transports tell no reader of a reset after that.
// [Node.Leave] and [Cohort.Leave] depart without a gap for those below; Close is
// what a crash looks like to them, which they heal from.
//
// What the package never does: decide anything about the tree (package tree
// does), re-encode a chunk that it relays, or write a key into a log.
package node
