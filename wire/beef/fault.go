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

// The reasons of a FaultError. They are the whole set, so a reason can be the
// label of a metric.
const (
	ReasonTruncated     = "truncated"           // the unit ends inside the field
	ReasonTrailing      = "trailing_bytes"      // bytes follow a unit that should fill its input
	ReasonBareTx        = "bare_tx"             // the leading bytes are neither a record's nor a frame's
	ReasonBadTag        = "bad_tag"             // a record does not start with BE EF
	ReasonRecordVersion = "bad_record_ver"      // RecordVer is not 1
	ReasonTopicCount    = "bad_topic_count"     // not 1..MaxTopics names
	ReasonNameLen       = "bad_name_len"        // a name of 0 or more than MaxTopicName bytes
	ReasonUTF8          = "bad_utf8"            // a name that is not UTF-8
	ReasonObjectLen     = "bad_object_len"      // an object of no bytes
	ReasonOversize      = "oversize"            // an object or payload over the bound
	ReasonMarker        = "bad_marker"          // no marker of the table where an object starts
	ReasonMagic         = "bad_magic"           // a frame does not start with the magic
	ReasonVersion       = "bad_version"         // a FrameVer that is not expected here
	ReasonPayloadLen    = "bad_payload_len"     // a payload or fragment of no bytes
	ReasonTopicMismatch = "topic_mismatch"      // the header's TopicID is not the first topic's
	ReasonNoTopic       = "no_topic"            // a bare object under an all-zero TopicID
	ReasonContentID     = "content_id_mismatch" // the header's ContentID is not the payload's
	ReasonOrigLen       = "bad_orig_len"        // OrigPayloadLen is 0
	ReasonFragTotal     = "bad_frag_total"      // FragTotal is 0, or more than the payload has bytes
	ReasonFragIndex     = "bad_frag_index"      // FragIndex is not below FragTotal
	ReasonOrigVersion   = "bad_orig_version"    // the fragments are not those of an object frame
	ReasonFragSize      = "bad_frag_size"       // the data length fits no even cut of the payload
)

// Reasons returns every reason that a FaultError can have, in a fixed order.
func Reasons() []string {
	return []string{
		ReasonTruncated, ReasonTrailing, ReasonBareTx, ReasonBadTag, ReasonRecordVersion,
		ReasonTopicCount, ReasonNameLen, ReasonUTF8, ReasonObjectLen, ReasonOversize,
		ReasonMarker, ReasonMagic, ReasonVersion, ReasonPayloadLen, ReasonTopicMismatch,
		ReasonNoTopic, ReasonContentID, ReasonOrigLen, ReasonFragTotal, ReasonFragIndex,
		ReasonOrigVersion, ReasonFragSize,
	}
}

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

// The decoders below the exported ones pass faults around by value, none being
// the zero one, so that a scanner that waits for bytes does not allocate.

func (e FaultError) none() bool { return e.Reason == "" }

// at is the fault as the reader of an enclosing unit sees it.
func (e FaultError) at(base int) FaultError {
	e.Offset += base
	return e
}

// inside is the fault of a payload as its frame sees it: the frame's own length
// says where the next one starts, so nothing in it costs the stream.
func (e FaultError) inside(base int) FaultError {
	e.Offset += base
	e.Err = ErrRejected
	return e
}

// raise makes an error of a fault, nil of none. The copy keeps the allocation
// on the path where there is one.
func (e FaultError) raise() error {
	if e.none() {
		return nil
	}
	fault := e
	return &fault
}

func truncated(offset int) FaultError {
	return FaultError{Offset: offset, Reason: ReasonTruncated, Err: ErrShort}
}

func malformed(offset int, reason string, got uint64) FaultError {
	return FaultError{Offset: offset, Reason: reason, Got: got, Err: ErrMalformed}
}

func rejected(offset int, reason string, got uint64) FaultError {
	return FaultError{Offset: offset, Reason: reason, Got: got, Err: ErrRejected}
}
