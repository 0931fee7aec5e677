package main

import (
	"slices"
	"testing"
	"time"
)

// A message is done, and its place in the window free, when all have it.
func TestLedgerWindow(t *testing.T) {
	l := newLedger(2, 1)
	l.room <- struct{}{}
	seq := l.send()
	l.subs[0].take(seq)
	l.subs[0].take(seq) // a repetition is no second subscriber
	if len(l.room) != 1 {
		t.Fatal("done with one of two subscribers")
	}
	l.subs[1].take(seq)
	if len(l.room) != 0 {
		t.Fatal("not done with both")
	}
	if lost, twice := l.missing(0, 1); lost != 0 || twice != 1 || l.taken.Load() != 2 {
		t.Errorf("lost %d, twice %d, taken %d", lost, twice, l.taken.Load())
	}
}

// What is lost is given up, and frees its place once, however late it comes.
func TestLedgerExpire(t *testing.T) {
	l := newLedger(2, 2)
	l.room <- struct{}{}
	l.room <- struct{}{}
	first := l.send()
	l.subs[0].take(first)
	l.expire(time.Hour)
	if len(l.room) != 2 {
		t.Fatal("given up too early")
	}
	time.Sleep(time.Millisecond) // the edge is before now
	l.expire(0)
	l.expire(0)
	if len(l.room) != 1 {
		t.Fatalf("%d under way, want one", len(l.room))
	}
	l.subs[1].take(first)
	if len(l.room) != 1 {
		t.Error("a late arrival freed a second place")
	}
	if lost, _ := l.missing(0, 1); lost != 0 {
		t.Errorf("%d missing, though it came late", lost)
	}
}

// Messages of an earlier run, and subscribers that are out of it, count nowhere.
func TestLedgerForeign(t *testing.T) {
	l := newLedger(3, 0)
	for range 100 {
		l.send()
	}
	l.subs[0].take(100)
	l.subs[0].take(-1)
	if l.taken.Load() != 0 {
		t.Error("a message that was not sent was taken")
	}
	for seq := range int64(100) {
		if l.subs[0].take(seq); seq >= 70 {
			l.subs[1].take(seq)
		}
	}
	l.exclude(2)
	if lost, _ := l.missing(0, 100); lost != 70 {
		t.Errorf("%d missing, want 70", lost)
	}
	if lost, _ := l.missing(63, 71); lost != 7 {
		t.Errorf("%d missing of 63 to 70, want 7", lost)
	}
	if n := len(l.latencies(90, 100)); n != 20 {
		t.Errorf("%d latencies of ten messages at two subscribers", n)
	}
}

func TestCountBits(t *testing.T) {
	set := []uint64{1<<63 | 1, ^uint64(0), 1}
	for _, c := range []struct {
		from, to int64
		want     int
	}{{0, 0, 0}, {0, 1, 1}, {1, 63, 0}, {63, 64, 1}, {0, 192, 67}, {63, 129, 66}, {64, 128, 64}, {65, 192, 64}} {
		if got := countBits(set, c.from, c.to); got != c.want {
			t.Errorf("countBits(%d, %d) = %d, want %d", c.from, c.to, got, c.want)
		}
	}
}

func TestLongestGap(t *testing.T) {
	for _, c := range []struct {
		moments []int64
		want    int64
	}{
		{nil, 90},
		{[]int64{15, 20, 95}, 75},
		{[]int64{1, 50, 200}, 50}, // those outside do not count
		{[]int64{60}, 50},
	} {
		if got := longestGap(slices.Clone(c.moments), 10, 100); got != c.want {
			t.Errorf("longestGap(%v) = %d, want %d", c.moments, got, c.want)
		}
	}
}
