package beef

import "slices"

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

// reason is the number by which the decoders pass a Reason constant on; 0: none.
type reason uint8

const (
	_ reason = iota
	reasonTruncated
	reasonTrailing
	reasonBareTx
	reasonBadTag
	reasonRecordVersion
	reasonTopicCount
	reasonNameLen
	reasonUTF8
	reasonObjectLen
	reasonOversize
	reasonMarker
	reasonMagic
	reasonVersion
	reasonPayloadLen
	reasonTopicMismatch
	reasonNoTopic
	reasonContentID
	reasonOrigLen
	reasonFragTotal
	reasonFragIndex
	reasonOrigVersion
	reasonFragSize
)

var reasonNames = [...]string{
	reasonTruncated:     ReasonTruncated,
	reasonTrailing:      ReasonTrailing,
	reasonBareTx:        ReasonBareTx,
	reasonBadTag:        ReasonBadTag,
	reasonRecordVersion: ReasonRecordVersion,
	reasonTopicCount:    ReasonTopicCount,
	reasonNameLen:       ReasonNameLen,
	reasonUTF8:          ReasonUTF8,
	reasonObjectLen:     ReasonObjectLen,
	reasonOversize:      ReasonOversize,
	reasonMarker:        ReasonMarker,
	reasonMagic:         ReasonMagic,
	reasonVersion:       ReasonVersion,
	reasonPayloadLen:    ReasonPayloadLen,
	reasonTopicMismatch: ReasonTopicMismatch,
	reasonNoTopic:       ReasonNoTopic,
	reasonContentID:     ReasonContentID,
	reasonOrigLen:       ReasonOrigLen,
	reasonFragTotal:     ReasonFragTotal,
	reasonFragIndex:     ReasonFragIndex,
	reasonOrigVersion:   ReasonOrigVersion,
	reasonFragSize:      ReasonFragSize,
}

// Reasons returns every reason that a FaultError can have, in a fixed order.
func Reasons() []string { return slices.Clone(reasonNames[1:]) }
