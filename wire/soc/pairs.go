package soc

// pairSize is the input of one inner node: two child hashes, or two segments.
const pairSize = 2 * SegmentSize

// maxWidth is the most pairs that are hashed at once.
const maxWidth = 4

// pairWidth is how many pairs this machine hashes at once: 4, 2 or 1. A
// permutation of several states takes little longer than a plain one of a single
// state, so it pays even where some of its states are idle.
func pairWidth() int {
	switch {
	case hasPairs4():
		return 4
	case hasPairs2():
		return 2
	}
	return 1
}

// pairEnds is the ninth word of the states of whole pairs: behind their 64 bytes
// the padding begins.
var pairEnds = [maxWidth]uint64{1, 1, 1, 1}

// hashShort writes keccak256 of each of width messages of at most pairSize bytes
// to dst, which may overlap src. Each has pairSize bytes of src, and with the words
// in ninth behind them the first byte of its padding.
func hashShort(dst, src []byte, ninth *[maxWidth]uint64, width int) {
	switch width {
	case 2:
		hashPairs2(dst, src, (*[2]uint64)(ninth[:]))
	case 4:
		hashPairs4(dst, src, ninth)
	default:
		panic("soc: number of states")
	}
}

// A mixer hashes messages of at most pairSize bytes, as many at once as the machine
// can. It is used again and again and must not be copied.
type mixer struct {
	width  int     // 1, 2 or 4
	sponge *sponge // for width 1

	n     int // messages that wait
	src   [maxWidth * pairSize]byte
	ninth [maxWidth]uint64
	size  [maxWidth]int
	to    [maxWidth]*Hash
}

// add has keccak256(a || b) written to to, at the latest by flush. It keeps neither
// a nor b.
func (m *mixer) add(to *Hash, a, b []byte) {
	src := m.src[m.n*pairSize:][:pairSize]
	size := copy(src, a)
	size += copy(src[size:], b)
	m.ninth[m.n] = 1
	if size < pairSize {
		m.ninth[m.n] = 0
		src[size] = 1
		clear(src[size+1:])
	}
	m.size[m.n], m.to[m.n] = size, to
	m.n++
	if m.n == m.width {
		m.flush()
	}
}

// flush writes what waits.
func (m *mixer) flush() {
	if m.n == 0 {
		return
	}
	if m.width == 1 {
		*m.to[0] = m.sponge.sum(m.src[:m.size[0]])
	} else {
		var out [maxWidth * SegmentSize]byte
		hashShort(out[:], m.src[:], &m.ninth, m.width)
		for i, to := range m.to[:m.n] {
			copy(to[:], out[i*SegmentSize:])
		}
	}
	clear(m.to[:m.n])
	m.n = 0
}

// pairs writes keccak256 of each of the n pairs in src to dst, which may be the
// same memory: what is written never reaches a pair still to be read. The last
// ones may wait for flush, before which neither dst nor src may be used.
func (m *mixer) pairs(dst, src []byte, n int) {
	whole := 0
	if m.width > 1 {
		for ; whole+m.width <= n; whole += m.width {
			hashShort(dst[whole*SegmentSize:], src[whole*pairSize:], &pairEnds, m.width)
		}
	}
	for i := whole; i < n; i++ {
		m.add((*Hash)(dst[i*SegmentSize:]), src[i*pairSize:][:pairSize], nil)
	}
}
