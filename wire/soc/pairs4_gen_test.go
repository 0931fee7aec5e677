package soc_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite pairs4_amd64.s")

// pairs4File is what assemble writes.
const pairs4File = "pairs4_amd64.s"

// TestPairs4Assembly: the assembly is what the generator below makes.
func TestPairs4Assembly(t *testing.T) {
	want := assemble()
	if *update {
		if err := os.WriteFile(pairs4File, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(pairs4File)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the generator makes: go test ./wire/soc -run Pairs4Assembly -update", pairs4File)
	}
}

// assembler writes the permutation of four interleaved states, one round after
// the other. It goes from one copy of the state in memory to another, so that
// every round has the same code, and takes the parities of the columns along as
// the words come up, so that a round never reads back what the one before has just
// written for theta.
//
// The registers: Y0–Y4 what theta adds to each column, Y5–Y9 a plane between rho
// and chi, Y10–Y14 the parities, Y15 between steps. AX dst, BX src, DX ninth, R8 and R9 the
// two copies of the state, R10 the round's constant, CX the rounds to go.
type assembler struct{ bytes.Buffer }

func (a *assembler) op(name string, args ...any) {
	list := make([]string, len(args))
	for i, arg := range args {
		list[i] = fmt.Sprint(arg)
	}
	fmt.Fprintf(a, "\t%s\n", strings.TrimSpace(name+" "+strings.Join(list, ", ")))
}

// yreg is a vector register.
type yreg int

func (r yreg) String() string { return fmt.Sprintf("Y%d", int(r)) }

func theta(x int) yreg  { return yreg(x % 5) }
func plane(x int) yreg  { return yreg(5 + x%5) }
func parity(x int) yreg { return yreg(10 + x%5) }

const spare yreg = 15

// word is the word (x, y) of all four states in the copy at base.
func word(base string, x, y int) string { return fmt.Sprintf("%d(%s)", 32*(x+5*y), base) }

// rotations are rho's, by x+5y: walking the plane as pi does, the t-th word turns
// by the t-th triangular number.
func rotations() (r [25]int) {
	x, y := 1, 0
	for t := 1; t < 25; t++ {
		r[x+5*y] = t * (t + 1) / 2 % 64
		x, y = y, (2*x+3*y)%5
	}
	return r
}

// rotate turns each word of r to the left by n bits.
func (a *assembler) rotate(r yreg, n int) {
	switch n {
	case 0:
	case 8, 56: // whole bytes in one step
		a.op("VPSHUFB", fmt.Sprintf("pairs4Left%d<>(SB)", n), r, r)
	case 1: // an addition has more units to go to than a shift
		a.op("VPADDQ", r, r, spare)
		a.op("VPSRLQ", "$63", r, r)
		a.op("VPOR", spare, r, r)
	default:
		a.op("VPSLLQ", fmt.Sprintf("$%d", n), r, spare)
		a.op("VPSRLQ", fmt.Sprintf("$%d", 64-n), r, r)
		a.op("VPOR", spare, r, r)
	}
}

// columns makes what theta adds to each column of the parities around it.
func (a *assembler) columns() {
	for x := range 5 {
		a.op("VPSRLQ", "$63", parity(x+1), theta(x))
		a.op("VPADDQ", parity(x+1), parity(x+1), spare)
		a.op("VPXOR", parity(x+4), theta(x), theta(x))
		a.op("VPXOR", spare, theta(x), theta(x))
	}
}

// load brings plane y of the round's result as far as pi into the registers.
func (a *assembler) load(from string, y int, rho *[25]int) {
	for x := range 5 {
		// The word that pi moves to (x, y) is at (fromX, x).
		fromX := (x + 3*y) % 5
		a.op("VPXOR", word(from, fromX, x), theta(fromX), plane(x))
		a.rotate(plane(x), rho[fromX+5*x])
	}
}

// chi makes word x of the plane in the registers.
func (a *assembler) chi(x int, to yreg) {
	a.op("VPANDN", plane(x+2), plane(x+1), to)
	a.op("VPXOR", plane(x), to, to)
}

func (a *assembler) round(from, to string, constant int, rho *[25]int) {
	a.columns()
	for y := range 5 {
		a.load(from, y, rho)
		for x := range 5 {
			out := spare
			if y == 0 {
				out = parity(x)
			}
			a.chi(x, out)
			if x == 0 && y == 0 {
				a.op("VPXOR", fmt.Sprintf("%d(R10)", constant), out, out)
			}
			a.op("VMOVDQA", out, word(to, x, y))
			if y > 0 {
				a.op("VPXOR", out, parity(x), parity(x))
			}
		}
	}
}

// transpose turns four words each of four states into four words of all states.
// It takes them from r0 to r0+3 and leaves them at r0+4 to r0+7.
func (a *assembler) transpose(r0 yreg) {
	a.op("VPUNPCKLQDQ", r0+1, r0, r0+4)
	a.op("VPUNPCKHQDQ", r0+1, r0, r0+5)
	a.op("VPUNPCKLQDQ", r0+3, r0+2, r0+6)
	a.op("VPUNPCKHQDQ", r0+3, r0+2, r0+7)
	a.op("VPERM2I128", "$0x20", r0+6, r0+4, r0)
	a.op("VPERM2I128", "$0x20", r0+7, r0+5, r0+1)
	a.op("VPERM2I128", "$0x31", r0+6, r0+4, r0+2)
	a.op("VPERM2I128", "$0x31", r0+7, r0+5, r0+3)
}

// absorb fills the copy at R8 with the four pairs, and what their padding begins
// with if that is behind them.
func (a *assembler) absorb() {
	for half := range 2 {
		for state := range 4 {
			a.op("VMOVDQU", fmt.Sprintf("%d(BX)", 64*state+32*half), yreg(state))
		}
		a.transpose(0)
		for i := range 4 {
			w := 4*half + i
			a.op("VMOVDQA", yreg(i), word("R8", w, 0))
		}
		if half == 0 {
			for x := range 4 {
				a.op("VMOVDQA", yreg(x), parity(x))
			}
			continue
		}
		a.op("VMOVDQA", yreg(0), parity(4))
		for i := 1; i < 4; i++ {
			a.op("VPXOR", yreg(i), parity(i-1), parity(i-1))
		}
	}
	a.op("VPXOR", "Y0, Y0, Y0")
	for w := 9; w < 25; w++ {
		if w != 16 {
			a.op("VMOVDQA", "Y0", word("R8", w, 0))
		}
	}
	for _, pad := range []struct {
		word int
		from string
	}{{8, "(DX)"}, {16, "pairs4Last<>(SB)"}} {
		a.op("VMOVDQU", pad.from, "Y1")
		a.op("VMOVDQA", "Y1", word("R8", pad.word, 0))
		a.op("VPXOR", "Y1", parity(pad.word), parity(pad.word))
	}
}

// squeeze makes of the copy at from, by the last round, the four digests.
func (a *assembler) squeeze(from string, constant int, rho *[25]int) {
	a.columns()
	a.load(from, 0, rho)
	for x := range 4 {
		a.chi(x, theta(x))
	}
	a.op("VPXOR", fmt.Sprintf("%d(R10)", constant), theta(0), theta(0))
	a.transpose(0)
	for state := range 4 {
		a.op("VMOVDQU", yreg(state), fmt.Sprintf("%d(AX)", 32*state))
	}
}

// constants are iota's: bit 2^j-1 of round i is the output 7i+j of a feedback
// register over x^8+x^6+x^5+x^4+1.
func constants() (c [24]uint64) {
	state := 1
	for i := range c {
		for j := range 7 {
			if state&1 == 1 {
				c[i] |= 1 << (1<<j - 1)
			}
			state <<= 1
			if state > 0xff {
				state ^= 0x171
			}
		}
	}
	return c
}

// table writes a constant of words of 8 bytes.
func (a *assembler) table(name string, words ...uint64) {
	for i, w := range words {
		fmt.Fprintf(a, "DATA %s<>+%d(SB)/8, $0x%016x\n", name, 8*i, w)
	}
	fmt.Fprintf(a, "GLOBL %s<>(SB), RODATA|NOPTR, $%d\n\n", name, 8*len(words))
}

func assemble() []byte {
	a, rho := new(assembler), rotations()
	fmt.Fprint(a, "// Code generated by TestPairs4Assembly -update. DO NOT EDIT.\n\n#include \"textflag.h\"\n\n")
	var rounds []uint64
	for _, c := range constants() {
		rounds = append(rounds, c, c, c, c)
	}
	a.table("pairs4Round", rounds...)
	a.table("pairs4Last", 1<<63, 1<<63, 1<<63, 1<<63)
	a.table("pairs4Left8", 0x0605040302010007, 0x0e0d0c0b0a09080f, 0x0605040302010007, 0x0e0d0c0b0a09080f)
	a.table("pairs4Left56", 0x0007060504030201, 0x080f0e0d0c0b0a09, 0x0007060504030201, 0x080f0e0d0c0b0a09)

	fmt.Fprint(a, "// func permutePairs4(dst *[4 * SegmentSize]byte, src *[4 * pairSize]byte, ninth *[4]uint64)\nTEXT ·permutePairs4(SB), 0, $1632-24\n")
	a.op("MOVQ", "dst+0(FP)", "AX")
	a.op("MOVQ", "src+8(FP)", "BX")
	a.op("MOVQ", "ninth+16(FP)", "DX")
	a.op("LEAQ", "31(SP)", "R8")
	a.op("ANDQ", "$~31", "R8")
	a.op("LEAQ", "800(R8)", "R9")
	a.op("LEAQ", "pairs4Round<>(SB)", "R10")
	a.absorb()
	a.op("MOVQ", "$11", "CX")
	fmt.Fprint(a, "\nrounds:\n")
	a.round("R8", "R9", 0, &rho)
	a.round("R9", "R8", 32, &rho)
	a.op("ADDQ", "$64", "R10")
	a.op("DECQ", "CX")
	a.op("JNZ", "rounds")
	fmt.Fprintln(a)
	a.round("R8", "R9", 0, &rho)
	a.squeeze("R9", 32, &rho)
	a.op("VZEROUPPER")
	a.op("RET")
	return a.Bytes()
}
