package retain

// DefaultPageBytes is how many bytes of messages a Page holds unless told
// otherwise.
const DefaultPageBytes = 256 << 10

// A Chunk is one kept message.
type Chunk struct {
	Index uint64
	Msg   []byte // a Broadcast message without its length prefix; the page's
}

// A Page is what one read brings: chunks of one feed in order, copied. It may be
// used again for the next read. The zero Page is ready.
type Page struct {
	// Bytes bounds the messages together; 0 = DefaultPageBytes. The first one is
	// taken whatever its length.
	Bytes int
	// Chunks are the chunks read; they are valid until the next read.
	Chunks []Chunk
	buf    []byte
}

// reset empties the page for a read.
func (p *Page) reset() {
	p.Chunks, p.buf = p.Chunks[:0], p.buf[:0]
}

// add copies a message; false if there is no room for it.
func (p *Page) add(index uint64, msg []byte) bool {
	limit := p.Bytes
	if limit <= 0 {
		limit = DefaultPageBytes
	}
	if len(p.Chunks) > 0 && len(p.buf)+len(msg) > limit {
		return false
	}
	at := len(p.buf)
	p.buf = append(p.buf, msg...) // earlier chunks keep the array they point into
	p.Chunks = append(p.Chunks, Chunk{Index: index, Msg: p.buf[at:len(p.buf):len(p.buf)]})
	return true
}
