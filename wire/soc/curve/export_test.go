package curve

type Element = element

var (
	Mul = mul
	MulPlain = mulPlain
	MulADX = mulADX
	Wide = wide
	Invert = (*element).invert
)
func (z *element) Reduce() element { return z.reduce() }
