package lane_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"testing"

	"treecast/node/lane"
	"treecast/wire/beef"
)

// readers are dialled consumers that read all they get until the egress closes.
func readers(b *testing.B, n int) (list []lane.DialConfig) {
	for i := range n {
		s := newSink(b)
		list = append(list, lane.DialConfig{Name: fmt.Sprint(i), Addr: s.addr()})
		go func() { // ends with the egress
			nc, err := s.l.Accept()
			if err != nil {
				return
			}
			defer nc.Close()
			io.Copy(io.Discard, nc)
		}()
	}
	return list
}

// BenchmarkHandle is the cost of one object on the cohort's hand-over: to nobody,
// and to consumers that read it all.
func BenchmarkHandle(b *testing.B) {
	for _, consumers := range []int{0, 1, 8} {
		b.Run(fmt.Sprintf("consumers=%d", consumers), func(b *testing.B) {
			e, err := lane.NewEgress(lane.EgressConfig{
				Limits: lane.EgressLimits{Delivered: -1, Queue: 1 << 40}, Dial: readers(b, consumers),
			})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			rec, err := beef.AppendRecord(nil, []string{"a"}, object("bench", 400))
			if err != nil {
				b.Fatal(err)
			}
			sub, err := beef.ParseSubmission(rec, 0)
			if err != nil {
				b.Fatal(err)
			}
			m := lane.Message{Payload: beef.AppendFrame(nil, &sub.Frame)}
			b.SetBytes(int64(len(rec)))
			b.ReportAllocs()
			for b.Loop() {
				e.Handle(m)
			}
		})
	}
}

// BenchmarkHandleFragments is an object in fragments, from the first that is handed
// over to the last byte that the consumer has read. Each object is for a topic of its
// own, for else it would be the same one.
func BenchmarkHandleFragments(b *testing.B) {
	for _, size := range []int{100 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s := newSink(b)
			e, err := lane.NewEgress(lane.EgressConfig{
				Limits: lane.EgressLimits{Delivered: -1}, Dial: []lane.DialConfig{{Name: "a", Addr: s.addr()}},
			})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			nc, err := s.l.Accept()
			if err != nil {
				b.Fatal(err)
			}
			defer nc.Close()
			rec, err := beef.AppendRecord(nil, []string{"a"}, object("bench", size))
			if err != nil {
				b.Fatal(err)
			}
			sub, err := beef.ParseSubmission(rec, 0)
			if err != nil {
				b.Fatal(err)
			}
			chunks, err := beef.Chunks(&sub.Frame, nil)
			if err != nil {
				b.Fatal(err)
			}
			var fragments [][]byte
			for c := range chunks {
				fragments = append(fragments, bytes.Clone(c))
			}
			objects, read := uint64(0), make([]byte, beef.DeliveryHeaderSize+len(rec))
			b.SetBytes(int64(len(rec)))
			b.ReportAllocs()
			for b.Loop() {
				objects++
				for _, f := range fragments {
					binary.BigEndian.PutUint64(f[topicIDAt:], objects)
					e.Handle(lane.Message{Payload: f})
				}
				if _, err := io.ReadFull(nc, read); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// topicIDAt is the offset of the TopicID in an object frame and in a fragment.
const topicIDAt = 56
