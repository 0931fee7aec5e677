package order_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"treecast/node/retain/order"
	"treecast/wire"
)

// model is what a world knows of one feed: which indices there are, which of them
// came, and what the application got.
type model struct {
	arrived  map[uint64]bool
	got      map[uint64]bool
	reported map[uint64]bool
	last     uint64 // highest in order, plus one
	asks     []order.Action
}

// TestRandomEvents brings chunks in any order, some never, and answers requests
// in every way. Each chunk comes out once; those not late come in order; and
// what is below the last of them came out or was reported.
func TestRandomEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		core := func() *order.Feeds {
			o, err := order.New(order.Config{
				Rand: rand.New(rand.NewPCG(seed, 1)), HoldBytes: 2000, Gaps: 8, Width: 64,
				Root: seed%5 == 0,
			})
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		o, twin := core(), core()
		m := model{arrived: map[uint64]bool{}, got: map[uint64]bool{}, reported: map[uint64]bool{}}
		now := start
		step := func(ev order.Event) {
			out := o.Step(now, ev, nil)
			if again := twin.Step(now, ev, nil); !slices.Equal(out, again) {
				t.Fatalf("twice the same, and once %v, once %v", out, again)
			}
			if err := o.Valid(); err != nil {
				t.Fatalf("after %+v: %v", ev, err)
			}
			if err := m.take(out); err != nil {
				t.Fatalf("after %+v: %v", ev, err)
			}
		}
		peers := []wire.Overlay{left, right, root}
		top := uint64(0)
		before := map[uint64]bool{} // handed over before a restart
		if rapid.Bool().Draw(t, "restarted") {
			r := order.Restore{Owner: alice, Next: rapid.Uint64Range(1, 100).Draw(t, "next")}
			for i := range r.Next {
				before[i] = true
			}
			for from := uint64(0); from < r.Next && len(r.Open) < 6; from += 2 {
				from += rapid.Uint64Range(0, 40).Draw(t, "from")
				to := from + rapid.Uint64Range(0, 3).Draw(t, "length")
				if to >= r.Next {
					break
				}
				r.Open = append(r.Open, wire.IndexRange{From: from, To: to})
				for ; from <= to; from++ {
					if from+64 >= r.Next && seed%5 != 0 { // not too deep, and somebody to ask
						m.reported[from] = true
						delete(before, from)
					}
				}
			}
			top = r.Next
			step(r)
		}
		arrive := func(i uint64) {
			if m.arrived[i] || before[i] {
				return // the tree delivers each once
			}
			m.arrived[i] = true
			top = max(top, i+1)
			step(&order.Arrived{Owner: alice, Index: i, Chunk: order.ChunkID(i), Size: 100, From: peers[i%3]})
		}
		for range rapid.IntRange(1, 80).Draw(t, "events") {
			switch rapid.IntRange(0, 8).Draw(t, "event") {
			case 0, 1:
				arrive(top + rapid.SampledFrom([]uint64{0, 0, 0, 1, 2, 5, 90}).Draw(t, "skip"))
			case 2:
				arrive(rapid.Uint64Range(0, top+1).Draw(t, "old"))
			case 3:
				now = now.Add(rapid.SampledFrom([]time.Duration{time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, 3 * time.Second}).Draw(t, "time"))
				step(order.Tick{})
			case 4:
				s := order.Sources{Entry: rapid.Bool().Draw(t, "entry")}
				for _, p := range peers[:rapid.IntRange(0, 3).Draw(t, "parents")] {
					s.Parents = append(s.Parents, order.Source{Peer: p, Broker: p == root})
				}
				step(s)
			case 5:
				head := top + rapid.Uint64Range(0, 9).Draw(t, "head")
				step(order.Heads{From: left, Heads: []wire.Head{{Owner: alice, Index: head}}})
			case 6:
				if len(m.asks) == 0 {
					continue
				}
				a := m.asks[0]
				m.asks = m.asks[1:]
				end := answer(t, a.Range)
				if end != nil && rapid.Bool().Draw(t, "some come") {
					for i := a.Range.From; i <= a.Range.To; i += 1 + rapid.Uint64Range(0, 2).Draw(t, "next") {
						arrive(i)
					}
				}
				step(order.Answered{Request: a.Request, End: end, Refused: end == nil && rapid.Bool().Draw(t, "refused")})
			case 8:
				index := rapid.Uint64Range(0, top+1).Draw(t, "copy")
				step(order.Sent{From: rapid.SampledFrom(peers).Draw(t, "sender"), Owner: alice, Index: index})
			case 7:
				from := rapid.Uint64Range(0, top).Draw(t, "void")
				step(order.Void{Owner: alice, Range: wire.IndexRange{From: from, To: from + rapid.Uint64Range(0, 9).Draw(t, "more")}})
			}
			if d := o.Deadline(); !d.Equal(twin.Deadline()) {
				t.Fatal("deadlines differ")
			}
		}
		// In the end all is settled, with nobody left to ask.
		step(order.Sources{})
		for range 3 {
			now = now.Add(time.Minute)
			step(order.Tick{})
		}
		for i := range m.arrived {
			if !m.got[i] {
				t.Fatalf("%d never came out", i)
			}
		}
	})
}

// answer draws the end of a request, nil for a failure.
func answer(t *rapid.T, r wire.IndexRange) *wire.RecoverEnd {
	end := &wire.RecoverEnd{}
	half := wire.IndexRange{From: r.From, To: r.From + (r.To-r.From)/2}
	switch rapid.IntRange(0, 4).Draw(t, "answer") {
	case 0:
		return nil
	case 1:
		end.Missing = []wire.IndexRange{half}
	case 2:
		end.Pending = []wire.IndexRange{half}
	case 3:
		end.Void = []wire.IndexRange{half}
	}
	return end
}

// take checks what the core does.
func (m *model) take(out []order.Action) error {
	for _, a := range out {
		i := uint64(a.Chunk)
		switch a.Kind {
		case order.ActDrop:
			return fmt.Errorf("dropped %d", i)
		case order.ActGap:
			if a.Range.From > a.Range.To {
				return fmt.Errorf("gap %v", a.Range)
			}
			for j := a.Range.From; j <= a.Range.To; j++ {
				if m.reported[j] || m.got[j] {
					return fmt.Errorf("%d reported again or after it came", j)
				}
				m.reported[j] = true
			}
		case order.ActAsk:
			if a.Range.Len() > wire.MaxRecover {
				return fmt.Errorf("asked for %v", a.Range)
			}
			m.asks = append(m.asks, a)
		case order.ActHandOver:
			if m.got[i] || !m.arrived[i] {
				return fmt.Errorf("%d came out again, or from nowhere", i)
			}
			m.got[i] = true
			if a.Late {
				continue
			}
			if i < m.last {
				return fmt.Errorf("%d after %d, and not late", i, m.last-1)
			}
			for j := m.last; j < i && m.last > 0; j++ {
				if !m.got[j] && !m.reported[j] {
					return fmt.Errorf("%d handed over, and nothing said of %d", i, j)
				}
			}
			m.last = i + 1
		}
	}
	return nil
}
