package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"treecast/wire/beef"
)

// seqNumAt is where object frames and fragments have their SeqNum (PROTOCOL §7
// Layouts).
const seqNumAt = 48

// objects are the books of a run in which messages are fragments of objects: each
// subscriber puts them together, as an edge does, and is done with an object as soon as
// it is whole.
type objects struct {
	subs  []objectSink
	whole atomic.Uint64 // objects put together, over all subscribers
	wrong atomic.Uint64 // fragments that were refused
}

type objectSink struct{ r *beef.Reassembler }

func newObjects(subs int) (*objects, error) {
	o := &objects{}
	for range subs {
		r, err := beef.NewReassembler(beef.ReassemblerConfig{})
		if err != nil {
			return nil, err
		}
		o.subs = append(o.subs, objectSink{r})
	}
	return o, nil
}

func (o *objects) take(sub int, payload []byte) {
	f, err := beef.ParseFragment(payload)
	if err != nil {
		o.wrong.Add(1)
		return
	}
	r := o.subs[sub].r
	switch frame, outcome := r.Add(time.Now(), &f); outcome {
	case beef.OutcomeComplete:
		o.whole.Add(1)
		r.Recycle(frame.Payload)
	case beef.OutcomeHeld, beef.OutcomeDuplicate, beef.OutcomeLate:
	default:
		o.wrong.Add(1)
	}
}

// A source makes the payloads of a run, one after the other, numbered.
type source struct {
	next  func(seq int64) []byte
	seqAt int   // where a payload has its number
	first int64 // the number of message 0
}

// plainSource makes payloads of one size that begin with their number.
func plainSource(size int) *source {
	payload := arbitrary(size)
	return &source{
		next: func(seq int64) []byte {
			binary.BigEndian.PutUint64(payload, uint64(seq))
			return payload
		},
	}
}

// objectSource makes the fragments of objects of one size; each object is another
// one, its record is made and hashed here as a door does.
func objectSource(size int) (*source, int64, error) {
	object := arbitrary(size)
	copy(object, []byte{0x01, 0x00, 0xbe, 0xef})
	record, err := beef.AppendRecord(nil, []string{"tm_bench"}, object)
	if err != nil {
		return nil, 0, err
	}
	count, err := beef.ChunkCount(len(record))
	if err != nil {
		return nil, 0, err
	}
	buf := make([]byte, 0, beef.MaxChunk)
	var parts []beef.Fragment
	var made uint64
	s := &source{seqAt: seqNumAt, first: 1}
	s.next = func(seq int64) []byte {
		part := seq % int64(count)
		if part == 0 {
			binary.BigEndian.PutUint64(record[len(record)-8:], made)
			made++
			sub, err := beef.ParseSubmission(record, 0)
			if err != nil {
				panic(fmt.Sprintf("bench: own record: %v", err))
			}
			sub.Frame.SeqNum = uint64(seq) + 1
			cut, err := beef.Split(&sub.Frame, 0)
			if err != nil {
				panic(fmt.Sprintf("bench: own frame: %v", err))
			}
			parts = slices.AppendSeq(parts[:0], cut)
		}
		return beef.AppendFragment(buf[:0], &parts[part])
	}
	return s, int64(count), nil
}

// arbitrary is n bytes that do not compress, the same each time.
func arbitrary(n int) []byte {
	rng := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	rng.Read(b)
	return slices.Clip(b)
}
