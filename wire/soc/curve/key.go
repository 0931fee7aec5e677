package curve

import (
	"errors"
	"fmt"
	"sync"
)

// Widths of the windows: of the base point's table of 1.5 MiB, which there is
// once, and of a key's. One bit more in either makes the tables twice as large and
// a check 2 to 4 % faster, less where many keys take turns in the cache.
const (
	baseWidth = 11
	keyWidth  = 7
)

// KeySize is the size of a Key's table in bytes.
const KeySize = (scalarBits/keyWidth + 1) << (keyWidth - 1) * 64

// baseTable is the table of the base point, made when it is first needed.
var baseTable = sync.OnceValue(func() *table { return newTable(generator, baseWidth) })

// A Key is a public key with the table by which signatures are checked against
// it. It is immutable and safe for concurrent use.
type Key struct{ table *table }

// ErrNotOnCurve says that two coordinates are no point of the curve.
var ErrNotOnCurve = errors.New("curve: no point of the curve")

// NewKey makes the table of the public key with the coordinates x || y, each 32
// bytes, big endian. It takes about as long as nine recoveries of a key. Of
// coordinates that are no point, or not below the field's prime, the error wraps
// ErrNotOnCurve.
func NewKey(coordinates *[64]byte) (*Key, error) {
	var p point
	p.x.setBytes((*[32]byte)(coordinates[:32]))
	p.y.setBytes((*[32]byte)(coordinates[32:]))
	if p.x != p.x.reduce() || p.y != p.y.reduce() || !p.onCurve() {
		return nil, fmt.Errorf("%w: %x", ErrNotOnCurve, *coordinates)
	}
	return &Key{newTable(p, keyWidth)}, nil
}
