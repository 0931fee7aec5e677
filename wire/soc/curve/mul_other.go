//go:build !amd64

package curve

// mul sets z = x·y. All three may be the same.
func mul(z, x, y *element) { mulPlain(z, x, y) }
