package curve

import "golang.org/x/sys/cpu"

// hasADX tells whether this machine runs what is named so.
func hasADX() bool { return cpu.X86.HasBMI2 && cpu.X86.HasADX }

// mul sets z = x·y. All three may be the same.
func mul(z, x, y *element) {
	if hasADX() {
		mulADX(z, x, y)
		return
	}
	mulPlain(z, x, y)
}

// start is the way there of addPairs for one pair; see startPlain.
func start(p *pair, a, b *point, product *element) (same bool) {
	if hasADX() {
		return startADX(p, a, b, product)
	}
	return startPlain(p, a, b, product)
}

// finish is the way back of addPairs for one pair; see finishPlain.
func finish(to, a, b *point, p *pair, rest *element) {
	if hasADX() {
		finishADX(to, a, b, p, rest)
		return
	}
	finishPlain(to, a, b, p, rest)
}

// finishScaled is the way back of addPairsScaled for one pair; see
// finishScaledPlain.
func finishScaled(to, a, b *point, p *pair, rest *element, s *scale) {
	if hasADX() {
		finishScaledADX(to, a, b, p, rest, s)
		return
	}
	finishScaledPlain(to, a, b, p, rest, s)
}

// The code of these is made by TestAssembly.

//go:noescape
func mulADX(z, x, y *element)

//go:noescape
func startADX(p *pair, a, b *point, product *element) (same bool)

//go:noescape
func finishADX(to, a, b *point, p *pair, rest *element)

//go:noescape
func finishScaledADX(to, a, b *point, p *pair, rest *element, s *scale)
