// Package order puts the chunks of a cohort's feeds into the order of their
// indices, and finds out whom to ask for those that did not come (PROTOCOL §8).
//
// It is a deterministic core like package tree: events in, actions out, no
// goroutine, clock, socket or chance of its own. [Feeds] is one node's part in
// one cohort. Each chunk that the tree delivers with a feed index arrives here
// once and leaves once, in [ActHandOver] or [ActDrop]:
//
//	next            end
//	 │   gap   held  │
//	─┴──┌────┐─■■─┌─┐┴──▶ index
//
// What lies below next is settled: handed over, or reported as a gap. A chunk at
// next is handed over at once; one above it is held until the gap below it has
// closed, or until the bounds of holding are reached: then the gap is reported
// and passed. Meanwhile, and for a while after, the gap's chunks are asked for
// at the parents and at last at an entry point, one request at a time each.
//
// A gap needs a newer chunk to show it. When the chunks of all parents stop at
// once, the parents are asked what lies behind the newest one; those that keep it
// back, or that say nothing, are named in [ActWithheld]. While nobody says anything,
// and when all parents are lost, an entry point is asked for what follows, a few
// times a second, until a parent sends something again.
//
// The package believes nobody: that an index exists is known from a verified
// chunk, or claimed by a parent's head, which costs some requests if it is a lie
// and moves nothing.
package order
