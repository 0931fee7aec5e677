package tree

import (
	"time"

	"treecast/probe"
	"treecast/wire"
)

// A StreamID names one (peer, topic) stream. The driver gives it out and never
// uses one twice in a cohort; 0 is no stream.
type StreamID = probe.StreamID

// A DialID names one outgoing attempt to subscribe. The core gives it out in
// [ActDial] and gets it back in [Dialled].
type DialID uint64

// A ChunkID names one frame buffer that holds a single-owner chunk. The driver
// gives it out with [Frame] or [Publish]; from then on the bytes belong to the
// core, until it says [ActRelease] for that ID, once.
type ChunkID uint64

// A RequestID names one request of the application; each ends in one
// [ActReceipt].
type RequestID uint64

// An Event is something that happened to one cohort of one node. The set is
// closed: the types of this file. Pointers in events, and the slices behind
// them, may be reused by the driver after Step, except the bytes of a chunk
// (see [ChunkID]). On the data path the driver passes pointers to events that
// it uses again, so that nothing is boxed.
type Event interface{ event() }

// Join starts the search for parents, or replaces the entry points of one
// under way. An empty list waits for the next Join. A broker ignores it.
type Join struct {
	// Entries are overlays of entry points, in order of preference, at most
	// MaxEntries of them are kept; the driver knows how to reach each (PROTOCOL §9).
	Entries []wire.Overlay
}

// Silence says that chunks came at some pace and now none does, from no parent: one
// that stands by is to send what it keeps back.
type Silence struct{}

// SubscribeIn is a peer's Subscribe, or an Open with the spec that is served
// here, on a fresh stream. The core answers with one Ack through [ActSend],
// at once or when a search has ended (PROTOCOL §5 Join).
type SubscribeIn struct {
	Stream StreamID
	Peer   wire.Overlay
	Msg    *wire.Subscribe
	// Proved says that Msg.Auth belongs to the peer: by its node key or by a
	// proof that the driver checked (PROTOCOL §4, §6 PublisherAuth).
	Proved bool
}

// EndCause is why a stream ended.
type EndCause uint8

// The causes of [StreamEnded].
const (
	CauseReset  EndCause = iota // reset by the other end, or its connection ended
	CauseClosed                 // closed by the other end
	CauseSlow                   // reset with code SLOW: this node read too slowly
	CauseBad                    // this driver ended it: a frame did not decode
	CauseMute                   // this driver ended it: nothing came that should have
)

// StreamEnded says that a stream is gone and will bring no further event. A
// child that closed only its half has not ended (PROTOCOL §2).
type StreamEnded struct {
	Stream StreamID
	Cause  EndCause
}

// Frame is one decoded Broadcast frame from a stream. For a SOC, Chunk names
// its buffer; for others Chunk is 0 and Msg is only valid during Step.
type Frame struct {
	Stream StreamID
	Msg    *wire.Broadcast
	Chunk  ChunkID
}

// Verdict is the outcome of a full check of a chunk (PROTOCOL §4).
type Verdict uint8

// The verdicts of [Verified].
const (
	VerdictValid        Verdict = iota // canonical, and signed by the owner it claims
	VerdictForged                      // the signature does not recover the claimed owner
	VerdictNonCanonical                // not the one encoding that is accepted
)

// Verified answers [ActVerify]. Answers come in the order of their questions.
type Verified struct {
	Chunk   ChunkID
	Verdict Verdict
	CAC     [32]byte // address of the wrapped chunk; set when valid
}

// DialOutcome is how an attempt to subscribe ended.
type DialOutcome uint8

// The outcomes of [Dialled].
const (
	DialAnswered    DialOutcome = iota // an Ack came: see Ack
	DialUnreachable                    // the overlay could not be resolved or dialled
	DialSilent                         // connected, but no Ack within the limit
	DialBroken                         // the answer did not decode, or the stream broke
)

// Dialled answers [ActDial].
type Dialled struct {
	Dial    DialID
	Outcome DialOutcome
	// Ack is set when answered; valid only during Step.
	Ack *wire.Ack
	// Stream is set when Ack.Status is OK: from here on it is the core's,
	// which keeps it as a parent's or ends it.
	Stream StreamID
	// Self says that the overlay turned out to be this very node.
	Self bool
}

// RTT is a measured round trip to the peer of a stream.
type RTT struct {
	Stream StreamID
	RTT    time.Duration
}

// Publish is a chunk of the application. It ends in one ActReceipt with the
// same Request, and in one ActRelease of Chunk.
type Publish struct {
	Request RequestID
	Chunk   ChunkID
	Soc     *wire.Soc // views into the buffer that Chunk names
}

// QueueLevel is how full a child's queue is.
type QueueLevel uint8

// The levels of [Queue].
const (
	QueueLow      QueueLevel = iota // half full or less
	QueueHigh                       // over half full
	QueueOverflow                   // a frame found no room: the stream must end (PROTOCOL §5 Slow child)
)

// Queue says that the queue of a child stream crossed a level.
type Queue struct {
	Stream StreamID
	Level  QueueLevel
}

// Budget says whether the node's memory budget is spent: then new children are
// answered FULL (PROTOCOL §5 Bounds).
type Budget struct{ Spent bool }

// Underlays replaces the addresses under which this node names itself as a
// candidate: binary multiaddrs with /p2p, at most 8, together at most 1 KiB.
type Underlays struct{ Addrs [][]byte }

// Leave ends this node's part gracefully: the children move, then everything is
// closed and ReportLeft says so (PROTOCOL §5 Leave).
type Leave struct{}

// Recovered is a chunk that this node asked for, beside the cohort's streams
// (PROTOCOL §8). It is judged, forwarded and delivered like one from a parent, but
// says nothing about how well the parents feed this node.
type Recovered struct {
	Peer  wire.Overlay // who answered
	Chunk ChunkID
	Soc   *wire.Soc // views into the buffer that Chunk names
}

// Known tells highest feed indices that this node has of its own: of its store or
// its own publisher. They are treated like those in a parent's Ack, and are of no
// use before the spec is known.
type Known struct{ Heads []wire.Head }

// Tick is an empty event, for when Deadline has come.
type Tick struct{}

func (Join) event()         {}
func (Silence) event()      {}
func (*SubscribeIn) event() {}
func (StreamEnded) event()  {}
func (*Frame) event()       {}
func (*Verified) event()    {}
func (*Dialled) event()     {}
func (RTT) event()          {}
func (*Publish) event()     {}
func (Queue) event()        {}
func (Budget) event()       {}
func (Underlays) event()    {}
func (Leave) event()        {}
func (*Recovered) event()   {}
func (Known) event()        {}
func (Tick) event()         {}
