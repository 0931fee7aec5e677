package curve

import "golang.org/x/sys/cpu"

// hasADX tells whether this machine runs mulADX.
func hasADX() bool { return cpu.X86.HasBMI2 && cpu.X86.HasADX }

// mul sets z = x·y. All three may be the same.
func mul(z, x, y *element) {
	if hasADX() {
		mulADX(z, x, y)
		return
	}
	mulPlain(z, x, y)
}

// mulADX is mul. The code is made by TestMulAssembly.
//
//go:noescape
func mulADX(z, x, y *element)
