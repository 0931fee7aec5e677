package lane_test

import (
	"fmt"
	"io"
	"testing"

	"treecast/node/lane"
	"treecast/wire/beef"
)

// BenchmarkHandle is the cost of one object on the cohort's hand-over: to nobody,
// and to consumers that read it all.
func BenchmarkHandle(b *testing.B) {
	for _, consumers := range []int{0, 1, 8} {
		b.Run(fmt.Sprintf("consumers=%d", consumers), func(b *testing.B) {
			cfg := lane.EgressConfig{Limits: lane.EgressLimits{Delivered: -1, Queue: 1 << 40}}
			for i := range consumers {
				s := newSink(b)
				cfg.Dial = append(cfg.Dial, lane.DialConfig{Name: fmt.Sprint(i), Addr: s.addr()})
				go func() { // ends with the egress
					nc, err := s.l.Accept()
					if err != nil {
						return
					}
					defer nc.Close()
					io.Copy(io.Discard, nc)
				}()
			}
			e, err := lane.NewEgress(cfg)
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
