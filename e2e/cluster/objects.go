package cluster

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
)

// Objects are BEEF objects of one size, each with a number: a marker, the number
// and bytes that follow from the seed.
type Objects [][]byte

// objectHead is the marker and the number.
const objectHead = 12

// MakeObjects makes n objects of size bytes, at least 12. The same seed makes
// the same ones.
func MakeObjects(seed uint64, n, size int) Objects {
	rng := rand.New(rand.NewPCG(seed, 0))
	o := make(Objects, n)
	for i := range o {
		b := make([]byte, 0, size+8)
		b = append(b, 1, 0, 0xBE, 0xEF)
		b = binary.BigEndian.AppendUint64(b, uint64(i))
		for len(b) < size {
			b = binary.BigEndian.AppendUint64(b, rng.Uint64())
		}
		o[i] = b[:size]
	}
	return o
}

// Number finds an object by its number, and compares every byte with it. False:
// it is none of these.
func (o Objects) Number(b []byte) (int, bool) {
	if len(b) < objectHead {
		return 0, false
	}
	i := binary.BigEndian.Uint64(b[objectHead-8:])
	if i >= uint64(len(o)) || !bytes.Equal(b, o[i]) {
		return 0, false
	}
	return int(i), true
}
