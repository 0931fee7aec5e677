package order

import (
	"time"

	"treecast/wire"
)

// A ChunkID names a chunk that the driver holds for this core, from the event
// that brings it until the one action that gives it back.
type ChunkID uint64

// A RequestID names one request; each [ActAsk] ends in one [Answered].
type RequestID uint64

// An Event is something that happened to the feeds of one cohort. The set is
// closed: the types of this file. The driver may use what events point to again
// after Step.
type Event interface{ event() }

// Arrived is a verified chunk that the tree delivers, each once.
type Arrived struct {
	Owner wire.Owner
	Index uint64
	Chunk ChunkID
	Size  int // bytes that it holds
	// From is the parent that brought it; zero: nobody to ask.
	From wire.Overlay
	// Stored says that it comes from this node's own store, after a restart: it
	// is held until there are parents to ask, however long that takes.
	Stored bool
}

// Heads is what a parent, asked for a place, said of the feeds that it knows
// (PROTOCOL §6 Ack). They are those that the cohort's spec admits.
type Heads struct {
	From  wire.Overlay
	Heads []wire.Head
	// All says that the parent knows no chunk of any other feed: a feed that
	// begins later is then expected from its index 0 on.
	All bool
}

// Source is a parent that answers requests.
type Source struct {
	Peer   wire.Overlay
	Broker bool          // what it calls void is void
	RTT    time.Duration // of the link to it; 0 = not known
}

// Sources replaces what is known of those who can be asked.
type Sources struct {
	Parents []Source
	Entry   bool // there is an entry point besides
}

// Void says that indices were never published, as the node itself knows: it is
// their ingress.
type Void struct {
	Owner wire.Owner
	Range wire.IndexRange
}

// Restore tells where a feed stood before a restart: all below Next is settled, but
// for the ranges of Open, which were passed by and go on being recovered; sorted and
// disjoint. It comes before all other events of that owner.
type Restore struct {
	Owner wire.Owner
	Next  uint64
	Open  []wire.IndexRange
}

// Answered ends a request, after the chunks that it brought have arrived here or
// were found to be no good.
type Answered struct {
	Request RequestID
	// End is how the answer ended; nil: it failed.
	End *wire.RecoverEnd
	// Refused says that it failed because the peer said so: it is there.
	Refused bool
}

// Sent says that a parent sent a chunk by itself that is known already, or may be.
// It is worth telling only while [Feeds.Watching].
type Sent struct {
	From  wire.Overlay
	Owner wire.Owner
	Index uint64
}

// Tick is an empty event, for when Deadline has come.
type Tick struct{}

func (*Arrived) event() {}
func (Heads) event()    {}
func (Sources) event()  {}
func (Void) event()     {}
func (Restore) event()  {}
func (Answered) event() {}
func (Sent) event()     {}
func (Tick) event()     {}
