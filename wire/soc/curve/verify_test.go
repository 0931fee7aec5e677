package curve_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"treecast/wire/soc/curve"
)

// recovers is the oracle: whether recovery from the signature finds the key.
func recovers(c *curve.Check, key [64]byte) bool {
	var compact [65]byte
	compact[0] = 27
	if c.Odd {
		compact[0] = 28
	}
	copy(compact[1:], c.R[:])
	copy(compact[33:], c.S[:])
	got, _, err := ecdsa.RecoverCompact(compact[:], c.Digest[:])
	return err == nil && [64]byte(got.SerializeUncompressed()[1:]) == key
}

// A signer is a key of which the secret is known.
type signer struct {
	secret *big.Int
	public [64]byte
	key    *curve.Key
}

func signerOf(tb testing.TB, secret *big.Int) *signer {
	tb.Helper()
	s := &signer{secret: secret, public: coordinates(multiple(secret))}
	var err error
	if s.key, err = curve.NewKey(&s.public); err != nil {
		tb.Fatal(err)
	}
	return s
}

// check makes the signature in which R is u1·G + u2·Q, u2 not 0. Where that is at
// infinity, r is 1, and no signature is valid.
func (s *signer) check(u1, u2 *big.Int) curve.Check {
	c := curve.Check{Key: s.key}
	nonce := new(big.Int).Mul(u2, s.secret)
	r := big.NewInt(1)
	if point := multiple(nonce.Add(nonce, u1)); point != nil {
		b := coordinates(point)
		r.SetBytes(b[:32]).Mod(r, bigOrder)
		c.Odd = point.Y.IsOdd()
	}
	sig := new(big.Int).ModInverse(u2, bigOrder)
	sig.Mul(sig, r).Mod(sig, bigOrder)
	digest := new(big.Int).Mul(u1, sig)
	c.R, c.S, c.Digest = bytesOf(wordsOf(r)), bytesOf(wordsOf(sig)), bytesOf(wordsOf(digest.Mod(digest, bigOrder)))
	return c
}

// mustAgree holds the answers to checks, together and each by itself, against
// the oracle's, and returns how many are valid.
func mustAgree(t *testing.T, checks []curve.Check, public func(i int) [64]byte) (valid int) {
	t.Helper()
	for i := range checks {
		checks[i].Valid = i%3 == 0 // what was there does not matter
	}
	mustVerify(t, checks)
	for i, c := range checks {
		want := recovers(&c, public(i))
		alone := []curve.Check{c}
		curve.Verify(alone)
		if c.Valid != want || alone[0].Valid != want {
			t.Errorf("check %d of %d: valid %v, alone %v, want %v: digest %x, r %x, s %x, odd %v",
				i, len(checks), c.Valid, alone[0].Valid, want, c.Digest, c.R, c.S, c.Odd)
		}
		if want {
			valid++
		}
	}
	return valid
}

// sharings are how many pairs have to share an inversion: none is scaled, the last
// levels are, of a batch or of a lone check too, and all.
var sharings = []int{0, 3, 9, curve.SharedInversion, 1 << 20}

// mustVerify sets Valid of each check, together, and demands that it is the same
// with any way of summing.
func mustVerify(t *testing.T, checks []curve.Check) {
	t.Helper()
	curve.Verify(checks)
	other := slices.Clone(checks)
	for _, pairs := range sharings {
		for i := range other {
			other[i].Valid = i%2 == 0
		}
		curve.VerifySharing(other, pairs)
		for i := range other {
			if other[i] != checks[i] {
				t.Fatalf("check %d of %d: valid %v, and %v with inversions for %d pairs: digest %x, r %x, s %x, odd %v",
					i, len(checks), checks[i].Valid, other[i].Valid, pairs, other[i].Digest, other[i].R, other[i].S, other[i].Odd)
			}
		}
	}
}

// TestVerifyChosen goes through signatures with chosen multiples of G and Q, for
// keys that are small multiples of G: the sums then meet the same point twice, a
// point and its negative, and the point at infinity, on every level.
func TestVerifyChosen(t *testing.T) {
	var multiples []*big.Int
	for _, n := range []int64{0, 1, 2, 3, 5, 64, 65, 127, 128, 1023, 1024, 1025} {
		multiples = append(multiples, big.NewInt(n), new(big.Int).Sub(bigOrder, big.NewInt(n)))
	}
	for _, bit := range []uint{7, 11, 77, 128, 254, 255} {
		multiples = append(multiples, new(big.Int).Lsh(big.NewInt(1), bit))
	}
	for _, secret := range []int64{1, 2, 128} {
		for _, sign := range []int64{1, -1} {
			k := big.NewInt(sign * secret)
			s := signerOf(t, k.Mod(k, bigOrder))
			var checks []curve.Check
			infinite := 0
			for _, u1 := range multiples {
				for _, u2 := range multiples {
					if new(big.Int).Mod(u2, bigOrder).Sign() == 0 {
						continue
					}
					nonce := new(big.Int).Mul(u2, s.secret)
					if nonce.Add(nonce, u1).Mod(nonce, bigOrder).Sign() == 0 {
						infinite++
					}
					checks = append(checks, s.check(u1, u2))
				}
			}
			mustVerify(t, checks)
			valid := 0
			for i := range checks {
				alone := checks[i : i+1 : i+1]
				was := alone[0].Valid
				if mustVerify(t, alone); alone[0].Valid != was {
					t.Fatalf("check %d: valid %v, alone %v", i, was, alone[0].Valid)
				}
				if was {
					valid++
				}
			}
			if infinite == 0 || valid != len(checks)-infinite {
				t.Errorf("secret %d: %d of %d checks valid, %d at infinity", sign*secret, valid, len(checks), infinite)
			}
			// The oracle takes long: each time another part of them.
			var some []curve.Check
			for i := rand.IntN(64); i < len(checks); i += 64 {
				some = append(some, checks[i])
			}
			mustAgree(t, some, func(int) [64]byte { return s.public })
		}
	}
}

// TestVerifyBroken takes good signatures and breaks them in each of the ways that
// a check has to see.
func TestVerifyBroken(t *testing.T) {
	one, max := big.NewInt(1), new(big.Int).Sub(two256, big.NewInt(1))
	set := func(b *[32]byte, n *big.Int) { *b = bytesOf(wordsOf(n)) }
	read := func(b [32]byte) *big.Int { return new(big.Int).SetBytes(b[:]) }
	breaks := map[string]struct {
		valid bool
		do    func(c *curve.Check)
	}{
		"nothing":              {true, func(*curve.Check) {}},
		"other parity":         {false, func(c *curve.Check) { c.Odd = !c.Odd }},
		"negated s":            {false, func(c *curve.Check) { set(&c.S, new(big.Int).Sub(bigOrder, read(c.S))) }},
		"negated s and parity": {true, func(c *curve.Check) { set(&c.S, new(big.Int).Sub(bigOrder, read(c.S))); c.Odd = !c.Odd }},
		"r 0":                  {false, func(c *curve.Check) { c.R = [32]byte{} }},
		"s 0":                  {false, func(c *curve.Check) { c.S = [32]byte{} }},
		"r n":                  {false, func(c *curve.Check) { set(&c.R, bigOrder) }},
		"s n":                  {false, func(c *curve.Check) { set(&c.S, bigOrder) }},
		"r p":                  {false, func(c *curve.Check) { set(&c.R, bigPrime) }},
		"r + 1":                {false, func(c *curve.Check) { set(&c.R, new(big.Int).Add(read(c.R), one)) }},
		"r + n":                {false, func(c *curve.Check) { set(&c.R, new(big.Int).Add(read(c.R), bigOrder)) }},
		"s + n":                {false, func(c *curve.Check) { set(&c.S, new(big.Int).Add(read(c.S), bigOrder)) }},
		"r at most":            {false, func(c *curve.Check) { set(&c.R, max) }},
		"s at most":            {false, func(c *curve.Check) { set(&c.S, max) }},
		"s 1":                  {false, func(c *curve.Check) { set(&c.S, one) }},
		"s n - 1":              {false, func(c *curve.Check) { set(&c.S, new(big.Int).Sub(bigOrder, one)) }},
		"r n - 1":              {false, func(c *curve.Check) { set(&c.R, new(big.Int).Sub(bigOrder, one)) }},
		"r and s exchanged":    {false, func(c *curve.Check) { c.R, c.S = c.S, c.R }},
		"digest + 1":           {false, func(c *curve.Check) { set(&c.Digest, new(big.Int).Add(read(c.Digest), one)) }},
		"digest 0":             {false, func(c *curve.Check) { c.Digest = [32]byte{} }},
		"digest n":             {false, func(c *curve.Check) { set(&c.Digest, bigOrder) }},
		"digest at most":       {false, func(c *curve.Check) { set(&c.Digest, max) }},
	}
	s := signerOf(t, big.NewInt(987654321))
	for name, b := range breaks {
		t.Run(name, func(t *testing.T) {
			var checks []curve.Check
			// Broken ones between good ones, which must stay good.
			for i := range curve.BatchSize + 2 {
				c := s.check(big.NewInt(int64(1000+i)), big.NewInt(int64(3+i*i)))
				if i%3 == 1 {
					b.do(&c)
				}
				checks = append(checks, c)
			}
			valid := mustAgree(t, checks, func(int) [64]byte { return s.public })
			if b.valid != (valid == len(checks)) {
				t.Errorf("%d of %d valid", valid, len(checks))
			}
			// And nothing but broken ones.
			bad := checks[:0]
			for i := range 3 {
				c := s.check(big.NewInt(int64(77+i)), big.NewInt(5))
				b.do(&c)
				bad = append(bad, c)
			}
			mustAgree(t, bad, func(int) [64]byte { return s.public })
		})
	}
}

// lift makes a signature with the point R of a given x and a given s, and the key
// that it is of: (s·R - digest·G) / r.
func lift(t *testing.T, x, s *big.Int, odd bool) (c curve.Check, public [64]byte, ok bool) {
	t.Helper()
	b := bytesOf(wordsOf(x))
	var p secp256k1.JacobianPoint
	p.X.SetBytes(&b)
	p.Z.SetInt(1)
	if !secp256k1.DecompressY(&p.X, odd, &p.Y) {
		return c, public, false
	}
	p.Y.Normalize()
	r, digest := new(big.Int).Mod(x, bigOrder), big.NewInt(1234567)
	key := plus(times(s, &p), multiple(new(big.Int).Neg(digest)))
	key = times(new(big.Int).ModInverse(r, bigOrder), key)
	public = coordinates(key)
	k, err := curve.NewKey(&public)
	if err != nil {
		t.Fatal(err)
	}
	c = curve.Check{Key: k, Digest: bytesOf(wordsOf(digest)), R: bytesOf(wordsOf(r)), S: bytesOf(wordsOf(s)), Odd: odd}
	if !ecdsa.NewSignature(modNOf(r), modNOf(s)).Verify(c.Digest[:], secp256k1.NewPublicKey(&key.X, &key.Y)) {
		t.Fatalf("x %x, s %x: no ECDSA signature", x, s)
	}
	return c, public, true
}

// TestVerifyAboveOrder: a point whose x is n or more is not the one that r, its
// rest modulo n, stands for, though as an ECDSA signature without a recovery code
// it is valid; nor does it become so with the whole x for r.
func TestVerifyAboveOrder(t *testing.T) {
	found := 0
	for off := int64(1); found < 6; off++ {
		x := new(big.Int).Add(bigOrder, big.NewInt(off))
		c, public, ok := lift(t, x, big.NewInt(7+off), off%2 == 1)
		if !ok {
			continue
		}
		found++
		whole := c
		whole.R = bytesOf(wordsOf(x))
		if mustAgree(t, []curve.Check{c, whole}, func(int) [64]byte { return public }) != 0 {
			t.Errorf("x %x is valid", x)
		}
	}
}

// TestVerifySmall: r and s at the low end of their range are valid, and not a
// second time with n added.
func TestVerifySmall(t *testing.T) {
	found := 0
	for n := int64(1); found < 12; n++ {
		c, public, ok := lift(t, big.NewInt(n), big.NewInt(n), n%3 == 0)
		if !ok {
			continue
		}
		found++
		highS, highR := c, c
		highS.S = bytesOf(wordsOf(new(big.Int).Add(bigOrder, big.NewInt(n))))
		highR.R = bytesOf(wordsOf(new(big.Int).Add(bigOrder, big.NewInt(n))))
		checks := []curve.Check{c, highS, highR}
		if valid := mustAgree(t, checks, func(int) [64]byte { return public }); valid != 1 || !checks[0].Valid {
			t.Errorf("r and s %d: %d valid", n, valid)
		}
	}
}

// TestVerifyRandom takes random keys and numbers, many keys in a batch, good
// signatures and others.
func TestVerifyRandom(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var signers []*signer
	for range 5 {
		signers = append(signers, signerOf(t, new(big.Int).Mod(bigOf(randomWords(rng)), bigOrder)))
	}
	for range 6 {
		var checks []curve.Check
		var by []*signer
		for range rng.IntN(3 * curve.BatchSize) {
			s := signers[rng.IntN(len(signers))]
			c := s.check(bigOf(randomWords(rng)), bigOf(randomWords(rng)))
			switch rng.IntN(6) {
			case 0:
				c.R = bytesOf(randomWords(rng))
			case 1:
				c.S[rng.IntN(32)] ^= 1 << rng.IntN(8)
			case 2:
				s = signers[0]
				c.Key = s.key
			}
			checks, by = append(checks, c), append(by, s)
		}
		mustAgree(t, checks, func(i int) [64]byte { return by[i].public })
	}
}

// TestVerifySizes takes each size of a batch, with each check of it in turn broken,
// or so that nothing or one point is there to be added.
func TestVerifySizes(t *testing.T) {
	s := signerOf(t, big.NewInt(271828))
	minus := new(big.Int).Sub(bigOrder, s.secret)
	for size := 1; size <= curve.BatchSize; size++ {
		for at := range size {
			for name, odd := range map[string]struct {
				valid bool
				check curve.Check
			}{
				"one point":      {true, s.check(new(big.Int), big.NewInt(1))},
				"two points":     {true, s.check(big.NewInt(1), big.NewInt(1))},
				"at infinity":    {false, s.check(minus, big.NewInt(1))},
				"r out of range": {false, curve.Check{Key: s.key, S: [32]byte{31: 1}}},
				"another's":      {false, signerOf(t, big.NewInt(1)).check(big.NewInt(99), big.NewInt(98))},
			} {
				checks := make([]curve.Check, size)
				for i := range checks {
					checks[i] = s.check(big.NewInt(int64(1000+i)), big.NewInt(int64(1<<40+i)))
				}
				checks[at] = odd.check
				checks[at].Key = s.key
				mustVerify(t, checks)
				for i := range checks {
					if want := i != at || odd.valid; checks[i].Valid != want {
						t.Errorf("%s, check %d of %d, %d is odd: valid %v", name, i, size, at, !want)
					}
				}
			}
		}
	}
}

// TestVerifyConcurrently shares keys and the base table.
func TestVerifyConcurrently(t *testing.T) {
	s := signerOf(t, big.NewInt(31337))
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 8 {
				checks := []curve.Check{s.check(big.NewInt(int64(i+1)), big.NewInt(int64(j+1))), s.check(big.NewInt(5), big.NewInt(6))}
				checks[1].Odd = !checks[1].Odd
				if curve.Verify(checks); !checks[0].Valid || checks[1].Valid {
					t.Errorf("%v and %v", checks[0].Valid, checks[1].Valid)
				}
			}
		})
	}
	wg.Wait()
}

func TestNewKeyRefuses(t *testing.T) {
	good := coordinates(multiple(big.NewInt(9)))
	shift := func(b [64]byte, at int, n *big.Int) [64]byte {
		v := new(big.Int).SetBytes(b[at : at+32])
		words := bytesOf(wordsOf(v.Add(v, n)))
		copy(b[at:], words[:])
		return b
	}
	if _, err := curve.NewKey(&good); err != nil {
		t.Fatal(err)
	}
	// Points of which a coordinate has a second form below 2^256. A cube root is a
	// power, as p is 7 modulo 9.
	var smallX, smallY [64]byte
	for n := int64(1); smallX == [64]byte{} || smallY == [64]byte{}; n++ {
		b := bytesOf(wordsOf(big.NewInt(n)))
		root := new(big.Int).Sub(big.NewInt(n*n), big.NewInt(7))
		root.Mod(root, bigPrime).Exp(root, new(big.Int).Div(new(big.Int).Add(bigPrime, big.NewInt(2)), big.NewInt(9)), bigPrime)
		if p := curve.PointOf(wordsOf(root), wordsOf(big.NewInt(n))); p.OnCurve() {
			root.FillBytes(smallY[:32])
			copy(smallY[32:], b[:])
		}
		var x, y secp256k1.FieldVal
		x.SetBytes(&b)
		if secp256k1.DecompressY(&x, false, &y) {
			y.Normalize()
			copy(smallX[:], b[:])
			y.PutBytesUnchecked(smallX[32:])
		}
	}
	for _, b := range [][64]byte{smallX, smallY} {
		if _, err := curve.NewKey(&b); err != nil {
			t.Fatal(err)
		}
	}
	for name, b := range map[string][64]byte{
		"zero":      {},
		"another x": shift(good, 0, big.NewInt(1)),
		"another y": shift(good, 32, big.NewInt(1)),
		"x above p": shift(smallX, 0, bigPrime),
		"all ones":  shift([64]byte{}, 0, big.NewInt(-1)),
		"y above p": shift(smallY, 32, bigPrime),
	} {
		if k, err := curve.NewKey(&b); k != nil || !errors.Is(err, curve.ErrNotOnCurve) {
			t.Errorf("%s: %v, %v", name, k, err)
		}
	}
}

// TestKeySize: the size that a key is said to have is that of its table.
func TestKeySize(t *testing.T) {
	if n := len(signerOf(t, big.NewInt(3)).key.Table().Entries()) * 64; n != curve.KeySize {
		t.Errorf("%d bytes, want %d", n, curve.KeySize)
	}
}
