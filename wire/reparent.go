package wire

// Reasons of a Reparent. Unlike elsewhere 0 is valid: none is given.
const (
	ReasonNone      uint32 = 0
	ReasonLeaving   uint32 = 1 // the sender leaves the cohort
	ReasonDisplaced uint32 = 2 // the sender needs the slot for another child
)

// Reparent asks a child to take another parent.
//
//	1   to      bytes, 32, or empty: the child looks for one itself
//	100 reason  enum
//
// (PROTOCOL §3, §6 Reparent; §5 Reparent)
type Reparent struct {
	To     []byte // a view into the frame, of any length; nil if empty
	Reason uint32 // may be one that is not named here
}

const (
	reparentTo     = 1<<3 | bytesType
	reparentReason = 100<<3 | varintType
)

// AppendReparent appends a Broadcast message with r to dst.
func AppendReparent(dst []byte, r *Reparent) []byte {
	return appendMessage(dst, broadcastReparent, r.append)
}

func (r *Reparent) append(dst []byte) []byte {
	dst = appendBytes(dst, reparentTo, r.To)
	return appendUint(dst, reparentReason, uint64(r.Reason))
}

func (r *Reparent) parse(f fields) error {
	*r = Reparent{}
	for f.next() {
		switch f.tag {
		case reparentTo:
			r.To = nonEmpty(f.val)
		case reparentReason:
			r.Reason = uint32(f.num)
		}
	}
	return f.err
}
