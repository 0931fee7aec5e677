package probe

import (
	"time"

	"treecast/wire"
)

// A Token is the caller's name for a search that it began.
type Token uint64

// Link is a stream over which a search can travel.
type Link struct {
	Stream StreamID
	Rank   Rank // a child's may be out of date, never too high
	// Relays says that the child has slots of its own.
	Relays  bool
	Foreign bool
	// RTT is 0 while it is not measured.
	RTT time.Duration
}

// Action is one of two things: a frame for Stream, or, if Stream is 0, the end
// of the search Token.
type Action struct {
	Stream StreamID
	Body   []byte // Broadcast message, no length prefix
	Token  Token
	// Found is the best two, smallest depth first, at the end of a search.
	Found []wire.Candidate
}
