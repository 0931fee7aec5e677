package order_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"treecast/node/retain/order"
	"treecast/wire"
)

// TestWhatAnEntryPointKeeps has parents that come and go and say anything but void,
// and an entry point that keeps all and fails now and then: whatever is missing comes
// in the end, in its place or late, be it that it was passed by before a restart.
func TestWhatAnEntryPointKeeps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, err := order.New(order.Config{Rand: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))})
		if err != nil {
			t.Fatal(err)
		}
		var asks []order.Action
		came, got := map[uint64]bool{}, map[uint64]bool{}
		now := start
		step := func(ev order.Event) {
			for _, a := range o.Step(now, ev, nil) {
				switch a.Kind {
				case order.ActAsk:
					asks = append(asks, a)
				case order.ActHandOver:
					got[uint64(a.Chunk)] = true
				}
			}
			if err := o.Valid(); err != nil {
				t.Fatalf("after %+v: %v", ev, err)
			}
		}
		arrive := func(i uint64) {
			if !came[i] {
				came[i] = true
				step(&order.Arrived{Owner: alice, Index: i, Chunk: order.ChunkID(i), Size: 100, From: left})
			}
		}
		next := uint64(0)
		if rapid.Bool().Draw(t, "restarted") {
			next = 10
			step(order.Restore{Owner: alice, Next: next, Open: ranges(0, 9)})
		}
		regroup := func() {
			s := order.Sources{Entry: true}
			for _, p := range rapid.Permutation([]byte{1, 2, 4, 5, 6}).Draw(t, "parents")[:rapid.IntRange(1, 3).Draw(t, "number")] {
				s.Parents = append(s.Parents, order.Source{Peer: wire.Overlay{p}})
			}
			step(s)
		}
		regroup()
		arrive(next)
		fails := rapid.IntRange(0, 2).Draw(t, "failures of the entry point")
		reply := func(a order.Action, end *wire.RecoverEnd) {
			some := rapid.Uint64Range(0, a.Range.Len()).Draw(t, "come")
			switch {
			case a.To != wire.Overlay{}:
				if end != nil {
					end.Void = nil
				}
			case fails > 0:
				fails--
				end = nil
			default:
				some, end = a.Range.Len(), &wire.RecoverEnd{}
			}
			for i := range some {
				arrive(a.Range.From + i)
			}
			step(order.Answered{Request: a.Request, End: end})
		}
		for range rapid.IntRange(1, 100).Draw(t, "events") {
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				next += rapid.SampledFrom([]uint64{1, 1, 2, 9}).Draw(t, "skip")
				arrive(next)
			case 1:
				regroup()
			case 2:
				if len(asks) > 0 {
					at := rapid.IntRange(0, len(asks)-1).Draw(t, "ask")
					a := asks[at]
					asks = slices.Delete(asks, at, at+1)
					reply(a, answer(t, a.Range))
				}
			case 3:
				if d := o.Deadline(); !d.IsZero() {
					now = d
					step(order.Tick{})
				}
			}
		}
		for n := 0; len(asks) > 0 || !o.Deadline().IsZero(); n++ {
			if n == 10000 {
				t.Fatal("no end")
			}
			if len(asks) > 0 {
				a := asks[0]
				asks = asks[1:]
				reply(a, &wire.RecoverEnd{Missing: []wire.IndexRange{a.Range}})
			} else {
				now = o.Deadline()
				step(order.Tick{})
			}
		}
		for i := range next {
			if !got[i] {
				t.Fatalf("%d was given up", i)
			}
		}
	})
}
