//go:build !amd64

package curve

// mul sets z = x·y. All three may be the same.
func mul(z, x, y *element) { mulPlain(z, x, y) }

// start is the way there of addPairs for one pair; see startPlain.
func start(p *pair, a, b *point, product *element) (same bool) {
	return startPlain(p, a, b, product)
}

// finish is the way back of addPairs for one pair; see finishPlain.
func finish(to, a, b *point, p *pair, rest *element) { finishPlain(to, a, b, p, rest) }

// finishScaled is the way back of addPairsScaled for one pair; see
// finishScaledPlain.
func finishScaled(to, a, b *point, p *pair, rest *element, s *scale) {
	finishScaledPlain(to, a, b, p, rest, s)
}
