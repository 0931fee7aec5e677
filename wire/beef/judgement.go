package beef

// kind is what a judgement comes to.
type kind uint8

const (
	whole   kind = iota // no fault
	short               // ErrShort
	broken              // ErrMalformed
	refused             // ErrRejected
)

var kindErrors = [...]error{short: ErrShort, broken: ErrMalformed, refused: ErrRejected}

// fault is what the decoders below the exported ones pass around: a FaultError
// small enough to travel in registers, so that judging a good record does not move
// empty faults through memory, and without an allocation, as a scanner that waits
// for bytes meets a fault with each of them. The zero fault is none.
type fault struct {
	offset int
	got    uint64
	reason reason
	kind   kind
}

func (f fault) none() bool { return f.kind == whole }

// at is the fault as the reader of an enclosing unit sees it.
func (f fault) at(base int) fault {
	f.offset += base
	return f
}

// inside is the fault of a payload as its frame sees it: the frame's own length
// says where the next one starts, so nothing in it costs the stream.
func (f fault) inside(base int) fault {
	f.offset += base
	f.kind = refused
	return f
}

// raise makes a *FaultError of a fault, nil of none.
func (f fault) raise() error {
	if f.none() {
		return nil
	}
	return &FaultError{Offset: f.offset, Reason: reasonNames[f.reason], Got: f.got, Err: kindErrors[f.kind]}
}

func truncated(offset int) fault {
	return fault{offset: offset, reason: reasonTruncated, kind: short}
}

func malformed(offset int, why reason, got uint64) fault {
	return fault{offset: offset, reason: why, got: got, kind: broken}
}

func rejected(offset int, why reason, got uint64) fault {
	return fault{offset: offset, reason: why, got: got, kind: refused}
}
