package wire

import (
	"errors"
	"fmt"
)

var (
	// ErrMalformed says that the sender broke the format: its stream ends.
	ErrMalformed = errors.New("wire: malformed")
	// ErrShort says that the bytes are right so far and that more are needed.
	ErrShort = errors.New("wire: need more bytes")
)

// SyntaxError tells where a message stops to make sense. It wraps
// [ErrMalformed].
type SyntaxError struct {
	// Message is the name of the innermost message of PROTOCOL §3 at fault.
	Message string
	// Offset counts from the first byte of the message given to the parser, its
	// length prefix not included, to the field at fault. A field that should be
	// there and is not has the offset of its message's end.
	Offset int
	// Reason is what is wrong, in a few words without a value of the sender's
	// choice.
	Reason string
}

// Error names message, offset and reason.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("wire: malformed %s: %s at byte %d", e.Message, e.Reason, e.Offset)
}

// Unwrap returns [ErrMalformed].
func (e *SyntaxError) Unwrap() error { return ErrMalformed }
