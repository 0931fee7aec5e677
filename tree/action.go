package tree

import (
	"time"

	"treecast/wire"
)

// ActionKind tells which fields of an [Action] count.
type ActionKind uint8

// The kinds of actions. Fields not named are zero.
const (
	// ActSend puts the message Body (no length prefix) before all queued data
	// of Stream: an Ack or a control frame.
	ActSend ActionKind = iota + 1
	// ActForward queues the frame of Chunk, the very bytes that came in, on Stream.
	// It may wait for more for as long as Wait says, as another parent feeds this
	// child first.
	ActForward
	// ActHurry has all that waits for more on Stream sent.
	ActHurry
	// ActVerify asks for the full check of Chunk with the signed id ID, answered
	// by Verified. The carriage in the frame may be a shorter form of ID.
	ActVerify
	// ActDeliver hands Chunk to the application; Index is its feed index if
	// HasIndex. ID is the signed id.
	ActDeliver
	// ActRelease gives the buffer of Chunk back. Forwards and deliveries that
	// were asked for before it hold it on their own account.
	ActRelease
	// ActDial subscribes at Dial.Peer, answered by Dialled.
	ActDial
	// ActCancel gives up a dial: its answer is no longer wanted, and a stream
	// that it brings is reset by the driver.
	ActCancel
	// ActEnd ends Stream as Code says; no event comes from it any more.
	ActEnd
	// ActBlame counts one forged chunk against Peer over all cohorts; the driver
	// blocks a peer at the eighth in a minute (PROTOCOL §4 Publications).
	ActBlame
	// ActBlock blocks Peer at once: a forged chunk came from a parent.
	ActBlock
	// ActReceipt ends the request Request with Receipt.
	ActReceipt
	// ActPace tells the doors to stop (Hold) or to go on taking publications.
	ActPace
	// ActReport tells the application about a change, in Report.
	ActReport
)

// EndCode is how a stream is to be ended.
type EndCode uint8

// The codes of [ActEnd].
const (
	// EndRefused closes our half after what is queued, and resets after 5 s or
	// when the other end has closed (PROTOCOL §2).
	EndRefused EndCode = iota
	// EndReset resets the stream at once.
	EndReset
	// EndSlow resets the stream with the code that means SLOW.
	EndSlow
	// EndDone closes a parent's stream that is no longer needed: reset at once.
	EndDone
)

// Receipt is the outcome of a publication.
type Receipt uint8

// The receipts.
const (
	ReceiptDone         Receipt = iota + 1 // the chunk came back down, or the broker sent it
	ReceiptDuplicate                       // the broker had sent this very chunk before
	ReceiptInvalid                         // forged, or not admitted by the cohort's spec
	ReceiptNonCanonical                    // not the one encoding that is accepted, or not of the cohort's binding
	ReceiptEquivocation                    // another chunk has this address already
	ReceiptNoBroker                        // no attachment through which it could travel
	ReceiptTimeout                         // it did not come back, tried as often as configured
	ReceiptBusy                            // too many publications without a receipt
)

// Dial is the request behind [ActDial].
type Dial struct {
	ID   DialID
	Peer wire.Overlay
	// Underlays are hints that came with a candidate, to be judged by the driver
	// (PROTOCOL §6); empty for an entry point.
	Underlays [][]byte
	// Entry says that Peer is an entry point of the driver's own list.
	Entry bool
	// Body is the Subscribe message, no length prefix.
	Body []byte
}

// ReportKind says what a [Report] is about.
type ReportKind uint8

// The kinds of reports.
const (
	ReportAttached     ReportKind = iota + 1 // a parent was gained; Parents says how many there are
	ReportDetached                           // a parent was lost; Parents says how many are left
	ReportSpec                               // the cohort's spec is known now
	ReportSpecConflict                       // Peer echoed another spec and was dropped
	ReportEquivocation                       // two valid chunks of one address: Equivocation
	ReportSlow                               // this node was reset as slow too often: one parent from here on
	ReportForged                             // Peer, a parent, sent a forged chunk
	ReportRefused                            // an entry point refused: Status
	ReportLag                                // Peer, a parent, lags and is to be replaced
	ReportLeft                               // this node has left
)

// Report tells the application about a change of state.
type Report struct {
	Kind         ReportKind
	Peer         wire.Overlay
	Parents      int
	Status       wire.Status
	Equivocation *Equivocation
}

// Equivocation is two valid chunks of one address and different content
// (PROTOCOL §4 Duplicates).
type Equivocation struct {
	Owner         wire.Owner
	ID            [32]byte
	First, Second [65]byte // signatures, in order of arrival
}

// Action is something the driver must do, in the order given. One struct, as
// boxing each would cost an allocation a child and chunk.
type Action struct {
	Kind     ActionKind
	Code     EndCode
	Receipt  Receipt
	Hold     bool
	HasIndex bool
	Wait     time.Duration
	Stream   StreamID
	Chunk    ChunkID
	Request  RequestID
	Index    uint64
	ID       [32]byte
	Peer     wire.Overlay
	Body     []byte
	Dial     *Dial
	Report   *Report
}
