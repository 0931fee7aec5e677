package beef

import (
	"errors"
	"math"
)

// ScannerConfig is what a door decides about the streams it reads.
type ScannerConfig struct {
	// MaxObject bounds an object in bytes; 0 = DefaultMaxObject. An object over
	// it is rejected and skipped up to twice the bound, beyond which the stream
	// ends (PROTOCOL §7 Ingress doors).
	MaxObject int
	// RecordsOnly is for the dedicated record port: whatever is no record is
	// malformed, and nothing is detected.
	RecordsOnly bool
}

// Scanner decodes what a publisher sends over one stream: it commits to a
// grammar by the first bytes and yields a Submission per record or object frame
// (PROTOCOL §7 Ingress doors). Bytes go in with Space and Fill, or with Feed;
// after each, Next is called until it returns ErrShort. When the stream ends,
// End says whether it ended between two units.
//
// The same bytes give the same submissions and the same faults at the same
// offsets, however they were cut. A Scanner holds at most twice the bytes of
// the one unit in progress, which is at most MaxObject, MaxEnvelope and
// HeaderSize long.
type Scanner struct {
	win     window
	bound   int64
	grammar Grammar
	unit    int64 // length of the judged unit in progress; 0: unknown
	skip    int64 // bytes of a rejected unit still to come
	skipped int64 // where in the stream that unit started
	err     error // the fault that ended the stream
	names   lastName
}

// NewScanner returns a Scanner for one stream. The error names a MaxObject that
// is out of range.
func NewScanner(cfg ScannerConfig) (*Scanner, error) {
	bound, err := objectBound(cfg.MaxObject)
	if err != nil {
		return nil, err
	}
	s := &Scanner{bound: bound}
	if cfg.RecordsOnly {
		s.grammar = GrammarRecord
	}
	return s, nil
}

// Grammar returns what the stream is committed to.
func (s *Scanner) Grammar() Grammar { return s.grammar }

// Space returns where the next bytes of the stream are to be written: at least
// one byte. It invalidates the views of all submissions returned before.
func (s *Scanner) Space() []byte { return s.win.space(s.unit) }

// Fill says that the first n bytes of the last Space hold the stream's next
// ones.
func (s *Scanner) Fill(n int) { s.win.fill(n) }

// Feed copies the beginning of b, as much as there is space for, and returns
// how much. It is Space and Fill in one.
func (s *Scanner) Feed(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	n := copy(s.Space(), b)
	s.Fill(n)
	return n
}

// Next returns the next submission. Its views hold until the next Space or
// Feed.
//
// ErrShort itself asks for more bytes. A *FaultError that is ErrRejected is one
// refused object: the scanner skips the rest of it, so Next is called again. A
// *FaultError that is ErrMalformed ended the stream, and comes again with each
// call.
func (s *Scanner) Next() (sub Submission, err error) {
	if s.err != nil {
		return Submission{}, s.err
	}
	s.drop()
	b := s.win.bytes()
	if len(b) == 0 || int64(len(b)) < s.unit {
		return Submission{}, ErrShort
	}
	if s.grammar == GrammarUndecided {
		s.grammar = Detect(b)
	}
	size, f := judgeSubmission(&sub, s.grammar, b, s.bound, &s.names)
	switch f.kind {
	case whole:
		s.unit = 0
		s.win.take(int(size))
		return sub, nil
	case short:
		s.unit = size
		return Submission{}, ErrShort
	case refused:
		err := f.at(s.offset(s.win.base)).raise()
		s.unit, s.skip, s.skipped = 0, size, s.win.base
		s.drop()
		return Submission{}, err
	}
	s.err = f.at(s.offset(s.win.base)).raise()
	return Submission{}, s.err
}

// End says that no more bytes come. It is called after Next returned ErrShort,
// and returns nil when the last unit was whole; otherwise a *FaultError with
// the first field that is not complete, or the fault that ended the stream
// before.
func (s *Scanner) End() error {
	if s.err != nil {
		return s.err
	}
	if s.skip > 0 {
		return truncated(s.offset(s.skipped)).raise()
	}
	b := s.win.bytes()
	if len(b) == 0 {
		return nil
	}
	_, f := judgeSubmission(new(Submission), s.grammar, b, s.bound, &s.names)
	if f.none() {
		return errors.New("beef: end before the last submission was taken")
	}
	return f.at(s.offset(s.win.base)).raise()
}

// drop passes over what is there of a rejected unit.
func (s *Scanner) drop() {
	n := min(s.skip, int64(len(s.win.bytes())))
	s.win.take(int(n))
	s.skip -= n
}

// offset is a stream offset as a FaultError has it.
func (s *Scanner) offset(at int64) int { return int(min(at, math.MaxInt)) }
