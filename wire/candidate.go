package wire

// Bounds of one candidate's address hints (PROTOCOL §6 Candidate).
const (
	MaxUnderlays     = 8
	MaxUnderlayBytes = 1 << 10 // all of them together
)

// Candidate is a node that may have a free slot.
//
//	1   addr       bytes, 32
//	2   depth      uint32
//	100 underlays  repeated bytes
//	101 band       uint32
//	102 displaces  bool
//
// (PROTOCOL §3, §6 Candidate)
type Candidate struct {
	Addr  Overlay
	Depth uint32 // the candidate's own
	// Underlays are binary multiaddrs with /p2p, unchecked hints: the first that
	// keep within MaxUnderlays and MaxUnderlayBytes.
	Underlays [][]byte
	// HasBand is false where a foreign node was named.
	HasBand bool
	Band    uint32
	// Displaces says that the candidate has no free slot but a child to move.
	Displaces bool
}

const (
	candidateAddr      = 1<<3 | bytesType
	candidateDepth     = 2<<3 | varintType
	candidateUnderlays = 100<<3 | bytesType
	candidateBand      = 101<<3 | varintType
	candidateDisplaces = 102<<3 | varintType
)

func (x *Candidate) append(dst []byte) []byte {
	dst = appendBytes(dst, candidateAddr, x.Addr[:])
	dst = appendUint(dst, candidateDepth, uint64(x.Depth))
	for _, u := range x.Underlays {
		dst = appendEntry(dst, candidateUnderlays, u)
	}
	if x.HasBand {
		dst = appendPresent(dst, candidateBand, uint64(x.Band))
	}
	return appendBool(dst, candidateDisplaces, x.Displaces)
}

func appendCandidates(dst []byte, tag uint64, list []Candidate) []byte {
	for i := range list {
		dst = appendMessage(dst, tag, list[i].append)
	}
	return dst
}

// parseCandidate adds one candidate, which owns its memory, to list. It adds
// none if list has limit entries, if the address has another size than 32 bytes,
// or if the entry has bytes in its fields 2 to 5: that is a chunk, which later
// texts put into the place of an Ack's candidates (PROTOCOL §3).
func parseCandidate(list []Candidate, limit int, f fields) ([]Candidate, error) {
	var x Candidate
	var hasAddr, chunk bool
	var underlays [MaxUnderlays][]byte
	n, size := 0, 0
	for f.next() {
		switch f.tag {
		case candidateAddr:
			if hasAddr = len(f.val) == len(x.Addr); hasAddr {
				x.Addr = Overlay(f.val)
			}
		case candidateDepth:
			x.Depth = uint32(f.num)
		case 2<<3 | bytesType, 3<<3 | bytesType, 4<<3 | bytesType, 5<<3 | bytesType:
			chunk = true
		case candidateUnderlays:
			if len(f.val) > 0 && n < MaxUnderlays && size+len(f.val) <= MaxUnderlayBytes {
				underlays[n] = f.val
				size += len(f.val)
				n++
			}
		case candidateBand:
			x.HasBand, x.Band = true, uint32(f.num)
		case candidateDisplaces:
			x.Displaces = f.num != 0
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	if hasAddr && !chunk && len(list) < limit {
		x.Underlays = cloneList(underlays[:n])
		list = append(list, x)
	}
	return list, nil
}
