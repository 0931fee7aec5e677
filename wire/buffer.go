package wire

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
)

// Pool hands out buffers for frames and takes them back. Its methods may be
// called by several goroutines at once.
type Pool struct {
	classes [4]sync.Pool
	inUse   atomic.Int64
}

// classSize holds the capacity of each class of buffers: a control frame, one
// with underlay hints, a full chunk with the 256 bytes of unknown fields that a
// relay still forwards, and the longest frame. The latter two are sizes of the
// allocator's as well.
var classSize = [...]int{256, 1 << 10, 4864, 18432}

// NewPool returns an empty pool.
func NewPool() *Pool { return new(Pool) }

// InUse returns the number of buffers handed out and not yet released.
func (p *Pool) InUse() int64 { return p.inUse.Load() }

// Frame returns a buffer with a copy of msg behind its length prefix. A message
// of another length than 1..MaxMessage is the caller's mistake and panics.
func (p *Pool) Frame(msg []byte) *Buf {
	b := p.get(len(msg))
	copy(b.Msg(), msg)
	return b
}

// Soc returns a buffer with the frame of the Broadcast that carries s, as AppendSoc
// encodes it, written where it is sent from. A chunk too long for a frame is the
// caller's mistake and panics.
func (p *Pool) Soc(s *Soc) *Buf {
	b := p.get(s.size())
	AppendSoc(b.frame[:b.prefix], s)
	return b
}

// get returns a buffer whose prefix is written and whose message is not.
func (p *Pool) get(length int) *Buf {
	checkLength(length)
	prefix := protowire.SizeVarint(uint64(length))
	class := slices.IndexFunc(classSize[:], func(n int) bool { return n >= prefix+length })
	b, _ := p.classes[class].Get().(*Buf)
	if b == nil {
		b = &Buf{pool: p, class: class, frame: make([]byte, classSize[class])}
	}
	b.frame = b.frame[:prefix+length]
	b.prefix = prefix
	protowire.AppendVarint(b.frame[:0], uint64(length))
	b.refs.Store(1)
	p.inUse.Add(1)
	return b
}

// Buf is a frame in a buffer that its holders share. It comes with one
// reference, which belongs to the one who got it; each further holder has its
// own. Whoever drops a reference must not touch the buffer afterwards. The bytes
// are read-only for everybody.
type Buf struct {
	pool   *Pool
	frame  []byte
	prefix int
	class  int
	refs   atomic.Int32
}

// Frame returns the length prefix and the message, as they travel.
func (b *Buf) Frame() []byte { return slices.Clip(b.frame) }

// Msg returns the message.
func (b *Buf) Msg() []byte { return slices.Clip(b.frame[b.prefix:]) }

// Retain adds a reference and returns b. Only a holder may call it.
func (b *Buf) Retain() *Buf {
	if n := b.refs.Add(1); n <= 1 {
		panic(fmt.Sprintf("wire: buffer retained with %d references", n-1))
	}
	return b
}

// Release drops a reference; with the last one the buffer goes back to its
// pool. Releasing more often than retaining panics, as long as nobody else got
// the buffer meanwhile.
func (b *Buf) Release() {
	switch n := b.refs.Add(-1); {
	case n == 0:
		b.pool.inUse.Add(-1)
		b.pool.classes[b.class].Put(b)
	case n < 0:
		panic(fmt.Sprintf("wire: buffer released with %d references", n+1))
	}
}
