package soc

import (
	"sync"

	"treecast/wire/soc/curve"
)

// BatchSize is how many checks of VerifyBatch share work, at most.
const BatchSize = curve.BatchSize

// OwnerKeySize is about what an OwnerKey takes in memory, in bytes.
const OwnerKeySize = curve.KeySize

// An OwnerKey is an owner's public key with a table by which signatures are
// checked against it, in about a quarter of the time that recovering the key
// takes. It is immutable and safe for concurrent use.
type OwnerKey struct {
	owner Owner
	key   *curve.Key
}

// NewOwnerKey is the key with the given public key, of the forms that
// OwnerFromPublicKey takes. It takes as long as some nine recoveries.
func NewOwnerKey(public []byte) (*OwnerKey, error) {
	point, err := pointOfPublicKey(public)
	if err != nil {
		return nil, err
	}
	return ownerKeyOf(&point)
}

func ownerKeyOf(point *[uncompressedSize]byte) (*OwnerKey, error) {
	key, err := curve.NewKey((*[uncompressedSize - 1]byte)(point[1:]))
	if err != nil {
		return nil, err
	}
	return &OwnerKey{ownerOfPoint(point), key}, nil
}

// Owner is the key's Ethereum address.
func (k *OwnerKey) Owner() Owner { return k.owner }

// A Check is one chunk of a batch to verify.
type Check struct {
	// Chunk is what is checked.
	Chunk Chunk
	// Key is the owner's if it is known, else nil. Another owner's counts as nil.
	Key *OwnerKey

	// CAC and Err are the answer, in the terms of Verify.
	CAC Hash
	Err error

	digest Hash
	point  [uncompressedSize]byte // recovered, with a tag; all zero if it was not
}

// Recovered tells whether the chunk is valid and its owner's key had to be
// recovered. Then NewKey has it.
func (c *Check) Recovered() bool { return c.Err == nil && c.point[0] != 0 }

// NewKey makes the OwnerKey of a chunk's owner out of what the check recovered; it
// is nil where Recovered says no.
func (c *Check) NewKey() *OwnerKey {
	if !c.Recovered() {
		return nil
	}
	key, err := ownerKeyOf(&c.point)
	if err != nil { // the library recovers points of the curve alone
		return nil
	}
	return key
}

// batch is what checks together need.
type batch struct {
	exam
	signatures [BatchSize]curve.Check
	of         [BatchSize]*Check
	n          int
	one        [1]Check // Verify's
}

var batches = sync.Pool{New: func() any { return &batch{exam: exam{trees: newTrees(pairWidth())}} }}

// VerifyBatch checks chunks as Verify does, and gives exactly its answers. Chunks
// of owners whose Key is given are checked against it, some at a time, which is
// where it is faster: their checks allocate nothing.
//
// A signature that a key does not confirm goes through recovery all the same: the
// answer is then Verify's own, whatever becomes of the arithmetic, and who sends
// such chunks pays for both with being refused from then on.
func VerifyBatch(checks []Check) {
	b := batches.Get().(*batch)
	defer batches.Put(b)
	for len(checks) > 0 {
		k := min(len(checks), BatchSize)
		b.examine(checks[:k])
		for i := range checks[:k] {
			switch c := &checks[i]; {
			case c.Err != nil:
			case c.Key == nil || c.Key.owner != Owner(c.Chunk.Owner):
				c.recover()
			default:
				b.add(c)
			}
		}
		b.finish()
		checks = checks[k:]
	}
}

// recover is what follows examine where the key is not known.
func (c *Check) recover() {
	c.point, c.Err = recoverAs((*Owner)(c.Chunk.Owner), &c.digest, (*[SigSize]byte)(c.Chunk.Signature))
	if c.Err != nil {
		c.CAC = Hash{}
	}
}

// add takes in a check whose key is known.
func (b *batch) add(c *Check) {
	sig := c.Chunk.Signature
	b.signatures[b.n] = curve.Check{
		Key:    c.Key.key,
		Digest: c.digest,
		R:      [32]byte(sig[:32]),
		S:      [32]byte(sig[32:64]),
		Odd:    sig[SigSize-1] == vOdd,
	}
	b.of[b.n] = c
	b.n++
}

// finish judges what was taken in and forgets it.
func (b *batch) finish() {
	curve.Verify(b.signatures[:b.n])
	for i, c := range b.of[:b.n] {
		if !b.signatures[i].Valid {
			c.recover()
		}
		b.signatures[i].Key, b.of[i] = nil, nil
	}
	b.n = 0
}
