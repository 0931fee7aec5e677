package jetstream_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"treecast/e2e/cluster"
	"treecast/node/follow"
	"treecast/wire"
	"treecast/wire/beef"
)

var topics = []string{"tm_a", "tm_b", "tm_c"}

// makeObjects makes objects of the given sizes, each in a submission record of one
// topic.
func makeObjects(t testing.TB, sizes []int) []*follow.Object {
	t.Helper()
	var list []*follow.Object
	for i, size := range sizes {
		topic := topics[i%len(topics)]
		payload, err := beef.AppendRecord(nil, []string{topic}, cluster.MakeObjects(uint64(i), 1, size)[0])
		if err != nil {
			t.Fatal(err)
		}
		id := beef.TopicIDOf(topic)
		list = append(list, &follow.Object{
			Frame: beef.Frame{Header: beef.Header{ContentID: beef.ContentID(payload), TopicID: id}, Payload: payload},
			Topic: id, Owner: wire.Owner{1, 2, 3}, Index: uint64(1000 + i),
		})
	}
	return list
}

// sizesOf are n sizes, most of them small.
func sizesOf(n int) []int {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = 100 + rng.IntN(2000)
		if i%50 == 49 {
			sizes[i] = 100_000 + rng.IntN(200_000)
		}
	}
	return sizes
}

// list is a source that gives out what it has been told to, and knows what it may
// forget. A sink that is made on it anew gets what was not acknowledged, as from a
// node's stored position.
type list struct {
	objects []*follow.Object

	mu     sync.Mutex
	open   int // how many may be given out
	next   int
	acked  []bool
	order  []int // as they were acknowledged
	taken  int
	peak   int // most that were taken and not acknowledged
	change chan struct{}
}

func newList(objects []*follow.Object) *list {
	return &list{objects: objects, open: len(objects), acked: make([]bool, len(objects)), change: make(chan struct{})}
}

// Next is sink.Source's.
func (l *list) Next(ctx context.Context) (*follow.Object, error) {
	for {
		l.mu.Lock()
		for l.next < l.open && l.acked[l.next] {
			l.next++
		}
		if l.next < l.open {
			o := l.objects[l.next]
			l.next++
			l.taken++
			l.peak = max(l.peak, l.taken-len(l.order))
			l.mu.Unlock()
			return o, nil
		}
		change := l.change
		l.mu.Unlock()
		select {
		case <-change:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Ack is sink.Source's.
func (l *list) Ack(o *follow.Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := int(o.Index - 1000)
	if !l.acked[i] {
		l.order = append(l.order, i)
	}
	l.acked[i] = true
}

// Lag is sink.Source's.
func (l *list) Lag() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return uint64(l.open - len(l.order))
}

// show lets n objects out altogether.
func (l *list) show(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = min(n, len(l.objects))
	close(l.change)
	l.change = make(chan struct{})
}

// reopen is what a restart of the node does: what was not acknowledged is given
// out again, and so are the newest forget acknowledged ones, as if they had not
// reached the disk.
func (l *list) reopen(forget int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = 0
	for range min(forget, len(l.order)) {
		last := len(l.order) - 1
		l.acked[l.order[last]] = false
		l.order = l.order[:last]
	}
}

// done is how many are acknowledged.
func (l *list) done() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.order)
}

// held is how many a sink has taken and not acknowledged, now and at most. It is
// for sources that were never reopened.
func (l *list) held() (now, most int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.taken - len(l.order), l.peak
}
