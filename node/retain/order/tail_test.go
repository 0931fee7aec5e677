package order_test

import (
	"fmt"
	"math"
	"math/rand/v2"
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
	f.after(39 * time.Millisecond)
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
	f.answer(0, missing(12, 73))
	f.answer(1, nil)
	f.want("10", "11")
	f.after(124 * time.Millisecond)
	f.want()
	f.after(time.Millisecond)
	f.want("withheld 1")
	f.after(time.Minute)
	f.want()
}

// Neither parent says a word: they are named.
func TestMute(t *testing.T) {
	f := quieted(t)
	f.entry(false)
	f.answer(1, nil) // its stream ended, without an answer
	f.after(399 * time.Millisecond)
	f.want()
	f.after(time.Millisecond)
	f.want("give up 1", "withheld 1", "withheld 2")
	f.answer(0, nil)
	f.after(time.Hour)
	f.want()
}

// One of them answers: then the other's silence means nothing.
func TestOneAnswers(t *testing.T) {
	f := quieted(t)
	f.answer(1, missing(10, 73))
	f.after(time.Minute)
	f.want()
}

// One of them refuses to answer, which is an answer of a kind: nobody is mute.
func TestOneRefuses(t *testing.T) {
	f := quieted(t)
	f.entry(false)
	f.step(order.Answered{Request: f.asks[1].Request, Refused: true})
	f.after(time.Minute)
	f.want()
}

// Far parents have longer to answer.
func TestFarAway(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.step(order.Sources{Parents: []order.Source{{Peer: left, RTT: 200 * time.Millisecond}, {Peer: right}}})
	f.paced(0, 9, 20*time.Millisecond)
	f.log = nil
	f.after(40 * time.Millisecond)
	f.want("ask 1 10-73", "ask 2 10-73")
	f.after(1599 * time.Millisecond)
	f.want()
	f.after(time.Millisecond)
	f.want("give up 1", "withheld 1", "give up 2", "withheld 2")
}

// The second of two that have it sends nothing that is new.
func TestBothWithhold(t *testing.T) {
	f := quieted(t)
	f.entry(false)
	f.recovered(10)
	f.answer(1, missing(11, 73))
	f.answer(0, missing(11, 73))
	f.log = nil
	f.after(time.Second)
	f.want("withheld 1", "withheld 2")
}

// Nobody has anything newer: the publisher rests. Nothing more is asked, however
// long that takes.
func TestRealSilence(t *testing.T) {
	f := quieted(t)
	f.answer(0, missing(10, 73))
	f.answer(1, &wire.RecoverEnd{Pending: ranges(10, 73)})
	if d := f.o.Deadline(); !d.IsZero() {
		t.Errorf("idle, and wants to be called in %v", d.Sub(f.now))
	}
	f.after(time.Hour)
	f.want()
}

// A parent sent what it has, only later than it answered: what came was here already.
func TestSentLater(t *testing.T) {
	for name, c := range map[string]struct {
		ev   order.Sent
		mute bool
	}{
		"newer":   {order.Sent{From: left, Owner: alice, Index: 10}, false},
		"old":     {order.Sent{From: left, Owner: alice, Index: 9}, true},
		"other's": {order.Sent{From: left, Owner: wire.Owner{9}, Index: 10}, true},
		"none":    {order.Sent{From: root, Owner: alice, Index: 10}, true},
	} {
		f := quieted(t)
		f.entry(false)
		f.recovered(10)
		f.answer(0, missing(11, 73))
		f.answer(1, missing(10, 73))
		f.want("10")
		if !f.o.Watching() {
			t.Errorf("%s: does not want to know", name)
		}
		f.step(c.ev)
		if f.o.Watching() != c.mute {
			t.Errorf("%s: still wants to know: %v", name, !c.mute)
		}
		f.after(200 * time.Millisecond)
		if c.mute {
			f.want("withheld 1")
		} else {
			f.want("ask 1 11-74", "ask 2 11-74") // another silence
		}
	}
}

// A chunk was on its way when the parent was asked.
func TestOnItsWay(t *testing.T) {
	f := quieted(t)
	f.recovered(10)
	f.answer(0, &wire.RecoverEnd{Missing: ranges(11, 73)})
	f.paced(11, 11, 40*time.Millisecond)
	f.log = nil
	f.after(39 * time.Millisecond)
	f.want()
	f.after(time.Millisecond) // another silence; the right one has yet to answer about this one
	f.want("ask 1 12-75")
}

// Pauses that come again are expected: they are asked about once.
func TestBursts(t *testing.T) {
	if asked := bursts(t, 60, 20, time.Second); asked > 2 {
		t.Errorf("asked %d times in a minute", asked)
	}
}

// Pauses that are forgotten before they come again are asked about each time.
func TestRarePauses(t *testing.T) {
	if asked := bursts(t, 60, 2000, 4*time.Second); asked < 50 || asked > 60 {
		t.Errorf("asked %d times about 60 pauses of 2 s", asked)
	}
	if asked := bursts(t, 60, 200, 10*time.Second); asked < 50 || asked > 60 {
		t.Errorf("asked %d times about 60 pauses of 10 s", asked)
	}
}

// Whatever the pauses are like, half of the widest is not forgotten in less than some
// seconds, and it takes six doublings to the longest that is remembered: that bounds
// the questions.
func TestQuestionsAreBounded(t *testing.T) {
	const span = 10 * time.Minute
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		f := newFeeds(t, order.Config{})
		f.parents(true, left)
		asked, index, begin := 0, uint64(0), f.now
		for f.now.Sub(begin) < span {
			chunks := uint64(1 + rng.IntN(200))
			f.paced(index, index+chunks-1, time.Duration(1+rng.IntN(5))*time.Millisecond)
			index += chunks
			end := f.now.Add(time.Duration(float64(30*time.Millisecond) * math.Exp(4*rng.Float64())))
			for f.now.Before(end) {
				f.after(5 * time.Millisecond)
				for ; asked < len(f.asks); asked++ {
					f.answer(asked, &wire.RecoverEnd{Missing: ranges(f.asks[asked].Range.From, f.asks[asked].Range.To)})
				}
			}
		}
		if most := 7 + int(span/(2500*time.Millisecond)); asked > most {
			t.Errorf("seed %d: asked %d times in ten minutes, at most %d", seed, asked, most)
		}
	}
}

// bursts has n bursts of so many chunks, and returns how often a pause between them
// was asked about. Nobody ever has anything newer.
func bursts(t *testing.T, n, chunks uint64, every time.Duration) (asked int) {
	t.Helper()
	f := newFeeds(t, order.Config{})
	f.parents(true, left)
	for burst := range n {
		f.paced(chunks*burst, chunks*(burst+1)-1, time.Millisecond)
		end := f.now.Add(every - time.Duration(chunks)*time.Millisecond)
		for f.now.Before(end) {
			f.after(time.Millisecond)
			for ; asked < len(f.asks); asked++ {
				if f.asks[asked].To != left {
					t.Fatal("an entry point was asked")
				}
				f.answer(asked, &wire.RecoverEnd{Missing: ranges(f.asks[asked].Range.From, f.asks[asked].Range.To)})
			}
		}
	}
	return asked
}

// The more the distances between chunks vary, the longer a silence must be; what
// was asked about, and was the parents' fault, does not count.
func TestSpread(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(false, left)
	f.paced(0, 9, 20*time.Millisecond)
	f.paced(10, 10, 38*time.Millisecond) // not long enough to be asked about
	f.paced(11, 12, 20*time.Millisecond)
	f.log = nil
	f.after(70 * time.Millisecond)
	f.want()
	f.after(10 * time.Millisecond)
	f.want("ask 1 13-76")
	f.recovered(13)
	f.answer(0, missing(14, 76))
	f.want("13")
	f.paced(14, 100, 20*time.Millisecond)
	f.log = nil
	f.after(60 * time.Millisecond)
	f.want("ask 1 101-164")
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
