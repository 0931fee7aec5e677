package beef

// Payload is what a frame or delivery record carries, told apart by its leading
// bytes (PROTOCOL §7 Layouts): a submission record or a bare object.
type Payload struct {
	// Record is the record, the zero Record for a bare object.
	Record Record
	// Object is the record's object, or the whole payload.
	Object []byte
	// Version is the object's.
	Version Version
}

// IsRecord tells whether the payload is a submission record.
func (p *Payload) IsRecord() bool { return p.Record.count > 0 }

// ParsePayload decodes a whole payload. Whatever carries it says where it ends,
// so every fault is an ErrRejected.
func ParsePayload(b []byte) (p Payload, err error) {
	h, f := judgePayload(b, int64(len(b)), noBound)
	if !f.none() {
		return Payload{}, f.inside(0).raise()
	}
	h.payload(&p, b)
	return p, nil
}

// payloadHead is a payload as far as it was judged: a record's head, or the
// zero one for a bare object.
type payloadHead struct {
	record  recordHead
	version Version
}

// payload makes of p the Payload of a judged head and all of its bytes.
func (h payloadHead) payload(p *Payload, b []byte) {
	p.Version = h.version
	if h.record.count == 0 {
		p.Record, p.Object = Record{}, b
		return
	}
	h.record.record(&p.Record, b)
	p.Object = p.Record.Object
}

// judgePayload judges a payload of size bytes of which b, no longer than that,
// are there. ErrShort means that more of it is needed for a judgement: it does
// not come when b is all. Any other fault is an ErrRejected.
func judgePayload(b []byte, size, bound int64) (payloadHead, fault) {
	if size == 0 {
		return payloadHead{}, rejected(0, reasonPayloadLen, 0)
	}
	h, f := judgePayloadHead(b, size, bound)
	if f.none() {
		return h, f
	}
	if f.kind == short && int64(len(b)) < size {
		return h, f
	}
	return h, f.inside(0)
}

func judgePayloadHead(b []byte, size, bound int64) (payloadHead, fault) {
	var h payloadHead
	var f fault
	if leadsRecord(b, size) {
		if h.record, f = judgeRecord(b, bound); !f.none() {
			return h, f
		}
		switch end := h.record.total(); {
		case end > size:
			return h, rejected(h.record.size, reasonTruncated, 0)
		case end < int64(len(b)):
			return h, rejected(int(end), reasonTrailing, 0)
		case end < size: // the surplus byte is not there yet
			return h, truncated(0)
		}
		h.version, _ = MarkerOf(b[h.record.size:])
		return h, f
	}
	if h.version, f = judgeMarker(b, size); !f.none() {
		return h, f
	}
	if bound != noBound && size > bound {
		return h, rejected(0, reasonOversize, uint64(size))
	}
	return h, f
}

// leadsRecord tells whether what is there of a payload of size bytes starts
// with a record's tag. No marker does, so one byte is enough to ask for more.
func leadsRecord(b []byte, size int64) bool {
	if len(b) == 0 || b[0] != recordTag[0] {
		return false
	}
	if len(b) == 1 {
		return size > 1
	}
	return b[1] == recordTag[1]
}
