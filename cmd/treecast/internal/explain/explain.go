package explain

import (
	"errors"

	"treecast/wire/beef"
)

// Options narrow what Explain looks for.
type Options struct {
	// Kind is Auto or what the input is taken for; empty means Auto.
	Kind Kind
	// Address is the address that a chunk is expected to have; nil: not known.
	// A chunk alone tells who signed it, but not who should have.
	Address *[32]byte
	// ShardBits is how many leading bits of a TopicID choose its group in the plane
	// that the bytes are of, 0..beef.MaxShardBits.
	ShardBits int
}

// Explain lays out data and names its first fault. It never fails: bytes that
// are nothing known have a fault at byte 0. The report keeps no reference to
// data. Its size is bounded by maxUnits and the formats' own bounds.
func Explain(data []byte, opt Options) *Report {
	r := &Report{Bytes: len(data), Units: []Unit{}}
	kind := opt.Kind
	if kind == Auto || kind == "" {
		kind = detect(data)
	}
	if len(data) == 0 {
		r.Fault = &Fault{Reason: "no bytes"}
		return r
	}
	for pos := 0; pos < len(data) && r.Fault == nil; {
		if len(r.Units) == maxUnits {
			r.Units[maxUnits-1].Notes = append(r.Units[maxUnits-1].Notes, "more follows that is not explained")
			break
		}
		unit := Unit{Offset: pos, Fields: []Field{}}
		l := &layout{unit: &unit, data: data, pos: pos, shardBits: opt.ShardBits}
		switch kind {
		case BPS:
			l.bpsFrame()
		case SOC:
			l.soc(opt.Address)
		case CAC:
			l.cac(opt.Address)
		case Frame:
			l.objectFrame()
		case Record:
			l.record()
		case Delivery:
			l.delivery()
		case Object:
			l.object(len(data))
			unit.Kind = "BEEF object"
		default:
			unit.Kind = "unknown"
			l.fail(0, "no known format starts with these bytes")
		}
		unit.Length = max(unit.Length, l.pos-unit.Offset)
		if l.fault != nil {
			unit.cutAfter(l.fault.Offset)
		}
		r.Units = append(r.Units, unit)
		r.Fault = l.fault
		pos = unit.Offset + max(unit.Length, 1)
	}
	return r
}

// maxUnits bounds the report on a long stream.
const maxUnits = 10_000

// cutAfter removes the fields behind the one at fault: what they are depends on
// bytes that are wrong.
func (u *Unit) cutAfter(offset int) {
	kept := u.Fields[:0]
	for _, f := range u.Fields {
		if f.Offset <= offset {
			kept = append(kept, f)
		}
	}
	u.Fields = kept
}

// judge notes the fault of a beef decoder that was given the bytes from base.
func (l *layout) judge(base int, err error) {
	if err == nil {
		return
	}
	fault := (*beef.FaultError)(nil)
	if !errors.As(err, &fault) {
		l.fail(base, "%v", err)
		return
	}
	// A judge sees the whole unit, so its fault is the first, whatever the
	// layout stumbled on.
	l.fault = nil
	reason := fault.Reason
	switch {
	case errors.Is(err, beef.ErrRejected):
		reason += " (the object is rejected, a stream goes on behind it)"
	case errors.Is(err, beef.ErrMalformed):
		reason += " (malformed, a stream is closed)"
	default:
		reason += " (the input ends inside this field)"
	}
	l.fail(base+fault.Offset, "%s", reason)
}
