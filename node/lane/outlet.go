package lane

import (
	"encoding/binary"
	"sync"
	"time"

	"treecast/wire/beef"
)

// seqNumAt is the offset of SeqNum in an object frame and in a fragment (PROTOCOL
// §7 Layouts). A chunk is built by whoever took its object, all of it but this
// number, which is known only when the outlet reserves the index.
const seqNumAt = 48

// outlet is the way into one group's cohort. Objects leave in the order in which
// they were put, one index after the other, from a goroutine that runs while there
// are any; so a group whose cohort holds back delays no other. What waits is
// bounded by IngressLimits.Backlog, of which every object holds a share.
type outlet struct {
	in        *Ingress
	publisher Publisher
	hashKey   uint64

	mu      sync.Mutex
	waiting []*object
	running bool
}

func (in *Ingress) newOutlet(group uint32, sender [16]byte) *outlet {
	return &outlet{in: in, publisher: in.cfg.Publishers[group], hashKey: beef.HashKey(sender, group)}
}

// put appends an object. The caller is counted in Ingress.wg, so that the
// goroutine it may start is waited for.
func (t *outlet) put(o *object) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = append(t.waiting, o)
	if !t.running {
		t.running = true
		t.in.wg.Go(t.run) // ends when nothing waits; Ingress.ctx and the publisher end it
	}
}

// run publishes until nothing waits or the ingress is closed.
func (t *outlet) run() {
	for {
		o := t.next()
		if o == nil {
			return
		}
		t.publish(o)
	}
}

// next takes the oldest object; nil ends the goroutine.
func (t *outlet) next() *object {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 || t.in.ctx.Err() != nil {
		t.running = false
		t.waiting = nil
		return nil
	}
	o := t.waiting[0]
	t.waiting[0] = nil
	t.waiting = t.waiting[1:]
	return o
}

// publish hands an object to the publisher; it does not wait for receipts.
func (t *outlet) publish(o *object) {
	in := t.in
	first, err := t.publisher.Reserve(len(o.chunks))
	if err != nil {
		for _, c := range o.chunks {
			in.chunks.put(c)
		}
		o.left.Store(1)
		in.fail(o, ReasonReserve, err)
		in.settle(o)
		return
	}
	o.seq = first + 1
	in.claims.number(time.Now(), o.key, o.seq)
	o.from.numbered(o.seq)
	o.left.Store(int32(len(o.chunks)))
	for i, c := range o.chunks {
		// One that failed does not keep back the rest: an index that is never
		// published is a gap to everybody.
		index := first + uint64(i)
		binary.BigEndian.PutUint64(c.buf[seqNumAt:], index+1)
		in.counted.chunks.Add(1)
		t.publisher.PublishAtAsync(index, c.buf[:c.n], func(err error) {
			in.chunks.put(c)
			if err != nil {
				in.fail(o, ReasonPublish, err)
			}
			in.settle(o)
		})
	}
}
