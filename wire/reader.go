package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// readAhead is the size of a Reader's own buffer, which every open stream has:
// many control frames a read, and not quite one full chunk, whose bytes are
// copied at most once from here.
const readAhead = 4 << 10

// Reader reads the frames of one stream into buffers of a pool. It is for one
// goroutine.
type Reader struct {
	r    *bufio.Reader
	pool *Pool
	err  error
}

// NewReader returns a Reader that takes bytes from r, more of them than it has
// returned frames for, and buffers from p.
func NewReader(r io.Reader, p *Pool) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, readAhead), pool: p}
}

// Next returns the next frame; its one reference is the caller's. Nothing is
// allocated for a frame before its length is judged. The error is io.EOF when r
// ends between two frames and io.ErrUnexpectedEOF when it ends inside one; it
// wraps [ErrMalformed] for a wrong length, and else what r returned. The first
// error stays.
func (r *Reader) Next() (*Buf, error) {
	if r.err != nil {
		return nil, r.err
	}
	b, err := r.next()
	if err != nil {
		if err != io.EOF && err != io.ErrUnexpectedEOF && !errors.Is(err, ErrMalformed) {
			err = fmt.Errorf("wire: read frame: %w", err)
		}
		r.err = err
		return nil, err
	}
	return b, nil
}

func (r *Reader) next() (*Buf, error) {
	length, err := r.length()
	if err != nil {
		return nil, err
	}
	b := r.pool.get(length)
	if _, err := io.ReadFull(r.r, b.Msg()); err != nil {
		b.Release()
		if err == io.EOF { // right after the prefix is inside the frame, too
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return b, nil
}

// length reads a length prefix, byte by byte: a frame may be shorter than the
// longest prefix, and asking for more than it has could wait forever.
func (r *Reader) length() (int, error) {
	var prefix [maxPrefix]byte
	for n := 0; ; n++ {
		length, _, err := ParseLength(prefix[:n])
		if err != ErrShort {
			return length, err
		}
		if prefix[n], err = r.r.ReadByte(); err != nil {
			if err == io.EOF && n > 0 {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
	}
}
