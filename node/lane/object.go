package lane

import (
	"sync"
	"sync/atomic"

	"treecast/wire/beef"
)

// origin is whoever brought an object: a connection, a datagram, a request.
type origin interface {
	// remote is the publisher's address, for logs.
	remote() string
	// numbered tells the SeqNum of the object's first chunk, once and before
	// settled, if the object gets that far.
	numbered(seq uint64)
	// settled tells, once, that the object was published, or with an error that it
	// is lost. Neither call may block.
	settled(err error)
}

// object is one object on its way to the publisher.
type object struct {
	key          pair
	contentID    [32]byte
	topicID      beef.TopicID
	deliverCount uint8
	payload      int // bytes
	count        int // of chunks, once the group is known
	weight       int64
	to           *outlet
	from         origin
	chunks       []*chunk
	seq          uint64 // SeqNum of the first chunk; 0 before it is reserved

	left atomic.Int32 // chunks not settled
	lost atomic.Pointer[error]
}

// chunk is the payload of one chunk, in memory of the pool.
type chunk struct {
	buf [beef.MaxChunk]byte
	n   int
}

// chunkPool recycles chunks between connections and the publisher.
type chunkPool struct{ pool sync.Pool }

func (p *chunkPool) get() *chunk {
	if c, ok := p.pool.Get().(*chunk); ok {
		return c
	}
	return new(chunk)
}

func (p *chunkPool) put(c *chunk) { p.pool.Put(c) }

// cut builds the chunks that carry f into o, without sequence numbers: the frame
// itself where it fits one, else its fragments (PROTOCOL §7 Carriage).
func (p *chunkPool) cut(f *beef.Frame, o *object) {
	o.chunks = make([]*chunk, 0, o.count)
	if o.count == 1 {
		c := p.get()
		c.n = len(beef.AppendFrame(c.buf[:0], f))
		o.chunks = append(o.chunks, c)
		return
	}
	fragments, err := beef.Split(f, beef.MaxFragmentData)
	if err != nil {
		panic(err) // ChunkCount has counted them
	}
	for frag := range fragments {
		c := p.get()
		c.n = len(beef.AppendFragment(c.buf[:0], &frag))
		o.chunks = append(o.chunks, c)
	}
}
