package retain

import (
	"context"
	"fmt"
	"io"
	"time"

	"treecast/wire"
)

// writeBytes is how much one write carries at most.
const writeBytes = 64 << 10

// Answer is how a request is answered.
type Answer struct {
	Log     *Log
	Request wire.RecoverRequest
	// Rate bounds the bytes a second; 0 = no bound (PROTOCOL §8).
	Rate int
	// Yield, if set, is called before each page and returns when other data has
	// gone first, or an error that ends the answer.
	Yield func(context.Context) error
	// Pending, if set, is called before the end for what the node recovers itself
	// of the request, sorted and disjoint.
	Pending func() []wire.IndexRange
	// Ending, if set, is called before the end is written: who reads that may ask
	// again at once.
	Ending func()
}

// Serve writes an answer to w, and returns how many chunks it had. It reads the
// request's range a page at a time and so holds one page, whatever is asked.
func Serve(ctx context.Context, w io.Writer, a *Answer) (chunks int, err error) {
	p := pages.Get().(*Page)
	defer pages.Put(p)
	p.Bytes = DefaultPageBytes
	start := time.Now()
	sent := 0
	var holes []wire.IndexRange
	from, to := a.Request.Range.From, a.Request.Range.To
	for from <= to && len(holes) < wire.MaxRanges {
		if a.Yield != nil {
			if err := a.Yield(ctx); err != nil {
				return chunks, err
			}
		}
		next, err := a.Log.Read(a.Request.Owner, from, to, p)
		if err != nil {
			return chunks, err
		}
		n, err := writeChunks(w, p)
		if err != nil {
			return chunks, err
		}
		chunks += len(p.Chunks)
		sent += n
		holes = addHoles(holes, p.Chunks, from, next)
		from = next
		if a.Rate > 0 {
			if err := sleep(ctx, time.Duration(float64(sent)/float64(a.Rate)*float64(time.Second))-time.Since(start)); err != nil {
				return chunks, err
			}
		}
	}
	var pending []wire.IndexRange
	if a.Pending != nil {
		pending = a.Pending()
	}
	end := classify(holes, a.Log.Voids(a.Request.Owner), pending)
	if a.Ending != nil {
		a.Ending()
	}
	if _, err := w.Write(wire.AppendFrame(nil, end.Append(nil))); err != nil {
		return chunks, fmt.Errorf("retain: answer: %w", err)
	}
	return chunks, nil
}

// writeChunks writes a page's messages as frames, several at once.
func writeChunks(w io.Writer, p *Page) (n int, err error) {
	buf := make([]byte, 0, writeBytes)
	for i := range p.Chunks {
		msg := p.Chunks[i].Msg
		if len(buf)+len(msg)+4 > writeBytes {
			if _, err := w.Write(buf); err != nil {
				return n, fmt.Errorf("retain: answer: %w", err)
			}
			buf = buf[:0]
		}
		buf = wire.AppendFrame(buf, msg)
		n += len(msg)
	}
	if len(buf) > 0 {
		if _, err := w.Write(buf); err != nil {
			return n, fmt.Errorf("retain: answer: %w", err)
		}
	}
	return n, nil
}

// addHoles adds what is not among chunks of from..next-1, as far as an answer
// has room for it: what it does not name counts as not looked at.
func addHoles(holes []wire.IndexRange, chunks []Chunk, from, next uint64) []wire.IndexRange {
	add := func(to uint64) { // exclusive
		if to > from {
			holes = join(holes, wire.IndexRange{From: from, To: to - 1})
		}
	}
	for _, c := range chunks {
		add(c.Index)
		from = c.Index + 1
	}
	add(next)
	return holes
}

// classify says why each hole is one. All lists are sorted and disjoint.
func classify(holes, voids, pending []wire.IndexRange) (end wire.RecoverEnd) {
	for _, h := range holes {
		for from := h.From; from <= h.To; {
			to := h.To
			list := &end.Missing
			for _, known := range []struct {
				list   *[]wire.IndexRange
				ranges []wire.IndexRange
			}{{&end.Pending, pending}, {&end.Void, voids}} {
				for _, r := range known.ranges {
					if r.Has(from) {
						list, to = known.list, min(to, r.To)
						break
					}
					if r.From > from {
						to = min(to, r.From-1)
						break
					}
				}
			}
			if len(*list) == wire.MaxRanges {
				return end
			}
			*list = append(*list, wire.IndexRange{From: from, To: to})
			from = to + 1
		}
	}
	return end
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
