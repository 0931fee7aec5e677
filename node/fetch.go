package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"treecast/node/retain"
	"treecast/node/retain/order"
	"treecast/wire"
)

// RecoverProtocolID is the stream protocol by which chunks are asked for again
// (PROTOCOL §8).
const RecoverProtocolID protocol.ID = "/treecast/recover/1.0.0"

// answering is a request under way: whose answer the batches of its goroutine
// are. The last batch comes after the result was set.
type answering struct {
	peer    wire.Overlay
	request order.RequestID
	end     *wire.RecoverEnd // nil: it failed
	refused bool             // as the peer reset the stream
}

// fetch asks a peer and hands the answer to the loop, its end last.
func (c *Cohort) fetch(ctx context.Context, from *answering, req *wire.RecoverRequest) {
	f := fetching{c: c, from: from}
	end, err := f.run(ctx, req)
	from.end = end
	if err != nil {
		var reset *network.StreamError
		from.refused = errors.As(err, &reset) && reset.Remote
		c.n.counts.add(countRecoverFailed)
		c.log.Debug("chunks not recovered", "peer", from.peer.String(), "from", req.Range.From, "to", req.Range.To, "err", err)
	}
	f.open().ended = true
	f.flush()
}

// fetching is the goroutine of one request: the batch being filled.
type fetching struct {
	c    *Cohort
	from *answering
	b    *batch
}

func (f *fetching) run(ctx context.Context, req *wire.RecoverRequest) (*wire.RecoverEnd, error) {
	n := f.c.n
	id, err := n.connect(ctx, &dialRequest{peer: f.from.peer})
	if err != nil {
		return nil, err
	}
	raw, err := n.open(ctx, id, RecoverProtocolID)
	if err != nil {
		if ctx.Err() != nil {
			n.doubt(id)
		}
		return nil, fmt.Errorf("node: recover: %w", err)
	}
	if !n.streams.add(raw) {
		raw.Reset()
		return nil, ErrClosed
	}
	defer n.streams.remove(raw)
	if deadline, ok := ctx.Deadline(); ok {
		raw.SetDeadline(deadline)
	}
	unhook := context.AfterFunc(ctx, func() { raw.Reset() }) // a cancelled request waits for nobody
	defer unhook()
	end, err := retain.Fetch(raw, wire.NewReader(raw, n.pool), req, f.take)
	if err != nil {
		raw.ResetWithError(network.StreamNoError)
		if ctx.Err() != nil {
			n.doubt(id)
		}
		return nil, err
	}
	raw.Close()
	n.links.seen(id, time.Now())
	return end, nil
}

// take adds a chunk to the batch.
func (f *fetching) take(buf *wire.Buf, s *wire.Soc) error {
	b := f.open()
	x := &b.frames[b.n]
	x.buf = buf
	x.msg = wire.Broadcast{Kind: wire.KindSoc, Soc: *s}
	b.n++
	b.bytes += len(buf.Frame())
	if b.n == batchFrames || b.bytes >= batchBytes {
		return f.flush()
	}
	return nil
}

func (f *fetching) open() *batch {
	if f.b == nil {
		f.b = batches.Get().(*batch)
		f.b.answer = f.from
	}
	return f.b
}

// flush hands the batch to the loop, which takes no more than it can check.
func (f *fetching) flush() error {
	b := f.b
	f.b = nil
	select {
	case f.c.frames <- b:
		return nil
	case <-f.c.done:
		b.free()
		return ErrClosed
	}
}
