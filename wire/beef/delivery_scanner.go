package beef

import (
	"errors"
	"math"
)

// DeliveryScanner decodes what an edge sends to a consumer over one stream. It
// is used like Scanner and holds no more.
type DeliveryScanner struct {
	win   window
	bound int64
	unit  int64 // length of the record in progress; 0: unknown
	err   error // the fault that ended the stream
}

// NewDeliveryScanner returns a DeliveryScanner for one stream. maxObject bounds
// an object in bytes, 0 for DefaultMaxObject; a longer one ends the stream, for
// it would be lost. The error names a maxObject that is out of range.
func NewDeliveryScanner(maxObject int) (*DeliveryScanner, error) {
	bound, err := objectBound(maxObject)
	if err != nil {
		return nil, err
	}
	return &DeliveryScanner{bound: bound}, nil
}

// Space is Scanner.Space.
func (s *DeliveryScanner) Space() []byte { return s.win.space(s.unit) }

// Fill is Scanner.Fill.
func (s *DeliveryScanner) Fill(n int) { s.win.fill(n) }

// Feed is Scanner.Feed.
func (s *DeliveryScanner) Feed(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	n := copy(s.Space(), b)
	s.Fill(n)
	return n
}

// Next returns the next delivery record, with errors and lifetime as in
// Scanner.Next. ErrRejected is a payload that is neither record nor object: it
// was passed over whole.
func (s *DeliveryScanner) Next() (Delivery, error) {
	if s.err != nil {
		return Delivery{}, s.err
	}
	b := s.win.bytes()
	if len(b) == 0 || int64(len(b)) < s.unit {
		return Delivery{}, ErrShort
	}
	d, size, f := judgeDelivery(b, s.bound)
	if f.kind == short {
		s.unit = size
		return Delivery{}, ErrShort
	}
	err := f.at(s.offset()).raise()
	if f.kind == broken {
		s.err = err
		return Delivery{}, err
	}
	s.unit = 0
	s.win.take(int(size))
	return d, err
}

// End is Scanner.End.
func (s *DeliveryScanner) End() error {
	if s.err != nil {
		return s.err
	}
	b := s.win.bytes()
	if len(b) == 0 {
		return nil
	}
	_, _, f := judgeDelivery(b, s.bound)
	if f.none() {
		return errors.New("beef: end before the last delivery was taken")
	}
	return f.at(s.offset()).raise()
}

func (s *DeliveryScanner) offset() int { return int(min(s.win.base, math.MaxInt)) }
