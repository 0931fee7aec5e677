package beef

import (
	"errors"
	"fmt"
)

// What a fault means for the one who reads. Every error of a decoder is, or
// wraps, one of these.
var (
	// ErrShort asks for more bytes. A stream that ends here, and a datagram or
	// chunk that ends here, is cut.
	ErrShort = errors.New("beef: short")
	// ErrMalformed says that the bytes after the fault cannot be made sense of:
	// a stream is closed, a datagram dropped.
	ErrMalformed = errors.New("beef: malformed")
	// ErrRejected says that one object is refused although its end is known: a
	// stream goes on behind it.
	ErrRejected = errors.New("beef: rejected")
)

// FaultError is where and why decoding stopped.
type FaultError struct {
	// Offset is where the field at fault starts, in bytes from the start of the
	// input; a scanner counts from the first byte of its stream. Of a cut unit it
	// is the first field that is not complete.
	Offset int
	// Reason is one of the Reason constants.
	Reason string
	// Got is the offending number where the fault is one: a version, a count, a
	// length, a marker; else 0.
	Got uint64
	// Err is ErrShort, ErrMalformed or ErrRejected.
	Err error
}

// Error names the reason, the number found and the offset.
func (e *FaultError) Error() string {
	switch e.Reason {
	case ReasonTopicCount, ReasonNameLen, ReasonObjectLen, ReasonOversize, ReasonPayloadLen,
		ReasonOrigLen, ReasonFragTotal, ReasonFragIndex, ReasonFragSize:
		return fmt.Sprintf("%v: %s %d at byte %d", e.Err, e.Reason, e.Got, e.Offset)
	case ReasonRecordVersion, ReasonVersion, ReasonOrigVersion:
		return fmt.Sprintf("%v: %s %#02x at byte %d", e.Err, e.Reason, e.Got, e.Offset)
	case ReasonMarker:
		return fmt.Sprintf("%v: %s %08x at byte %d", e.Err, e.Reason, e.Got, e.Offset)
	}
	return fmt.Sprintf("%v: %s at byte %d", e.Err, e.Reason, e.Offset)
}

// Unwrap returns Err, for errors.Is.
func (e *FaultError) Unwrap() error { return e.Err }
