package explain

import "fmt"

// A Kind names a family of formats. Explain finds it out by itself when asked
// for Auto.
type Kind string

// The kinds. Several units of one family may follow each other in the input,
// as on a stream, except for chunks and objects, which have no end of their own.
const (
	Auto     Kind = "auto"
	BPS      Kind = "bps"      // length-prefixed messages of PROTOCOL §2
	SOC      Kind = "soc"      // id, signature, span, payload
	CAC      Kind = "cac"      // span, payload
	Frame    Kind = "frame"    // object frames and fragments
	Record   Kind = "record"   // submission records
	Delivery Kind = "delivery" // delivery records
	Object   Kind = "object"   // one BEEF object
)

// Kinds lists every kind, in the order in which help texts name them.
var Kinds = []Kind{Auto, BPS, SOC, CAC, Frame, Record, Delivery, Object}

// Report is what Explain found.
type Report struct {
	Bytes int    `json:"bytes"` // of the input
	Units []Unit `json:"units"`
	// Fault is the first fault; nil if the input is valid to its last byte.
	Fault *Fault `json:"fault"`
}

// A Unit is one frame, chunk, record or object.
type Unit struct {
	Kind   string   `json:"kind"`   // such as "submission record"
	Offset int      `json:"offset"` // in the input
	Length int      `json:"length"` // bytes it covers, as far as they are there
	Fields []Field  `json:"fields"`
	Notes  []string `json:"notes,omitempty"` // what is legal but worth knowing
}

// A Field is one value in a unit, or one that follows from its bytes, which
// then has Length 0.
type Field struct {
	Offset int    `json:"offset"` // in the input
	Length int    `json:"length"`
	Depth  int    `json:"depth"` // nesting, from 0
	Name   string `json:"name"`
	Value  string `json:"value"`
}

// A Fault is what is wrong first, and where.
type Fault struct {
	// Offset is the first byte of the field at fault; of a cut unit the first
	// field that is not complete.
	Offset int    `json:"offset"`
	Reason string `json:"reason"`
}

func (f *Fault) String() string { return fmt.Sprintf("byte %d: %s", f.Offset, f.Reason) }

// layout writes the fields of one unit while it walks over its bytes.
type layout struct {
	unit  *Unit
	data  []byte // the whole input
	pos   int    // of the next field
	depth int
	fault *Fault // the first one; later ones are of no interest

	shardBits int
}

// take lays out the next n bytes as a field and returns them. Where they are
// cut it notes the fault and returns false.
func (l *layout) take(name string, n int) ([]byte, bool) {
	if l.fault != nil {
		return nil, false
	}
	if n > len(l.data)-l.pos {
		l.fail(l.pos, "%s is cut: %d of %d bytes", name, len(l.data)-l.pos, n)
		return nil, false
	}
	b := l.data[l.pos : l.pos+n]
	l.add(name, n, abbreviate(b))
	l.pos += n
	l.unit.Length = l.pos - l.unit.Offset
	return b, true
}

// add notes a field of n bytes at the current position without moving on.
func (l *layout) add(name string, n int, value string) {
	l.unit.Fields = append(l.unit.Fields, Field{Offset: l.pos, Length: n, Depth: l.depth, Name: name, Value: value})
}

// say replaces the value of the last field by a better one than its bytes.
func (l *layout) say(format string, args ...any) {
	if n := len(l.unit.Fields); n > 0 {
		l.unit.Fields[n-1].Value = fmt.Sprintf(format, args...)
	}
}

func (l *layout) note(format string, args ...any) {
	l.unit.Notes = append(l.unit.Notes, fmt.Sprintf(format, args...))
}

// derive adds a value that follows from the unit's bytes.
func (l *layout) derive(name, format string, args ...any) {
	l.add(name, 0, fmt.Sprintf(format, args...))
}

func (l *layout) fail(offset int, format string, args ...any) {
	if l.fault == nil {
		l.fault = &Fault{Offset: offset, Reason: fmt.Sprintf(format, args...)}
	}
}

// shownBytes is how many bytes of a long value are printed.
const shownBytes = 32

func abbreviate(b []byte) string {
	if len(b) <= shownBytes+8 {
		return fmt.Sprintf("%x", b)
	}
	return fmt.Sprintf("%x… (%d bytes)", b[:shownBytes], len(b))
}
