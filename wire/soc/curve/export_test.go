package curve

// What the tests of this package see besides its API.
type (
	Element = element
	Scalar  = scalar
	Point   = point
	Pair    = pair
	Kind    = kind
	Table   = table
	Scale   = scale
)

// The curve's numbers, and what is built from them.
var (
	Prime      = prime
	Order      = order
	Generator  = generator
	BaseTable  = baseTable
	NewTable   = newTable
	AddPairs   = addPairs
	AppendPair = appendPair

	AddPairsScaled = addPairsScaled
)

// The kinds of pairs, and the widths that are in use.
const (
	Chord     = chord
	Tangent   = tangent
	Infinite  = infinite
	BaseWidth = baseWidth
	KeyWidth  = keyWidth

	SharedInversion = sharedInversion
)

// A Path is one of the ways in which the field's hot operations are made.
type Path struct {
	Mul          func(z, x, y *Element)
	Start        func(p *Pair, a, b *Point, product *Element) bool
	Finish       func(to, a, b *Point, p *Pair, rest *Element)
	FinishScaled func(to, a, b *Point, p *Pair, rest *Element, s *Scale)
}

// Paths are plain Go and what this machine takes, which may be the same.
var Paths = map[string]Path{
	"machine": {mul, start, finish, finishScaled},
	"plain":   {mulPlain, startPlain, finishPlain, finishScaledPlain},
}

func (z *element) Add(x, y *element)        { z.add(x, y) }
func (z *element) Sub(x, y *element)        { z.sub(x, y) }
func (z *element) Negate(x *element)        { z.negate(x) }
func (z *element) Invert(x *element)        { z.invert(x) }
func (z *element) Reduce() element          { return z.reduce() }
func (z *element) IsZero() bool             { return z.isZero() }
func (z *element) Odd() bool                { return z.odd() }
func (z *element) Equal(x *element) bool    { return z.equal(x) }
func (z *element) SetBytes(b *[32]byte)     { z.setBytes(b) }
func (z *scalar) Mul(x, y *scalar)          { z.mul(x, y) }
func (z *scalar) Invert(x *scalar)          { z.invert(x) }
func (z *scalar) NegateHigh() bool          { return z.negateHigh() }
func (z *scalar) SetBytes(b *[32]byte) bool { return z.setBytes(b) }

// NegateMasked is -x where mask is all bits, and x where it is 0.
func (z *element) NegateMasked(x *element, mask uint64) { z.negateMasked(x, mask) }

// Set makes it the scale of z.
func (s *scale) Set(z *element) { s.set(z) }

// Apply takes a point to the scale.
func (s *scale) Apply(p *point) { s.apply(p) }

// ScaleBy is a scale for sums of any two factors.
func ScaleBy(square, half Element) Scale { return scale{square: square, half: half} }

// Factors are those of a scale for sums.
func (s *scale) Factors() (square, half Element) { return s.square, s.half }

// VerifySharing is Verify where an inversion has to be shared by so many pairs:
// with 0 no sum is scaled, and with more than there are all are.
func VerifySharing(checks []Check, pairs int) {
	s := &scratch{shared: pairs}
	for ; len(checks) > 0; checks = checks[min(len(checks), BatchSize):] {
		s.verify(checks[:min(len(checks), BatchSize)])
	}
}

// Steps is steps, with the matrix as a list.
func Steps(eta int, f, g uint64) (int, [4]int64) {
	eta, t := steps(eta, f, g)
	return eta, [4]int64{t.u, t.v, t.q, t.r}
}

// Reduce takes n off z + carry·2^256, once.
func (z *scalar) Reduce(carry uint64) bool { return z.reduce(carry) }

// PointOf is the point with these coordinates, on the curve or not.
func PointOf(x, y Element) Point { return point{x, y} }

// Coordinates are those of a point.
func (p *point) Coordinates() (x, y Element) { return p.x, p.y }

// OnCurve tells whether a point is.
func (p *point) OnCurve() bool { return p.onCurve() }

// Kind is what addPairs found the pair to be.
func (p *pair) Kind() Kind { return p.kind }

// SetInside sets what start leaves in a pair.
func (p *pair) SetInside(den, before Element) { p.den, p.before = den, before }

// Inside is what start leaves in a pair.
func (p *pair) Inside() (den, before Element) { return p.den, p.before }

// Entries are a table's.
func (t *table) Entries() []Point { return t.entries }

// Gather is the entries whose sum is a multiple of the table's point.
func (t *table) Gather(k Scalar) []Point { return new(scratch).gather(nil, t.choose(nil, k)) }

// Table is a key's.
func (k *Key) Table() *Table { return k.table }
