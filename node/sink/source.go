package sink

import (
	"context"

	"treecast/node/follow"
)

// A Source gives a sink its objects; *follow.Follower is one.
type Source interface {
	// Next waits for the next object. The error is ctx's, or says that no object
	// comes any more. One goroutine calls it.
	Next(ctx context.Context) (*follow.Object, error)
	// Ack says that an object is stored. It may be called while Next is, and does
	// not wait. What was not acknowledged is given out again after a restart.
	Ack(o *follow.Object)
	// Lag is how many chunks are at hand and not done with: those of objects that are
	// not stored.
	Lag() uint64
}
