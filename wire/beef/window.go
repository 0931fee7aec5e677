package beef

// Sizes of a window in bytes.
const (
	windowMin  = 16 << 10  // first allocation
	windowKeep = 256 << 10 // an empty window above this is given back
)

// window holds the bytes of a stream from the unit in progress on. It grows
// with the bytes that came, to at most twice of them, never with a length that
// the other side merely claims.
//
// Invariants: 0 ≤ r ≤ w ≤ len(buf); base is the stream offset of buf[r].
type window struct {
	buf  []byte
	r, w int
	base int64
}

// bytes returns what is held; a view that the next space invalidates.
func (q *window) bytes() []byte { return q.buf[q.r:q.w] }

// take gives up the first n bytes held.
func (q *window) take(n int) {
	q.r += n
	q.base += int64(n)
}

// fill counts n bytes written into the last space.
func (q *window) fill(n int) { q.w += n }

// space returns at least one byte to write to. want is the length of the unit
// in progress where it is known, else 0.
func (q *window) space(want int64) []byte {
	if q.r == q.w {
		q.r, q.w = 0, 0
		if len(q.buf) > windowKeep {
			q.buf = nil
		}
	}
	if q.buf == nil {
		q.buf = make([]byte, windowMin)
	}
	free, held := len(q.buf)-q.w, q.bytes()
	roomy := len(held) <= len(q.buf)/2
	switch {
	case free >= len(q.buf)/4 || free > 0 && !roomy:
	case roomy:
		q.move(q.buf, held)
	default:
		size := int64(2 * len(held))
		if want > int64(len(held)) {
			size = min(size, want)
		}
		q.move(make([]byte, max(size, windowMin)), held)
	}
	return q.buf[q.w:]
}

// move makes to the buffer and puts what is held at its start.
func (q *window) move(to, held []byte) {
	q.r, q.w = 0, copy(to, held)
	q.buf = to
}
