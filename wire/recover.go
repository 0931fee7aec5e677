package wire

import "slices"

// Bounds of the recovery protocol (PROTOCOL §8).
const (
	// MaxRecover is how many indices one request may ask for.
	MaxRecover = 4096
	// MaxRanges is how many ranges each list of a RecoverEnd has at most, so that
	// it fits a frame. An answerer with more to say ends its answer early.
	MaxRanges = 128
	// MaxIndex is the highest feed index (PROTOCOL §4 Feed index).
	MaxIndex = 1<<63 - 1
)

// IndexRange is a range of feed indices, both ends included; From ≤ To.
//
//	1 from  uint64
//	2 to    uint64
//
// (PROTOCOL §8)
type IndexRange struct{ From, To uint64 }

// Len is how many indices the range has.
func (r IndexRange) Len() uint64 { return r.To - r.From + 1 }

// Has says whether index lies in the range.
func (r IndexRange) Has(index uint64) bool { return r.From <= index && index <= r.To }

// RecoverRequest asks for the chunks of one owner's feed: 1 to MaxRecover of
// them.
//
//	1 topic  bytes, 32
//	2 owner  bytes, 20
//	3 from   uint64
//	4 to     uint64, included
//
// (PROTOCOL §8)
type RecoverRequest struct {
	Topic Topic
	Owner Owner
	Range IndexRange
}

// RecoverEnd is the last frame of an answer: what became of the indices that
// did not come. What it does not name either was not looked at. Each list is in
// order and has at most MaxRanges.
//
//	1 missing  repeated IndexRange: not kept by the answerer
//	2 pending  repeated IndexRange: the answerer is recovering them itself
//	3 void     repeated IndexRange: never published (PROTOCOL §7 Indices)
//
// (PROTOCOL §8)
type RecoverEnd struct {
	Missing, Pending, Void []IndexRange
}

// RecoverAnswer is one frame of an answer: a chunk, the same bytes as in the
// tree, or the end.
//
//	1 soc  Soc
//	2 end  RecoverEnd
//
// (PROTOCOL §8)
type RecoverAnswer struct {
	Soc Soc         // a view into the frame; counts unless End is set
	End *RecoverEnd // owns its memory
}

const (
	recoverTopic = 1<<3 | bytesType
	recoverOwner = 2<<3 | bytesType
	recoverFrom  = 3<<3 | varintType
	recoverTo    = 4<<3 | varintType

	recoverEnd = 2<<3 | bytesType

	endMissing = 1<<3 | bytesType
	endPending = 2<<3 | bytesType
	endVoid    = 3<<3 | bytesType

	rangeFrom = 1<<3 | varintType
	rangeTo   = 2<<3 | varintType
)

// Append appends the RecoverRequest message to dst.
func (x *RecoverRequest) Append(dst []byte) []byte {
	dst = appendBytes(dst, recoverTopic, x.Topic[:])
	dst = appendBytes(dst, recoverOwner, x.Owner[:])
	dst = appendUint(dst, recoverFrom, x.Range.From)
	return appendUint(dst, recoverTo, x.Range.To)
}

// ParseRecoverRequest reads a RecoverRequest message. Without topic and owner of
// their sizes, or with a range that is empty, above MaxIndex or longer than
// MaxRecover, it is a [SyntaxError].
func ParseRecoverRequest(msg []byte) (x RecoverRequest, err error) {
	f := scan("RecoverRequest", msg)
	var topic, owner bool
	for f.next() {
		switch f.tag {
		case recoverTopic:
			if topic = len(f.val) == len(x.Topic); topic {
				x.Topic = Topic(f.val)
			}
		case recoverOwner:
			if owner = len(f.val) == len(x.Owner); owner {
				x.Owner = Owner(f.val)
			}
		case recoverFrom:
			x.Range.From = f.num
		case recoverTo:
			x.Range.To = f.num
		}
	}
	switch {
	case f.err != nil:
		return RecoverRequest{}, f.err
	case !topic:
		return RecoverRequest{}, f.fault(len(msg), "no topic of 32 bytes")
	case !owner:
		return RecoverRequest{}, f.fault(len(msg), "no owner of 20 bytes")
	case !x.Range.valid() || x.Range.Len() > MaxRecover:
		return RecoverRequest{}, f.fault(len(msg), "range of indices out of bounds")
	}
	return x, nil
}

func (r IndexRange) valid() bool { return r.From <= r.To && r.To <= MaxIndex }

// Append appends a RecoverAnswer message with this end to dst.
func (x *RecoverEnd) Append(dst []byte) []byte {
	return appendMessage(dst, recoverEnd, x.append)
}

func (x *RecoverEnd) append(dst []byte) []byte {
	dst = appendRanges(dst, endMissing, x.Missing)
	dst = appendRanges(dst, endPending, x.Pending)
	return appendRanges(dst, endVoid, x.Void)
}

func appendRanges(dst []byte, tag uint64, list []IndexRange) []byte {
	for i := range list {
		dst = appendMessage(dst, tag, list[i].append)
	}
	return dst
}

func (r *IndexRange) append(dst []byte) []byte {
	dst = appendUint(dst, rangeFrom, r.From)
	return appendUint(dst, rangeTo, r.To)
}

// Parse reads a RecoverAnswer message into x. Of several members the last
// counts; those before it may be anything, as a chunk's frame comes as its
// author made it. A message with neither is a [SyntaxError].
func (x *RecoverAnswer) Parse(msg []byte) error {
	*x = RecoverAnswer{}
	f := scan("RecoverAnswer", msg)
	var last uint64
	var end fields
	for f.next() {
		switch f.tag {
		case broadcastSoc:
			last = f.tag
		case recoverEnd:
			last, end = f.tag, f.sub("RecoverEnd")
		}
	}
	switch {
	case f.err != nil:
		return f.err
	case last == recoverEnd:
		e, err := parseRecoverEnd(end)
		if err != nil {
			return err
		}
		x.End = &e
		return nil
	case last == 0:
		return f.fault(len(msg), "neither a chunk nor an end")
	}
	var b Broadcast
	if err := b.Parse(msg); err != nil {
		return err
	}
	if b.Kind != KindSoc {
		return f.fault(0, "a frame whose chunk does not count")
	}
	x.Soc = b.Soc
	return nil
}

func parseRecoverEnd(f fields) (x RecoverEnd, err error) {
	for err == nil && f.next() {
		switch f.tag {
		case endMissing:
			x.Missing, err = parseRange(x.Missing, f.sub("IndexRange"))
		case endPending:
			x.Pending, err = parseRange(x.Pending, f.sub("IndexRange"))
		case endVoid:
			x.Void, err = parseRange(x.Void, f.sub("IndexRange"))
		}
	}
	if err == nil {
		err = f.err
	}
	if err != nil {
		return RecoverEnd{}, err
	}
	x.Missing, x.Pending, x.Void = slices.Clip(x.Missing), slices.Clip(x.Pending), slices.Clip(x.Void)
	return x, nil
}

// parseRange adds one range to list unless the list is full or the range none.
func parseRange(list []IndexRange, f fields) ([]IndexRange, error) {
	var x IndexRange
	for f.next() {
		switch f.tag {
		case rangeFrom:
			x.From = f.num
		case rangeTo:
			x.To = f.num
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	if x.valid() && len(list) < MaxRanges {
		list = append(list, x)
	}
	return list, nil
}
