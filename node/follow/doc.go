// Package follow reads the BEEF objects of a node's cohorts for named consumers,
// each from where it has come to (PROTOCOL §7 Egress lanes, resume).
//
// A [Hub] knows the cohorts and the stored positions. A [Follower] is one name's
// reader: it takes chunks out of what the node keeps of each feed, puts objects
// together and gives out those that its election matches, in the order of each
// feed. There is no live queue beside: what is at hand is read at the pace of the
// reader, be it a second old or a day, so nothing is lost, repeated or disordered
// where a reader catches up, and a slow one costs nobody anything.
//
// A position is, for each owner's feed in each cohort, a [retain.Cursor]: all that
// is done with. An index is done when its chunk is no part of an elected object,
// when that object was acknowledged, or when it was never published. What is
// missing, or part of an object that is not whole, stays open: it is read again
// when something late comes, and at the next start.
//
// The package keeps no chunk and asks nobody for one: that is the node's part.
package follow
