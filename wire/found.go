package wire

// Found answers a probe; the message is called Candidates in PROTOCOL §3.
//
//	1   candidates  repeated Candidate, smallest depth first
//	100 id          uint64
//
// (PROTOCOL §3, §6 Candidates)
type Found struct {
	ID         uint64      // of the probe it answers; 0: of the oldest plain one
	Candidates []Candidate // at most MaxCandidates
}

const (
	foundCandidates = 1<<3 | bytesType
	foundID         = 100<<3 | varintType
)

// AppendFound appends a Broadcast message with the answer f to dst.
func AppendFound(dst []byte, f *Found) []byte {
	return appendMessage(dst, broadcastFound, f.append)
}

func (x *Found) append(dst []byte) []byte {
	dst = appendCandidates(dst, foundCandidates, x.Candidates)
	return appendUint(dst, foundID, x.ID)
}

// parse keeps the first candidates, limit of them at most.
func (x *Found) parse(f fields, limit int) (err error) {
	*x = Found{}
	for f.next() {
		switch f.tag {
		case foundCandidates:
			if x.Candidates, err = parseCandidate(x.Candidates, limit, f.sub("Candidate")); err != nil {
				return err
			}
		case foundID:
			x.ID = f.num
		}
	}
	return f.err
}
