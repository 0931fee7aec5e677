package lane

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"treecast/wire/beef"
)

// seqNumAt is the offset of SeqNum in an object frame and in a fragment (PROTOCOL
// §7 Layouts). A chunk is built by its connection's goroutine, all of it but this
// number, which is known only when the publishing goroutine reserves the index.
const seqNumAt = 48

// object is one object on its way to the publisher.
type object struct {
	key          pair
	deliverCount uint8
	payload      int // bytes
	weight       int64
	chunks       []*chunk
	from         *conn

	left   atomic.Int32 // chunks not settled
	failed atomic.Bool
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

// cut builds the chunks that carry f, without sequence numbers: the frame itself
// where it fits one, else its fragments (PROTOCOL §7 Carriage).
func (p *chunkPool) cut(f *beef.Frame, count int) ([]*chunk, error) {
	chunks := make([]*chunk, 0, count)
	if count == 1 {
		c := p.get()
		c.n = len(beef.AppendFrame(c.buf[:0], f))
		return append(chunks, c), nil
	}
	fragments, err := beef.Split(f, beef.MaxFragmentData)
	if err != nil {
		return nil, err
	}
	for frag := range fragments {
		c := p.get()
		c.n = len(beef.AppendFragment(c.buf[:0], &frag))
		chunks = append(chunks, c)
	}
	return chunks, nil
}

// publish hands objects to the publisher in the order in which they come, one
// index after the other. It does not wait for receipts.
func (in *Ingress) publish() {
	for {
		select {
		case o := <-in.queue:
			in.publishObject(o)
		case <-in.ctx.Done():
			return
		}
	}
}

func (in *Ingress) publishObject(o *object) {
	first, err := in.cfg.Publisher.Reserve(len(o.chunks))
	if err != nil {
		for _, c := range o.chunks {
			in.chunks.put(c)
		}
		in.fail(o, ReasonReserve, err)
		o.left.Store(1)
		in.settle(o)
		return
	}
	o.left.Store(int32(len(o.chunks)))
	for i, c := range o.chunks {
		// One that failed does not keep back the rest: an index that is never
		// published is a gap to everybody.
		index := first + uint64(i)
		binary.BigEndian.PutUint64(c.buf[seqNumAt:], index+1)
		in.counted.chunks.Add(1)
		in.cfg.Publisher.PublishAtAsync(index, c.buf[:c.n], func(err error) {
			in.chunks.put(c)
			if err != nil {
				in.fail(o, ReasonPublish, err)
			}
			in.settle(o)
		})
	}
}

// fail counts and logs the loss of an object once, whichever chunk it was.
func (in *Ingress) fail(o *object, reason string, err error) {
	if o.failed.Swap(true) {
		return
	}
	in.counted.failed.add(reason)
	in.cfg.Log.Warn("object not published", "reason", reason, "remote", o.from.remote,
		"bytes", o.payload, "err", err)
}

// settle ends one chunk, and with the last one the object.
func (in *Ingress) settle(o *object) {
	if o.left.Add(-1) > 0 {
		return
	}
	published := !o.failed.Load()
	in.claims.settle(time.Now(), o.key, o.deliverCount, published)
	in.backlog.Release(o.weight)
	if published {
		in.counted.published.Add(1)
	}
	o.from.settled()
}
