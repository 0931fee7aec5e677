package main

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync/atomic"

	"treecast/wire/soc"
)

// A checkBatch is chunks of one owner that are checked together, as a node's
// verifiers do.
type checkBatch struct {
	chunks []soc.Chunk
	key    *soc.OwnerKey // nil: each check recovers it
	checks []soc.Check
}

// newCheckBatch makes n full chunks, with the owner's key known or not.
func newCheckBatch(n int, known bool) (*checkBatch, error) {
	key, err := soc.NewKey()
	if err != nil {
		return nil, err
	}
	owner := key.Owner()
	b := &checkBatch{checks: make([]soc.Check, n)}
	for i := range n {
		payload, id, span := arbitrary(soc.MaxPayload), soc.Hash{byte(i + 1)}, soc.Span(soc.MaxPayload)
		binary.BigEndian.PutUint64(payload, uint64(i))
		sig, err := key.Sign(&id, span[:], payload)
		if err != nil {
			return nil, err
		}
		b.chunks = append(b.chunks, soc.Chunk{ID: id[:], Owner: owner[:], Signature: sig[:], Span: span[:], Payload: payload})
	}
	if !known {
		return b, nil
	}
	first := []soc.Check{{Chunk: b.chunks[0]}}
	soc.VerifyBatch(first)
	if b.key = first[0].NewKey(); b.key == nil {
		return nil, fmt.Errorf("bench: own chunk: no key: %w", first[0].Err)
	}
	return b, nil
}

// verify checks all chunks once.
func (b *checkBatch) verify() error {
	for i := range b.checks {
		b.checks[i] = soc.Check{Chunk: b.chunks[i], Key: b.key}
	}
	soc.VerifyBatch(b.checks)
	for i := range b.checks {
		c := &b.checks[i]
		if c.Err != nil {
			return fmt.Errorf("bench: own chunk: %w", c.Err)
		}
		if c.Recovered() == (b.key != nil) {
			return fmt.Errorf("bench: own chunk: recovered %v with a key known %v", c.Recovered(), b.key != nil)
		}
	}
	return nil
}

// roleCheck checks chunks again and again: with the owner's key known in batches as
// large as a node's are, or one at a time with the key recovered from each. All CPUs
// do, as in a relay and in the other parts, whose streams' other ends are busy too: a
// CPU is slower while the other half of its core works.
func roleCheck(c *conversation, known bool) error {
	n := 1
	if known {
		n = soc.BatchSize
	}
	var count atomic.Uint64
	failed := make(chan error, runtime.NumCPU())
	for range runtime.NumCPU() {
		batch, err := newCheckBatch(n, known)
		if err != nil {
			return err
		}
		go func() { // ends with the process, or a check that fails
			for {
				if err := batch.verify(); err != nil {
					failed <- err
					return
				}
				count.Add(uint64(n))
			}
		}()
	}
	if err := c.count(&count); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}
