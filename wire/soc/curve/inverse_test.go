package curve_test

import (
	"math/rand/v2"
	"testing"

	"treecast/wire/soc/curve"
)

// TestSteps holds many steps at once against steps one by one, as they are
// defined, and the bound on what they make.
func TestSteps(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 20000 {
		eta, f, g := rng.IntN(200)-100, rng.Uint64()|1, rng.Uint64()>>rng.IntN(64)
		if rng.IntN(8) == 0 {
			g <<= rng.IntN(64)
		}
		gotEta, got := curve.Steps(eta, f, g)
		wantEta, want := oneByOne(eta, f, g)
		if gotEta != wantEta || got != want {
			t.Fatalf("eta %d, f %x, g %x: %d, %d, want %d, %d", eta, f, g, gotEta, got, wantEta, want)
		}
		for row := range 2 {
			if sum := size(got[2*row]) + size(got[2*row+1]); sum > 1<<62 {
				t.Fatalf("eta %d, f %x, g %x: row %d of %d adds up to %d", eta, f, g, row, got, sum)
			}
		}
	}
}

func size(v int64) uint64 { return uint64(max(v, -v)) }

func oneByOne(eta int, f, g uint64) (int, [4]int64) {
	var u, v, q, r int64 = 1, 0, 0, 1
	for range 62 {
		eta--
		switch {
		case g&1 == 0:
			g = g / 2
			u, v = 2*u, 2*v
		case eta+1 < 0:
			eta = -(eta + 1) - 1
			f, g = g, (g-f)/2
			u, v, q, r = 2*q, 2*r, q-u, r-v
		default:
			g = (g + f) / 2
			u, v, q, r = 2*u, 2*v, q+u, r+v
		}
	}
	return eta, [4]int64{u, v, q, r}
}
