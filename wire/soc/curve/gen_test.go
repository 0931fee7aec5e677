package curve_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite field_amd64.s")

// asmFile is what assemble writes.
const asmFile = "field_amd64.s"

// TestAssembly: the assembly is what the generator below makes.
func TestAssembly(t *testing.T) {
	want := assemble()
	if *update {
		if err := os.WriteFile(asmFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(asmFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the generator makes: go test ./wire/soc/curve -run Assembly -update", asmFile)
	}
}

// assembler writes arithmetic of elements, one operation after the other. A
// product takes MULX, which leaves the flags alone, and ADCX and ADOX, which carry
// in a flag each: the low and the high halves of a row of products are added in
// two chains that do not wait for each other.
//
// The registers: SI and CX the operands' addresses, DX a factor or fold, AX and BX
// between steps, R8–R15 the words of the result, of which R8–R11 are left.
type assembler struct{ bytes.Buffer }

func (a *assembler) op(name string, args ...any) {
	list := make([]string, len(args))
	for i, arg := range args {
		list[i] = fmt.Sprint(arg)
	}
	fmt.Fprintf(a, "\t%s\n", strings.TrimSpace(name+" "+strings.Join(list, ", ")))
}

// word is the register of a word of the result.
func word(i int) string { return fmt.Sprintf("R%d", 8+i) }

// A place is where an element is in memory: in what an argument points to, or in
// the frame.
type place struct {
	arg   string // "name+offset(FP)"; empty is the frame
	field string // offset as go_asm.h names it
	frame int
}

// in loads the address of a place into a register, and returns the operands of
// the four words.
func (a *assembler) in(p place, reg string) (words [4]string) {
	base, field := reg, p.field
	if p.arg == "" {
		base, field = "SP", fmt.Sprint(p.frame)
	} else {
		a.op("MOVQ", p.arg, reg)
	}
	for i := range words {
		switch {
		case field == "":
			words[i] = fmt.Sprintf("%d(%s)", 8*i, base)
		default:
			words[i] = fmt.Sprintf("(%s+%d)(%s)", field, 8*i, base)
		}
	}
	return words
}

// load sets the words from i on to an element.
func (a *assembler) load(i int, p place) {
	for j, w := range a.in(p, "SI") {
		a.op("MOVQ", w, word(i+j))
	}
}

// store writes the words from i on.
func (a *assembler) store(i int, p place) {
	for j, w := range a.in(p, "SI") {
		a.op("MOVQ", word(i+j), w)
	}
}

// multiply sets words 0–3 to the product.
func (a *assembler) multiply(x, y place) {
	xs, ys := a.in(x, "SI"), a.in(y, "CX")
	a.op("MOVQ", xs[0], "DX")
	a.op("MULXQ", ys[0], word(0), word(1))
	for j := 1; j < 4; j++ {
		a.op("MULXQ", ys[j], "AX", word(j+1))
		a.op([]string{"", "ADDQ", "ADCQ", "ADCQ"}[j], "AX", word(j))
	}
	a.op("ADCQ", "$0", word(4))
	for i := 1; i < 4; i++ {
		a.op("MOVQ", xs[i], "DX")
		a.op("XORL", word(i+4), word(i+4)) // both carries too
		for j := range 4 {
			a.op("MULXQ", ys[j], "AX", "BX")
			a.op("ADCXQ", "AX", word(i+j))
			a.op("ADOXQ", "BX", word(i+j+1))
		}
		a.op("MOVL", "$0", "AX") // a move keeps the carries
		a.op("ADCXQ", "AX", word(i+4))
	}
	a.fold()
}

// fold brings what is above 2^256 back times fold: words 4–7, then the at most 34
// bits that go over, then the one bit. That there is one is so rare that a branch
// costs less than what it takes to do without.
func (a *assembler) fold() {
	a.foldDX()
	a.op("XORL", "CX", "CX")
	for j := range 4 {
		a.op("MULXQ", word(4+j), "AX", "BX")
		a.op("ADCXQ", "AX", word(j))
		if j < 3 {
			a.op("ADOXQ", "BX", word(j+1))
		}
	}
	a.op("ADCXQ", "CX", "BX") // the last high half, which has room
	a.op("ADOXQ", "CX", "BX")
	a.op("MULXQ", "BX", "AX", "BX")
	a.op("ADDQ", "AX", word(0))
	a.op("ADCQ", "BX", word(1))
	a.op("ADCQ", "$0", word(2))
	a.op("ADCQ", "$0", word(3))
	a.op("JCC", "3(PC)")
	a.op("ADDQ", "DX", word(0))
	a.op("ADCQ", "$0", word(1))
}

func (a *assembler) foldDX() { a.op("MOVQ", "$0x1000003d1", "DX") }

// subtract takes from the words from i on the element at p. DX is fold.
func (a *assembler) subtract(i int, p place) {
	for j, w := range a.in(p, "SI") {
		a.op([]string{"SUBQ", "SBBQ", "SBBQ", "SBBQ"}[j], w, word(i+j))
	}
	a.borrow(i)
}

// subtractWords takes the words from j on from those from i on. DX is fold.
func (a *assembler) subtractWords(i, j int) {
	for k := range 4 {
		a.op([]string{"SUBQ", "SBBQ", "SBBQ", "SBBQ"}[k], word(j+k), word(i+k))
	}
	a.borrow(i)
}

// add adds to the words from i on the element at p, and brings back as fold what
// goes over 2^256, twice. DX is fold.
func (a *assembler) add(i int, p place) {
	for j, w := range a.in(p, "SI") {
		a.op([]string{"ADDQ", "ADCQ", "ADCQ", "ADCQ"}[j], w, word(i+j))
	}
	a.op("SBBQ", "AX", "AX")
	a.op("ANDQ", "DX", "AX")
	a.op("ADDQ", "AX", word(i))
	for j := 1; j < 4; j++ {
		a.op("ADCQ", "$0", word(i+j))
	}
	a.op("JCC", "2(PC)")
	a.op("ADDQ", "DX", word(i))
}

// borrow brings back as fold what went below zero, twice; the second time as rare
// as in fold.
func (a *assembler) borrow(i int) {
	a.op("SBBQ", "AX", "AX")
	a.op("ANDQ", "DX", "AX")
	a.op("SUBQ", "AX", word(i))
	for j := 1; j < 4; j++ {
		a.op("SBBQ", "$0", word(i+j))
	}
	a.op("JCC", "2(PC)")
	a.op("SUBQ", "DX", word(i))
}

func assemble() []byte {
	a := new(assembler)
	fmt.Fprint(a, "// Code generated by TestAssembly -update. DO NOT EDIT.\n\n#include \"go_asm.h\"\n#include \"textflag.h\"\n")

	fmt.Fprint(a, "\n// func mulADX(z, x, y *element)\nTEXT ·mulADX(SB), NOSPLIT, $0-24\n")
	a.multiply(place{arg: "x+8(FP)"}, place{arg: "y+16(FP)"})
	a.store(0, place{arg: "z+0(FP)"})
	a.op("RET")

	fmt.Fprint(a, "\n// func startADX(p *pair, a, b *point, product *element) (same bool)\nTEXT ·startADX(SB), NOSPLIT, $0-33\n")
	den, product := place{arg: "p+0(FP)", field: "pair_den"}, place{arg: "product+24(FP)"}
	a.foldDX()
	a.load(0, place{arg: "b+16(FP)", field: "point_x"})
	a.subtract(0, place{arg: "a+8(FP)", field: "point_x"})
	a.store(0, den)
	a.op("MOVQ", word(0), "AX") // zero?
	for i := 1; i < 4; i++ {
		a.op("ORQ", word(i), "AX")
	}
	a.op("JEQ", "same")
	a.op("ADDQ", "DX", word(0)) // p?
	for i := 1; i < 4; i++ {
		a.op("NOTQ", word(i))
		a.op("ORQ", word(i), word(0))
	}
	a.op("JEQ", "same")
	a.load(0, product)
	a.store(0, place{arg: "p+0(FP)", field: "pair_before"})
	a.multiply(product, den)
	a.store(0, product)
	a.op("MOVB", "$0", "same+32(FP)")
	a.op("RET")
	fmt.Fprint(a, "same:\n")
	a.op("MOVB", "$1", "same+32(FP)")
	a.op("RET")

	fmt.Fprint(a, "\n// func finishADX(to, a, b *point, p *pair, rest *element)\nTEXT ·finishADX(SB), NOSPLIT, $64-40\n")
	a.finish()
	fmt.Fprint(a, "\n// func finishScaledADX(to, a, b *point, p *pair, rest *element, s *scale)\nTEXT ·finishScaledADX(SB), NOSPLIT, $128-48\n")
	a.finishScaled()
	return a.Bytes()
}

// finish writes finishADX.
func (a *assembler) finish() {
	k, d := place{frame: 0}, place{frame: 32}
	a.multiply(rest, before)
	a.store(0, k)
	a.load(0, by)
	a.subtract(0, ay)
	a.store(0, d)
	a.multiply(rest, den)
	a.store(0, rest)
	a.multiply(k, d)
	a.store(0, k)
	a.multiply(k, k)
	a.subtract(0, ax)
	a.subtract(0, bx)
	a.load(4, ax)
	a.subtractWords(4, 0)
	a.store(0, toX)
	a.store(4, d)
	a.multiply(k, d)
	a.subtract(0, ay)
	a.store(0, toY)
	a.op("RET")
}

// finishScaled writes finishScaledADX. The products that scale stand between those
// that wait for each other.
func (a *assembler) finishScaled() {
	square, half := place{arg: "s+40(FP)", field: "scale_square"}, place{arg: "s+40(FP)", field: "scale_half"}
	k, d, sum, twice := place{frame: 0}, place{frame: 32}, place{frame: 64}, place{frame: 96}
	a.multiply(rest, before)
	a.store(0, k)
	a.load(0, by)
	a.subtract(0, ay)
	a.store(0, d)
	a.load(0, ax)
	a.add(0, bx)
	a.store(0, sum)
	a.multiply(sum, square)
	a.store(0, sum)
	a.multiply(k, d)
	a.store(0, k)
	a.add(0, k)
	a.store(0, twice)
	a.multiply(rest, den)
	a.store(0, rest)
	a.multiply(twice, twice)
	a.subtract(0, sum)
	a.load(4, sum)
	a.subtractWords(4, 0)
	a.subtractWords(4, 0)
	a.store(0, toX)
	a.store(4, d)
	a.load(0, ay)
	a.add(0, by)
	a.store(0, sum)
	a.multiply(sum, half)
	a.store(0, sum)
	a.multiply(k, d)
	a.subtract(0, sum)
	a.store(0, toY)
	a.op("RET")
}

// Where finishADX and finishScaledADX have the same arguments.
var (
	den, before = place{arg: "p+24(FP)", field: "pair_den"}, place{arg: "p+24(FP)", field: "pair_before"}
	rest        = place{arg: "rest+32(FP)"}
	ax, ay      = place{arg: "a+8(FP)", field: "point_x"}, place{arg: "a+8(FP)", field: "point_y"}
	bx, by      = place{arg: "b+16(FP)", field: "point_x"}, place{arg: "b+16(FP)", field: "point_y"}
	toX, toY    = place{arg: "to+0(FP)", field: "point_x"}, place{arg: "to+0(FP)", field: "point_y"}
)
