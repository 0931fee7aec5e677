package curve_test

import (
	"math/big"
	"testing"

	"golang.org/x/sys/cpu"

	"treecast/wire/soc/curve"
)

// TestVerifyPlain runs checks and makes tables as a machine without the
// instructions of the assembly does.
func TestVerifyPlain(t *testing.T) {
	defer func(had bool) { cpu.X86.HasADX = had }(cpu.X86.HasADX)
	with := signerOf(t, big.NewInt(4711))
	cpu.X86.HasADX = false
	without := signerOf(t, big.NewInt(4711))
	for i, e := range with.key.Table().Entries() {
		if !samePoint(e, oracleOf(without.key.Table().Entries()[i])) {
			t.Fatalf("entry %d of the tables differs", i)
		}
	}
	var checks []curve.Check
	for i := range int64(20) {
		checks = append(checks, without.check(big.NewInt(1000-i), big.NewInt(1+i*i)))
		checks[i].Odd = checks[i].Odd != (i%3 == 0)
	}
	if valid := mustAgree(t, checks, func(int) [64]byte { return without.public }); valid != 13 {
		t.Errorf("%d valid", valid)
	}
}
