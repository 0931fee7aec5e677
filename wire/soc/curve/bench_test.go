package curve_test

import (
	"fmt"
	"testing"
	"crypto/rand"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	dsecp "github.com/ethereum/go-ethereum/crypto/secp256k1"
	"treecast/wire/soc/curve"
)
var _ = ecdsa.SignCompact
var _ = dsecp.Sign
func BenchmarkMul(b *testing.B) {
	for n, f := range map[string]func(z,x,y *curve.Element){"mul":curve.Mul,"plain":curve.MulPlain,"adx":curve.MulADX} {
		b.Run(n, func(b *testing.B) {
			x, y := curve.Element{1,2,3,4}, curve.Element{1<<63,5,6,7}
			for b.Loop() { f(&x,&x,&y) }
		})
	}
}
func BenchmarkInvert(b *testing.B) {
	x := curve.Element{1,2,3,4}
	for b.Loop() { curve.Invert(&x,&x); x[0]++ }
}
func TestMulAgree(t *testing.T) {
	x, y := curve.Element{1,2,3,4}, curve.Element{1<<63,5,6,7}
	for range 100000 { var a,b curve.Element; curve.MulPlain(&a,&x,&y); curve.MulADX(&b,&x,&y); if a != b {t.Fatal(a,b)}; y=x; x=a }
	for range 10000 { 
		var i, one curve.Element; curve.Invert(&i,&x); curve.Mul(&one,&i,&x); if one.Reduce() != (curve.Element{1}) { t.Fatal(one) }
		x=i;x[0]+=3
		}
}
func signed(n int) []*curve.Check {
	k,_ := secp256k1.GeneratePrivateKey()
	key, err := curve.NewKey((*[64]byte)(k.PubKey().SerializeUncompressed()[1:]))
	if err != nil { panic(err) }
	var out []*curve.Check
	for range n {
		c := &curve.Check{Key:key}
		rand.Read(c.Digest[:])
		s := ecdsa.SignCompact(k,c.Digest[:],false)
		c.R, c.S, c.Odd = [32]byte(s[1:]), [32]byte(s[33:]), s[0]==28
		out = append(out, c)
	}
	return out
}
func TestV(t *testing.T) {
	cs := signed(100)
	curve.Verify(cs)
	for i, c := range cs { if !c.Valid { t.Error(i) } }
	for i, c := range cs { if i%2 == 0{ c.Odd=!c.Odd } }
	curve.Verify(cs)
	for i, c := range cs { if c.Valid == (i%2==0) { t.Error(i) } }
}
func BenchmarkVerify(b *testing.B) {
	for _, n := range []int{1,2,4,8} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			cs := signed(n)
			b.ReportAllocs()
			for i := 0; i < b.N; i+=n { curve.Verify(cs) }
		})
	}
}
func BenchmarkNewKey(b *testing.B) {
	k,_ := secp256k1.GeneratePrivateKey()
	p := (*[64]byte)(k.PubKey().SerializeUncompressed()[1:])
	for b.Loop() { curve.NewKey(p) }
}
func BenchmarkRecover(b *testing.B) {
	for i := 0; i < b.N; i++ {
		dsecp.RecoverPubkey(dmsg[:], dsig)
	}
}
var dmsg = [32]byte{1}
var dsig, _ = dsecp.Sign(dmsg[:], append(make([]byte,31),7))
