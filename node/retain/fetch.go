package retain

import (
	"errors"
	"fmt"
	"io"

	"treecast/wire"
)

// ErrUnasked says that an answer has a chunk that nobody asked for.
var ErrUnasked = errors.New("retain: answer with a chunk that was not asked for")

// Fetch sends a request over w and gives each chunk of the answer, read from in,
// to take, which takes over the one reference to its buffer; the soc points into
// it. It returns how the answer ended. The error is take's, wraps ErrUnasked, or
// is what broke the stream; chunks taken before are good all the same. The
// deadline is the stream's.
func Fetch(w io.Writer, in *wire.Reader, req *wire.RecoverRequest, take func(*wire.Buf, *wire.Soc) error) (*wire.RecoverEnd, error) {
	if _, err := w.Write(wire.AppendFrame(nil, req.Append(nil))); err != nil {
		return nil, fmt.Errorf("retain: request: %w", err)
	}
	for left := req.Range.Len(); ; left-- {
		buf, err := in.Next()
		if err != nil {
			return nil, fmt.Errorf("retain: answer: %w", err)
		}
		var a wire.RecoverAnswer
		if err = a.Parse(buf.Msg()); err == nil && a.End == nil {
			err = asked(&a.Soc, req, left)
		}
		if err != nil || a.End != nil {
			buf.Release()
			return a.End, err
		}
		if err := take(buf, &a.Soc); err != nil {
			return nil, err
		}
	}
}

// asked looks at what a chunk claims; whether that is true is found out later.
func asked(s *wire.Soc, req *wire.RecoverRequest, left uint64) error {
	switch {
	case left == 0:
		return fmt.Errorf("%w: more than %d", ErrUnasked, req.Range.Len())
	case string(s.Owner) != string(req.Owner[:]):
		return fmt.Errorf("%w: of another owner", ErrUnasked)
	case s.HasIndex && !req.Range.Has(s.Index):
		return fmt.Errorf("%w: index %d", ErrUnasked, s.Index)
	}
	return nil
}
