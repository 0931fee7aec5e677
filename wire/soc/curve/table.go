package curve

// scalarBits is the size of a scalar that negateHigh has made the lesser of itself
// and its negative.
const scalarBits = 255

// A table holds multiples of a point P: of each 2^(width·i)·P, a window, those by
// 1 to 2^(width-1). A scalar cut into signed digits of width bits is then a sum of
// one entry a window, with no doublings.
type table struct {
	width   int
	windows int
	entries []point // by window, then by multiple
}

// windowsOf is the number of digits of width bits: the highest one has room for
// the carry.
func windowsOf(width int) int { return scalarBits/width + 1 }

func newTable(p point, width int) *table {
	windows, size := windowsOf(width), 1<<(width-1)
	t := &table{width: width, windows: windows, entries: make([]point, windows*size)}
	t.firsts(p)
	// What is there of each window is doubled: entry k is the multiple by k+1.
	pairs := make([]pair, 0, windows*size/2)
	for have := 1; have < size; have *= 2 {
		pairs = pairs[:0]
		for first := 0; first < len(t.entries); first += size {
			for k := range have {
				pairs = appendPair(pairs, int32(first+have-1), int32(first+k), int32(first+have+k))
			}
		}
		addPairs(t.entries, pairs)
	}
	return t
}

// firsts sets the first entry of each window.
func (t *table) firsts(p point) {
	size := 1 << (t.width - 1)
	// The points as x/z² and y/z³, so that doubling needs no inversion.
	z := make([]element, t.windows)
	x, y, d := p.x, p.y, element{1}
	for i := range z {
		t.entries[i*size] = point{x, y}
		z[i] = d
		for range t.width {
			double(&x, &y, &d)
		}
	}
	invertAll(z)
	for i := range z {
		var s scale
		s.set(&z[i])
		s.apply(&t.entries[i*size])
	}
}

// double doubles the point x/z², y/z³: the tangent is t/2yz with t = 3x², and all
// is taken times z' = 2yz.
func double(x, y, z *element) {
	var yy, s, t, u, nx, ny element
	mul(&yy, y, y)
	mul(&s, x, &yy)
	s.add(&s, &s)
	s.add(&s, &s) // 4xy²
	mul(&t, x, x)
	u.add(&t, &t)
	t.add(&t, &u) // 3x²
	mul(&nx, &t, &t)
	nx.sub(&nx, &s)
	nx.sub(&nx, &s)
	u.sub(&s, &nx)
	mul(&ny, &t, &u)
	mul(&u, &yy, &yy)
	u.add(&u, &u)
	u.add(&u, &u)
	u.add(&u, &u) // 8y⁴
	mul(z, z, y)
	z.add(z, z)
	*x = nx
	y.sub(&ny, &u)
}

// invertAll inverts elements that are not 0, with one inversion.
func invertAll(list []element) {
	before := make([]element, len(list))
	product := element{1}
	for i := range list {
		before[i] = product
		mul(&product, &product, &list[i])
	}
	product.invert(&product)
	for i := len(list) - 1; i >= 0; i-- {
		e := list[i]
		mul(&list[i], &product, &before[i])
		mul(&product, &product, &e)
	}
}

// A choice is an entry of a table, or its negative where the mask is set.
type choice struct {
	entry    *point
	negative uint64
}

// choose appends the entries whose sum is k·P, at most one a window. Signs are as
// good as random, so that they are followed without branches.
func (t *table) choose(list []choice, k scalar) []choice {
	negative := mask(k.negateHigh())
	width, size := uint(t.width), uint64(1)<<(t.width-1)
	var carry uint64 // all bits or none
	for i := range uint(t.windows) {
		at := i * width
		digit := k[at/64] >> (at % 64)
		if over := at%64 + width; over > 64 && at/64+1 < uint(len(k)) {
			digit |= k[at/64+1] << (-at % 64)
		}
		digit = digit&(2*size-1) - carry
		// A digit above half the window's range is the next higher one, less what is
		// missing to it.
		carry = mask(digit > size)
		digit = digit ^ carry + carry&(2*size+1)
		if digit != 0 {
			list = append(list, choice{&t.entries[uint64(i)*size+digit-1], carry ^ negative})
		}
	}
	return list
}

// gather appends the chosen points. A lone check after a pause finds its tables in
// no cache: so all entries are looked at before the first is needed, and the machine
// waits for them together and not one after the other.
func (s *scratch) gather(points []point, list []choice) []point {
	var touch uint64
	for i := range list {
		touch ^= list[i].entry.x[0]
	}
	s.touched = touch
	for i := range list {
		c := &list[i]
		points = append(points, *c.entry)
		points[len(points)-1].y.negateMasked(&c.entry.y, c.negative)
	}
	clear(list) // it keeps no keys
	return points
}

// mask is all bits of a word where b is true, and none where it is not.
func mask(b bool) uint64 {
	var m uint64
	if b {
		m = 1
	}
	return -m
}
