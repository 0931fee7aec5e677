package wire

import "slices"

// Bounds of an Ack's lists (PROTOCOL §3, §6).
const (
	MaxCandidates = 2
	MaxHeads      = 256
)

// Status is the answer to a first frame (PROTOCOL §5 Join). Other values than
// those named are malformed in an Ack.
type Status uint8

// Statuses.
const (
	StatusOK           Status = 1 // attached
	StatusFull         Status = 2 // no slot; try the candidates
	StatusUnknownTopic Status = 3 // not served here
	StatusRejected     Status = 4 // not for this spec, or not for this sender
)

// String returns the name of PROTOCOL §3.
func (s Status) String() string {
	return enumName("status", uint8(s), "OK", "FULL", "UNKNOWN_TOPIC", "REJECTED")
}

// Head is the highest feed index that a node has of an owner.
//
//	1 owner  bytes, 20
//	2 index  uint64
//
// (PROTOCOL §6 Ack)
type Head struct {
	Owner Owner
	Index uint64
}

// Ack answers a first frame.
//
//	1   status      enum
//	2   cohort      CohortSpec, iff OK
//	3   candidates  repeated Candidate, under FULL
//	6   candidates  the same, where later texts have them; read, never written
//	100 band        uint32
//	101 heads       repeated Head
//
// (PROTOCOL §3, §6 Ack)
type Ack struct {
	Status Status
	// Spec is the acceptor's word about the cohort; set iff Status is OK.
	Spec *Spec
	// Candidates are at most MaxCandidates, nil unless Status is FULL.
	Candidates []Candidate
	// HasBand is false from a foreign acceptor.
	HasBand bool
	Band    uint32 // of the acceptor
	Heads   []Head // at most MaxHeads
}

const (
	ackStatus          = 1<<3 | varintType
	ackCohort          = 2<<3 | bytesType
	ackCandidates      = 3<<3 | bytesType
	ackCandidatesLater = 6<<3 | bytesType
	ackBand            = 100<<3 | varintType
	ackHeads           = 101<<3 | bytesType

	headOwner = 1<<3 | bytesType
	headIndex = 2<<3 | varintType
)

// Append appends the Ack message to dst. It writes what is set: that a cohort
// goes with OK alone and candidates go with FULL alone is the caller's to keep.
func (x *Ack) Append(dst []byte) []byte {
	dst = appendUint(dst, ackStatus, uint64(x.Status))
	if x.Spec != nil {
		dst = appendMessage(dst, ackCohort, x.Spec.Append)
	}
	dst = appendCandidates(dst, ackCandidates, x.Candidates)
	if x.HasBand {
		dst = appendPresent(dst, ackBand, uint64(x.Band))
	}
	for i := range x.Heads {
		dst = appendMessage(dst, ackHeads, x.Heads[i].append)
	}
	return dst
}

func (x *Head) append(dst []byte) []byte {
	dst = appendBytes(dst, headOwner, x.Owner[:])
	return appendUint(dst, headIndex, x.Index)
}

// ParseAck reads an Ack message. The result does not refer to msg. A cohort is
// read under OK alone and candidates under FULL alone, since other revisions put
// something else into these fields otherwise. A status that PROTOCOL §3 does not
// name, or OK without a cohort, is a [SyntaxError].
func ParseAck(msg []byte) (Ack, error) {
	status, err := parseStatus(scan("Ack", msg))
	if err != nil {
		return Ack{}, err
	}
	x := Ack{Status: status}
	f := scan("Ack", msg)
	var cohort fields
	for f.next() {
		switch f.tag {
		case ackCohort:
			if status != StatusOK {
				continue
			}
			cohort = f.sub("CohortSpec")
			if err = cohort.end(); err != nil {
				return Ack{}, err
			}
		case ackCandidates, ackCandidatesLater:
			if status != StatusFull {
				continue
			}
			if x.Candidates, err = parseCandidate(x.Candidates, MaxCandidates, f.sub("Candidate")); err != nil {
				return Ack{}, err
			}
		case ackBand:
			x.HasBand, x.Band = true, uint32(f.num)
		case ackHeads:
			if x.Heads, err = parseHead(x.Heads, f.sub("Head")); err != nil {
				return Ack{}, err
			}
		}
	}
	if status == StatusOK {
		spec, ok, err := parseSpec(cohort)
		switch {
		case err != nil:
			return Ack{}, err
		case cohort.name == "":
			return Ack{}, f.fault(len(msg), "OK without a cohort")
		case !ok:
			return Ack{}, cohort.fault(0, "no topic of 32 bytes")
		}
		x.Spec = &spec
	}
	x.Heads = slices.Clip(x.Heads)
	return x, nil
}

// parseStatus reads the whole message for its status, which the other fields
// depend on and which need not come first.
func parseStatus(f fields) (Status, error) {
	var status Status
	at := len(f.msg)
	for f.next() {
		if f.tag == ackStatus {
			status, at = Status(f.enum()), f.start
		}
	}
	if f.err == nil && (status < StatusOK || status > StatusRejected) {
		return 0, f.fault(at, "no known status")
	}
	return status, f.err
}

// parseHead adds one head to list unless the list is full or the owner's size
// wrong.
func parseHead(list []Head, f fields) ([]Head, error) {
	var x Head
	var ok bool
	for f.next() {
		switch f.tag {
		case headOwner:
			if ok = len(f.val) == len(x.Owner); ok {
				x.Owner = Owner(f.val)
			}
		case headIndex:
			x.Index = f.num
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	if ok && len(list) < MaxHeads {
		list = append(list, x)
	}
	return list, nil
}
