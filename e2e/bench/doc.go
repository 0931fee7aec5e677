// Command bench measures treecast beside go-libp2p-pubsub's gossipsub (make bench):
// closed loops, fixed rates, objects in fragments, hosts that are killed or fall
// silent, an idle minute, joins, a relay beside its parts, memory, the codecs, and
// how cost grows with hosts, sizes, children and cohorts.
//
// Both sides run in this process, one after the other, in alternating rounds, on
// the same kind of hosts (tcp, noise, yamux, on loopback), with the same payloads,
// as many subscribers and one publisher, which signs each chunk as it goes. Both
// check each chunk once a host, with the same code. Streams are counted in the
// same place for both, in front of the host; CPU time is the process's, with
// whatever generator and subscribers take; where the system allows it all runs in
// a network namespace of its own, so that the loopback device counts too.
//
// A row is void, and says why, when the tree it ran on was too flat, had too few
// second parents or too few copies to show what it is for.
//
// Progress goes to stderr and tables to stdout, the last of them a verdict on each
// threshold that the rows decide; bench.json has the medians over the rounds and the
// ratios ours / theirs, verdict.json the verdicts, and the plots stand beside them.
//
// The package's tests hold the arithmetic, and the counts that make up the cost of a
// chunk: checks, copies, bytes and allocations. They never look at a time.
package main
