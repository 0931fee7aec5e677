package lane

import (
	"testing"

	"pgregory.net/rapid"
)

func (q *queue) valid(t *rapid.T) {
	var size int64
	for i := range q.items[q.head:] {
		size += q.items[q.head+i].size()
	}
	for i := range q.items[:q.head] {
		if q.items[i].payload != nil {
			t.Fatal("a record that left is still held")
		}
	}
	if size != q.bytes || q.bytes > q.limit {
		t.Fatalf("%d bytes counted, %d there, limit %d", q.bytes, size, q.limit)
	}
}

// TestQueue compares a queue with a list.
func TestQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit = 1000
		q := newQueue(limit)
		var model [][]byte
		bytes := 0
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			default:
				p := make([]byte, rapid.IntRange(1, 300).Draw(t, "size"))
				ok := q.put(&delivery{payload: p})
				if ok != (bytes+len(p) <= limit) {
					t.Fatalf("put %d onto %d: %v", len(p), bytes, ok)
				}
				if ok {
					model, bytes = append(model, p), bytes+len(p)
				}
			case 6, 7, 8:
				batch, first := q.front(nil, rapid.IntRange(1, 5).Draw(t, "most"), rapid.Int64Range(1, 500).Draw(t, "bytes"))
				if (len(batch) == 0) != (len(model) == 0) {
					t.Fatalf("%d records in front of %d", len(batch), len(model))
				}
				for i := range batch {
					if &batch[i].payload[0] != &model[i][0] {
						t.Fatal("another record")
					}
				}
				whole := rapid.IntRange(0, len(batch)).Draw(t, "whole")
				if rapid.IntRange(0, 9).Draw(t, "overflow") == 0 {
					q.clear()
					model, bytes = nil, 0
				} else {
					for _, p := range model[:whole] {
						bytes -= len(p)
					}
					model = model[whole:]
				}
				q.advance(first + uint64(whole))
			case 9:
				if n := q.clear(); n != len(model) {
					t.Fatalf("cleared %d of %d", n, len(model))
				}
				model, bytes = nil, 0
			}
			q.valid(t)
			if n, size := q.fill(); n != len(model) || size != int64(bytes) {
				t.Fatalf("fill %d, %d, want %d, %d", n, size, len(model), bytes)
			}
		}
		q.close()
		if q.put(&delivery{payload: make([]byte, 1)}); q.drained() != (len(model) == 0) {
			t.Fatalf("drained %v with %d records", q.drained(), len(model))
		}
	})
}
