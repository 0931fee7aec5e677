package order

import "treecast/wire"

// ActionKind tells which fields of an [Action] count.
type ActionKind uint8

// The kinds of actions.
const (
	// ActHandOver gives Chunk to the application; Late if chunks above it were
	// handed over before.
	ActHandOver ActionKind = iota + 1
	// ActDrop gives Chunk back: it was handed over before a restart.
	ActDrop
	// ActAsk asks the peer To, or with a zero To an entry point that is no parent,
	// for Range of Owner's feed; answered by Answered. Same: the entry point that was
	// asked last will do, else it is the next one's turn.
	ActAsk
	// ActGap tells the application that the chunks of Range were not handed over
	// in their place; some may still come, late. Void: they were never published.
	ActGap
	// ActWithheld says that, while no parent sends anything, the parent To has chunks
	// that it does not send by itself, or says nothing at all: it is as good as gone.
	ActWithheld
	// ActSilence says that no parent sends anything any more, so that what one keeps
	// back is wanted now.
	ActSilence
	// ActGiveUp ends Request, whose answer is waited for no longer. Answered still
	// follows.
	ActGiveUp
)

// Action is something the driver must do, in the order given.
type Action struct {
	Kind    ActionKind
	Late    bool
	Void    bool
	Same    bool
	Chunk   ChunkID
	Request RequestID
	To      wire.Overlay
	Owner   wire.Owner
	Range   wire.IndexRange
}
