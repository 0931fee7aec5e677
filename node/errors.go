package node

import (
	"errors"
	"fmt"
	"net"

	"treecast/tree"
	"treecast/wire"
)

var (
	// ErrClosed says that the node, cohort, subscription or publisher is closed.
	ErrClosed = errors.New("node: closed")
	// ErrSlow ends a subscription whose consumer let its queue overflow.
	ErrSlow = errors.New("node: subscription too slow")
	// ErrServed says that the topic is served here with another spec, or with
	// this node in another part.
	ErrServed = errors.New("node: topic already served")
	// ErrLimit says that a bound of Config.Limits is reached.
	ErrLimit = errors.New("node: limit reached")
	// ErrNoSpec says that the cohort's spec is not known yet: no parent was found.
	ErrNoSpec = errors.New("node: spec not known yet")
)

// AckError is an entry point's refusal, as WaitAttached reports it.
type AckError struct {
	Peer   wire.Overlay
	Status wire.Status
}

// Error names peer and status.
func (e *AckError) Error() string {
	return fmt.Sprintf("node: entry point %v answered %v", e.Peer, e.Status)
}

// ReceiptError is the outcome of a publication that was not broadcast.
type ReceiptError struct{ Receipt tree.Receipt }

// Error names the outcome.
func (e *ReceiptError) Error() string {
	return "node: publish: " + receiptText(e.Receipt)
}

func receiptText(r tree.Receipt) string {
	switch r {
	case tree.ReceiptDuplicate:
		return "duplicate: this very chunk was broadcast before"
	case tree.ReceiptInvalid:
		return "invalid: forged, or its owner is not admitted"
	case tree.ReceiptNonCanonical:
		return "not canonical, or not of the cohort's binding"
	case tree.ReceiptEquivocation:
		return "equivocation: another chunk has this address"
	case tree.ReceiptNoBroker:
		return "no way to the broker"
	case tree.ReceiptTimeout:
		return "no receipt in time"
	case tree.ReceiptBusy:
		return "too many publications without a receipt"
	}
	return fmt.Sprintf("receipt %d", r)
}

// timedOut says that a deadline ended a stream's read or write, or a context.
// The transports have errors of their own for that, which the interface unites.
func timedOut(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}
