package order_test

import (
	"fmt"
	"testing"
	"time"

	"treecast/node/retain/order"
	"treecast/wire"
)

// paced brings chunks first to last, one every apart, from left.
func (f *feeds) paced(first, last uint64, apart time.Duration) {
	f.t.Helper()
	for i := first; i <= last; i++ {
		f.now = f.now.Add(apart)
		f.step(&order.Arrived{Owner: alice, Index: i, Chunk: order.ChunkID(i), Size: 100, From: left})
	}
}

// recovered brings a chunk that was asked for.
func (f *feeds) recovered(index uint64) {
	f.t.Helper()
	f.step(&order.Arrived{Owner: alice, Index: index, Chunk: order.ChunkID(index), Size: 100})
}

// quieted is a core that had ten chunks, 20 ms apart, and has then asked both
// parents about the silence, once.
func quieted(t *testing.T) *feeds {
	t.Helper()
	f := newFeeds(t, order.Config{})
	f.parents(true, left, right)
	f.paced(0, 9, 20*time.Millisecond)
	f.log = nil
	f.after(249 * time.Millisecond)
	f.want()
	f.after(time.Millisecond)
	f.want("ask 1 10-73", "ask 2 10-73")
	return f
}

// Both parents are mute: one has newer chunks and keeps them, one never answers.
func TestWithheld(t *testing.T) {
	f := quieted(t)
	f.recovered(10)
	f.recovered(11)
	f.answer(0, &wire.RecoverEnd{Missing: ranges(12, 73)})
	f.answer(1, nil)
	f.want("10", "11")
	f.after(124 * time.Millisecond)
	f.want()
	f.after(time.Millisecond)
	f.want("withheld 1")
	f.after(time.Minute)
	f.want()
}

// Neither parent says a word: an entry point helps out meanwhile.
func TestMute(t *testing.T) {
	f := quieted(t)
	f.after(99 * time.Millisecond)
	f.want()
	f.answer(1, nil) // its stream ended, without an answer
	f.after(101 * time.Millisecond)
	f.want("ask 0 10-73")
	f.recovered(10)
	f.answer(2, &wire.RecoverEnd{Missing: ranges(11, 73)})
	f.want("10")
	f.after(199 * time.Millisecond)
	f.want()
	f.after(time.Millisecond)
	f.want("withheld 1", "withheld 2")
	f.answer(0, nil)
	f.after(time.Hour)
	f.want()
}

// One of them answers: then the other's silence means nothing.
func TestOneAnswers(t *testing.T) {
	f := quieted(t)
	f.answer(1, &wire.RecoverEnd{Missing: ranges(10, 73)})
	f.after(time.Minute)
	f.want()
}

// Far parents have longer to answer.
func TestFarAway(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.step(order.Sources{Entry: true, Parents: []order.Source{{Peer: left, RTT: 200 * time.Millisecond}, {Peer: right}}})
	f.paced(0, 9, 20*time.Millisecond)
	f.log = nil
	f.after(250 * time.Millisecond)
	f.want("ask 1 10-73", "ask 2 10-73")
	f.after(799 * time.Millisecond)
	f.want()
	f.after(800 * time.Millisecond)
	f.want("ask 0 10-73")
	f.after(time.Millisecond)
	f.want("withheld 1", "withheld 2")
}

// The second of two that have it sends nothing that is new.
func TestBothWithhold(t *testing.T) {
	f := quieted(t)
	f.recovered(10)
	f.answer(1, &wire.RecoverEnd{Missing: ranges(11, 73)})
	f.answer(0, &wire.RecoverEnd{Missing: ranges(11, 73)})
	f.log = nil
	f.after(time.Second)
	f.want("withheld 1", "withheld 2")
}

// Nobody has anything newer: the publisher rests. Nothing more is asked, however
// long that takes.
func TestRealSilence(t *testing.T) {
	f := quieted(t)
	f.answer(0, &wire.RecoverEnd{Missing: ranges(10, 73)})
	f.answer(1, &wire.RecoverEnd{Pending: ranges(10, 73)})
	if d := f.o.Deadline(); !d.IsZero() {
		t.Errorf("idle, and wants to be called in %v", d.Sub(f.now))
	}
	f.after(time.Hour)
	f.want()
}

// A chunk was on its way when the parent was asked.
func TestOnItsWay(t *testing.T) {
	f := quieted(t)
	f.recovered(10)
	f.answer(0, &wire.RecoverEnd{Missing: ranges(11, 73)})
	f.paced(11, 11, 50*time.Millisecond)
	f.log = nil
	f.after(200 * time.Millisecond)
	f.want()
}

// Chunks in bursts: the pauses between are asked about more and more seldom.
func TestBursts(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(true, left)
	asked := 0
	for burst := range uint64(60) {
		f.paced(20*burst, 20*burst+19, time.Millisecond)
		f.after(300 * time.Millisecond)
		for ; asked < len(f.asks); asked++ {
			f.answer(asked, &wire.RecoverEnd{Missing: ranges(f.asks[asked].Range.From, f.asks[asked].Range.To)})
		}
		f.after(700 * time.Millisecond)
	}
	if asked < 5 || asked > 12 {
		t.Errorf("asked %d times in a minute", asked)
	}
}

// Too slow a pace, too few chunks, nobody to ask, the root: no question.
func TestNoSilence(t *testing.T) {
	for name, bring := range map[string]func(*feeds){
		"slow": func(f *feeds) { f.parents(true, left); f.paced(0, 20, 300*time.Millisecond) },
		"few":  func(f *feeds) { f.parents(true, left); f.paced(0, 6, time.Millisecond) },
		"none": func(f *feeds) { f.paced(0, 20, time.Millisecond) },
		"recovered": func(f *feeds) {
			f.parents(true, left)
			for i := range uint64(20) {
				f.recovered(i)
			}
		},
	} {
		f := newFeeds(t, order.Config{})
		bring(f)
		f.after(time.Minute)
		if len(f.asks) != 0 {
			t.Errorf("%s: asked %v", name, f.asks)
		}
	}
	f := newFeeds(t, order.Config{Root: true})
	f.parents(true, left)
	f.paced(0, 20, time.Millisecond)
	f.after(time.Minute)
	if len(f.asks) != 0 {
		t.Errorf("the root asked %v", f.asks)
	}
}

// A request for a gap that is outstanding at a parent is not doubled.
func TestSilenceBesideAGap(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(false, left)
	f.paced(0, 9, 10*time.Millisecond)
	f.paced(12, 20, 10*time.Millisecond)
	f.log = nil
	f.after(time.Second)
	for _, a := range f.asks {
		if a.Range.From != 10 {
			t.Errorf("asked for %v", fmt.Sprint(a.Range))
		}
	}
}
