package main

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// maxMessages is the most that one run may send.
const maxMessages = 1 << 18

// A ledger is the books of one run: what was sent when, who has it, and how long
// it took. Messages are numbered from 0.
type ledger struct {
	base time.Time
	subs []*sink
	room chan struct{} // of the window; nil without one

	sent  atomic.Int64   // messages so far
	taken atomic.Uint64  // deliveries so far, each message and subscriber once
	times []atomic.Int64 // ns after base
	left  []atomic.Int32 // subscribers that lack it; below zero: given up

	oldest int // messages before it are done or given up; for expire alone
}

// newLedger is for subs subscribers and at most window messages under way; 0 is
// any number.
func newLedger(subs, window int) *ledger {
	l := &ledger{base: time.Now(), times: make([]atomic.Int64, maxMessages), left: make([]atomic.Int32, maxMessages)}
	for range subs {
		l.subs = append(l.subs, &sink{l: l, has: make([]uint64, maxMessages/64)})
	}
	if window > 0 {
		l.room = make(chan struct{}, window)
	}
	return l
}

// send numbers the next message; the caller has room for it.
func (l *ledger) send() (seq int64) {
	seq = l.sent.Load()
	l.times[seq].Store(int64(time.Since(l.base)))
	l.left[seq].Store(int32(len(l.subs)))
	l.sent.Store(seq + 1)
	return seq
}

// arrived counts one subscriber's first copy.
func (l *ledger) arrived(seq int64) {
	l.taken.Add(1)
	if l.left[seq].Add(-1) == 0 && l.room != nil {
		<-l.room
	}
}

// expire gives up messages that were sent before limit ago, so that a window of
// which something was lost goes on. It is called by one goroutine.
func (l *ledger) expire(limit time.Duration) {
	edge := int64(time.Since(l.base) - limit)
	for int64(l.oldest) < l.sent.Load() && l.times[l.oldest].Load() < edge {
		left := &l.left[l.oldest]
		for n := left.Load(); n > 0; n = left.Load() {
			if left.CompareAndSwap(n, -1) { // further arrivals take it lower, never to 0
				<-l.room
				break
			}
		}
		l.oldest++
	}
}

// A sink is one subscriber's part of the books. take is for one goroutine.
type sink struct {
	l *ledger

	mu       sync.Mutex // between take and the one who reads the books
	has      []uint64   // bit by message
	twice    int
	latency  []latency
	arrivals []int64 // ns after base, of first copies, in order
	excluded bool
}

type latency struct {
	seq int32
	us  int32
}

// take notes that the subscriber was given message seq.
func (s *sink) take(seq int64) {
	if seq < 0 || seq >= s.l.sent.Load() {
		return // of the run before this one
	}
	now := int64(time.Since(s.l.base))
	s.mu.Lock()
	word, bit := &s.has[seq/64], uint64(1)<<(seq%64)
	if *word&bit != 0 {
		s.twice++
		s.mu.Unlock()
		return
	}
	*word |= bit
	s.latency = append(s.latency, latency{int32(seq), int32((now - s.l.times[seq].Load()) / 1000)})
	s.arrivals = append(s.arrivals, now)
	s.mu.Unlock()
	s.l.arrived(seq)
}

// exclude takes a subscriber out of the books: nobody waits for it any more.
func (l *ledger) exclude(i int) {
	s := l.subs[i]
	s.mu.Lock()
	s.excluded = true
	s.mu.Unlock()
}

// missing counts, over all subscribers that are not excluded, the messages below
// seq that did not come, and those that came more than once.
func (l *ledger) missing(from, to int64) (lost, twice int) {
	for _, s := range l.subs {
		s.mu.Lock()
		if !s.excluded {
			lost += int(to-from) - countBits(s.has, from, to)
			twice += s.twice
		}
		s.mu.Unlock()
	}
	return lost, twice
}

func countBits(set []uint64, from, to int64) (n int) {
	for i := from; i < to; {
		if i%64 == 0 && i+64 <= to {
			n += bits.OnesCount64(set[i/64])
			i += 64
			continue
		}
		n += int(set[i/64] >> (i % 64) & 1)
		i++
	}
	return n
}

// latencies are those of messages from ≤ seq < to, in milliseconds, unsorted.
func (l *ledger) latencies(from, to int64) (list []float64) {
	for _, s := range l.subs {
		s.mu.Lock()
		for _, x := range s.latency {
			if int64(x.seq) >= from && int64(x.seq) < to && !s.excluded {
				list = append(list, float64(x.us)/1000)
			}
		}
		s.mu.Unlock()
	}
	return list
}

// gap is the longest time in which any one subscriber got nothing new, between
// two moments.
func (l *ledger) gap(from, to time.Time) (longest time.Duration) {
	begin, end := int64(from.Sub(l.base)), int64(to.Sub(l.base))
	for _, s := range l.subs {
		s.mu.Lock()
		if !s.excluded {
			longest = max(longest, time.Duration(longestGap(s.arrivals, begin, end)))
		}
		s.mu.Unlock()
	}
	return longest
}

// longestGap is the longest distance between two of the moments, which are in
// order, within begin and end; these count as moments.
func longestGap(moments []int64, begin, end int64) (longest int64) {
	last := begin
	for _, m := range moments {
		if m < begin {
			continue
		}
		if m > end {
			break
		}
		longest = max(longest, m-last)
		last = m
	}
	return max(longest, end-last)
}
