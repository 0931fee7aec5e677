package order_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"treecast/node/retain/order"
	"treecast/wire"
)

var (
	alice = wire.Owner{1}
	left  = wire.Overlay{1}
	right = wire.Overlay{2}
	root  = wire.Overlay{3}
	start = time.Unix(1000, 0)
)

// feeds drives a core and writes down what it does.
type feeds struct {
	t   *testing.T
	o   *order.Feeds
	now time.Time
	log []string
	// asks are the requests, in order.
	asks []order.Action
}

func newFeeds(t *testing.T, cfg order.Config) *feeds {
	t.Helper()
	if cfg.Rand == nil {
		cfg.Rand = rand.New(rand.NewPCG(1, 2))
	}
	o, err := order.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &feeds{t: t, o: o, now: start}
}

func (f *feeds) step(ev order.Event) {
	f.t.Helper()
	for _, a := range f.o.Step(f.now, ev, nil) {
		switch a.Kind {
		case order.ActHandOver:
			late := ""
			if a.Late {
				late = " late"
			}
			f.log = append(f.log, fmt.Sprintf("%d%s", a.Chunk, late))
		case order.ActDrop:
			f.log = append(f.log, fmt.Sprintf("drop %d", a.Chunk))
		case order.ActGap:
			kind := "gap"
			if a.Void {
				kind = "void"
			}
			f.log = append(f.log, fmt.Sprintf("%s %d-%d", kind, a.Range.From, a.Range.To))
		case order.ActAsk:
			f.log = append(f.log, fmt.Sprintf("ask %d %d-%d", a.To[0], a.Range.From, a.Range.To))
			f.asks = append(f.asks, a)
		case order.ActWithheld:
			f.log = append(f.log, fmt.Sprintf("withheld %d", a.To[0]))
		case order.ActGiveUp:
			f.log = append(f.log, fmt.Sprintf("give up %d", a.Request))
		}
	}
	if err := f.o.Valid(); err != nil {
		f.t.Fatalf("after %T: %v", ev, err)
	}
}

// parents sets the parents and whether there is an entry point.
func (f *feeds) parents(entry bool, peers ...wire.Overlay) {
	f.t.Helper()
	s := order.Sources{Entry: entry}
	for _, p := range peers {
		s.Parents = append(s.Parents, order.Source{Peer: p, Broker: p == root})
	}
	f.step(s)
}

// entry says whether there is an entry point, beside left and right.
func (f *feeds) entry(is bool) {
	f.t.Helper()
	f.parents(is, left, right)
}

// arrive brings chunks, whose IDs are their indices, from a parent.
func (f *feeds) arrive(from wire.Overlay, indices ...uint64) {
	f.t.Helper()
	for _, i := range indices {
		f.step(&order.Arrived{Owner: alice, Index: i, Chunk: order.ChunkID(i), Size: 100, From: from})
	}
}

// after lets time pass up to the core's deadlines within d.
func (f *feeds) after(d time.Duration) {
	f.t.Helper()
	end := f.now.Add(d)
	for at := f.o.Deadline(); !at.IsZero() && !at.After(end); at = f.o.Deadline() {
		if at.After(f.now) {
			f.now = at
		}
		f.step(order.Tick{})
		if next := f.o.Deadline(); !next.IsZero() && !next.After(f.now) {
			f.t.Fatalf("the deadline %v is still due after its tick", next)
		}
	}
	f.now = end
}

// answer ends the n-th request.
func (f *feeds) answer(n int, end *wire.RecoverEnd) {
	f.t.Helper()
	f.step(order.Answered{Request: f.asks[n].Request, End: end})
}

func (f *feeds) want(lines ...string) {
	f.t.Helper()
	if !slices.Equal(f.log, lines) {
		f.t.Errorf("got %q\nwant %q", f.log, lines)
	}
	f.log = nil
}

func ranges(pairs ...uint64) (list []wire.IndexRange) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, wire.IndexRange{From: pairs[i], To: pairs[i+1]})
	}
	return list
}

func missing(pairs ...uint64) *wire.RecoverEnd { return &wire.RecoverEnd{Missing: ranges(pairs...)} }

func TestInOrderIsHandedOverAtOnce(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(true, left, right)
	f.arrive(left, 7, 8, 9)
	f.want("7", "8", "9")
	if d := f.o.Deadline(); !d.IsZero() {
		t.Errorf("deadline %v", d)
	}
	ev := &order.Arrived{Owner: alice, Index: 10, Chunk: 10, From: left}
	out := make([]order.Action, 0, 4)
	if n := testing.AllocsPerRun(100, func() {
		f.o.Step(f.now, ev, out[:0])
		ev.Index++
	}); n != 0 {
		t.Errorf("%v allocations a chunk", n)
	}
}

// The other parent has 250 ms to bring what is missing.
func TestGapThatTheOtherParentCloses(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(true, left, right)
	f.arrive(left, 0, 3)
	f.after(249 * time.Millisecond)
	f.arrive(right, 1, 2)
	f.want("0", "1", "2", "3")
	f.after(time.Minute)
	f.want()
}

// Then the parent that sent the newer chunk is asked, then the other, then after
// 2 to 4 s an entry point; then the gap is reported.
func TestLineOfThoseAsked(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(true, left, right)
	f.arrive(right, 0, 3)
	f.after(249 * time.Millisecond)
	f.want("0")
	f.after(time.Millisecond)
	f.want("ask 2 1-2")
	f.answer(0, missing(1, 2))
	f.want("ask 1 1-2")
	f.answer(1, missing(1, 2))
	f.after(1749 * time.Millisecond)
	f.want()
	f.after(time.Millisecond)
	f.want("gap 1-2", "3")
	f.after(2 * time.Second)
	f.want("ask 0 1-2")
	f.answer(2, missing(1, 2))
	f.want()
	f.after(time.Minute)
	f.want()
	f.arrive(left, 1) // from nobody knows where
	f.want("1 late")
}

func TestRecoveredInOrder(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(true, left)
	f.arrive(left, 0, 4, 5)
	f.want("0", "ask 1 1-3") // there is no other parent to wait for
	f.arrive(wire.Overlay{}, 1, 2, 3)
	f.want("1", "2", "3", "4", "5")
	f.answer(0, &wire.RecoverEnd{})
	f.after(time.Minute)
	f.want()
}

func TestFailedRequestsAreTriedElsewhere(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(false, left)
	f.arrive(left, 0, 2)
	f.want("0", "ask 1 1-1")
	f.answer(0, nil)
	f.after(2 * time.Second)
	f.want("gap 1-1", "2", "ask 1 1-1")
	f.answer(1, nil)
	f.after(2 * time.Second)
	f.want("ask 1 1-1")
	f.arrive(wire.Overlay{}, 1)
	f.answer(2, &wire.RecoverEnd{})
	f.want("1 late")
	f.after(time.Minute)
	f.want()
}

// All tries may be used up before the time of holding is.
func TestReportedOnceNobodyHasIt(t *testing.T) {
	f := newFeeds(t, order.Config{Tries: 2})
	f.parents(false, left, right)
	f.arrive(left, 0, 2)
	f.after(250 * time.Millisecond)
	f.answer(0, missing(1, 1))
	f.want("0", "ask 1 1-1", "ask 2 1-1")
	f.answer(1, missing(1, 1))
	f.want("gap 1-1", "2")
}

func TestHoldBytes(t *testing.T) {
	f := newFeeds(t, order.Config{HoldBytes: 300})
	f.parents(false, left, right)
	f.arrive(left, 0, 2, 3, 6)
	f.want("0")
	f.arrive(left, 7)
	f.want("gap 1-1", "2", "3")
	f.arrive(left, 8)
	f.arrive(left, 9)
	f.want("gap 4-5", "6", "7", "8", "9")
}

// A chunk waits 2 s at most, whatever lies below it.
func TestHoldTime(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(false, left, right)
	f.arrive(left, 0, 5)
	f.after(time.Second)
	f.arrive(right, 2)
	f.after(999 * time.Millisecond)
	f.log = nil // requests
	f.after(time.Millisecond)
	f.want("gap 1-1", "2", "gap 3-4", "5")
}

func TestPendingIsWaitedFor(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(false, left)
	f.arrive(left, 0, 3)
	f.want("0", "ask 1 1-2")
	f.answer(0, &wire.RecoverEnd{Pending: ranges(1, 2)})
	f.after(999 * time.Millisecond)
	f.want()
	f.after(time.Millisecond)
	f.want("ask 1 1-2")
	f.arrive(left, 1, 2)
	f.want("1", "2", "3")
	f.answer(1, &wire.RecoverEnd{})
	f.after(time.Minute)
	f.want()
}

// What the broker calls void is void; of others two must say so, or all.
func TestVoid(t *testing.T) {
	end := &wire.RecoverEnd{Void: ranges(1, 7)}
	for _, tc := range []struct {
		name    string
		parents []wire.Overlay
		want    []string
	}{
		{"broker", []wire.Overlay{root, right}, []string{"0", "ask 3 1-7", "void 1-7", "8"}},
		{"the only parent", []wire.Overlay{left}, []string{"0", "ask 1 1-7", "void 1-7", "8"}},
		{"two parents", []wire.Overlay{left, right}, []string{"0", "ask 1 1-7", "ask 2 1-7"}},
	} {
		f := newFeeds(t, order.Config{})
		f.parents(false, tc.parents...)
		f.arrive(tc.parents[0], 0, 8)
		f.after(250 * time.Millisecond)
		f.answer(0, end)
		f.want(tc.want...)
		if tc.name == "two parents" {
			f.answer(1, end)
			f.want("void 1-7", "8")
		}
	}
}

// An ingress knows its own void ranges, before or after anybody misses them.
func TestOwnVoid(t *testing.T) {
	f := newFeeds(t, order.Config{Root: true})
	f.step(order.Restore{Owner: alice, Next: 5})
	f.step(order.Void{Owner: alice, Range: wire.IndexRange{From: 5, To: 1023}})
	f.want("void 5-1023")
	f.arrive(wire.Overlay{}, 1024, 1030)
	f.want("1024")
	f.step(order.Void{Owner: alice, Range: wire.IndexRange{From: 1026, To: 1027}})
	f.step(order.Void{Owner: alice, Range: wire.IndexRange{From: 1025, To: 1029}})
	f.want("void 1026-1027", "void 1028-1029", "void 1025-1025", "1030")
}

// An answer that says different things of different indices cuts the gap.
func TestMixedAnswer(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(false, root, right)
	f.arrive(root, 0, 10)
	f.after(250 * time.Millisecond)
	f.want("0", "ask 3 1-9")
	f.arrive(wire.Overlay{}, 1, 2, 9)
	f.want("1", "2")
	f.answer(0, &wire.RecoverEnd{Missing: ranges(3, 4), Pending: ranges(5, 5), Void: ranges(6, 6)}) // 7 and 8 it did not look at
	f.want("void 6-6", "ask 2 3-4", "ask 3 7-8")
	f.arrive(wire.Overlay{}, 7, 8, 3, 4)
	f.want("3", "4")
	f.answer(1, &wire.RecoverEnd{})
	f.answer(2, &wire.RecoverEnd{})
	f.arrive(right, 5)
	f.want("5", "7", "8", "9", "10")
}

func TestOneRequestAPeer(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(false, left)
	f.arrive(left, 0, 2, 4)
	f.want("0", "ask 1 1-1")
	f.answer(0, missing(1, 1))
	f.want("ask 1 3-3")
	f.arrive(left, 5000)
	f.arrive(wire.Overlay{}, 3)
	f.answer(1, &wire.RecoverEnd{})
	f.want("ask 1 5-4100")
	f.arrive(wire.Overlay{}, 5)
	f.answer(2, missing(6, 4100))
	f.want("ask 1 4101-4999")
}

// A head above what is known shows that something was missed, also if nothing
// follows; one of a feed that is new here says where it begins.
func TestHeads(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(true, left)
	f.step(order.Heads{From: left, All: true, Heads: []wire.Head{{Owner: alice, Index: 9}}})
	f.want()
	f.arrive(left, 10, 11)
	f.want("10", "11")
	f.parents(true)
	f.parents(true, right)
	f.step(order.Heads{From: right, All: true, Heads: []wire.Head{{Owner: alice, Index: 14}}})
	f.want("ask 2 12-14")
	f.arrive(right, 15)
	f.arrive(wire.Overlay{}, 12, 13, 14)
	f.answer(0, &wire.RecoverEnd{})
	f.want("12", "13", "14", "15")
	f.step(&order.Arrived{Owner: wire.Owner{2}, Index: 1, Chunk: 1, From: right}) // it began since
	f.want("ask 2 0-0")
	f.answer(1, missing(0, 0))
	f.step(order.Heads{From: right, All: true, Heads: []wire.Head{{Owner: wire.Owner{3}, Index: 2}}}) // so did this one
	f.want("ask 2 0-2")
	f.answer(2, missing(0, 2))
	f.step(order.Heads{From: right, All: true, Heads: []wire.Head{{Owner: wire.Owner{4}, Index: order.DefaultWidth + 9}}})
	f.want("gap 0-9", "ask 2 10-4105")
}

// A head that is a lie costs requests, and one false report.
func TestLyingHead(t *testing.T) {
	f := newFeeds(t, order.Config{Width: 4096, Tries: 1})
	f.parents(false, left)
	f.arrive(left, 10)
	f.step(order.Heads{From: left, Heads: []wire.Head{{Owner: alice, Index: wire.MaxIndex}}})
	f.want("10", "ask 1 11-4106")
	f.answer(0, missing(0, wire.MaxIndex))
	f.want("gap 11-4106")
	f.arrive(left, 11, 12)
	f.want("11", "12")
	f.arrive(left, 4200)
	f.want("ask 1 4107-4199")
	f.answer(1, missing(4107, 4199))
	f.want("gap 4107-4199", "4200")
}

func TestHeadsAgainAndAgain(t *testing.T) {
	f := newFeeds(t, order.Config{Gaps: 8})
	f.parents(false, left)
	f.arrive(left, 0)
	for i := range uint64(100) {
		f.step(order.Heads{From: left, Heads: []wire.Head{{Owner: alice, Index: 10 * i}}})
	}
	if next, ok := f.o.Next(alice); !ok || next < 900 {
		t.Errorf("next %d", next)
	}
}

// After a restart what was handed over does not come again, and what is in the
// store waits for what is missing below it until somebody could be asked.
func TestRestart(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.step(order.Restore{Owner: alice, Next: 10})
	for _, i := range []uint64{10, 12, 13} {
		f.step(&order.Arrived{Owner: alice, Index: i, Chunk: order.ChunkID(i), Size: 100, Stored: true})
	}
	f.want("10")
	f.after(time.Minute)
	f.want()
	f.parents(false, left)
	f.want("ask 1 11-11")
	f.step(order.Heads{From: left, Heads: []wire.Head{{Owner: alice, Index: 15}}})
	f.arrive(left, 9, 13, 16, 10)
	f.want("drop 9", "drop 13", "drop 10")
	f.arrive(wire.Overlay{}, 11)
	f.answer(0, &wire.RecoverEnd{})
	f.want("11", "12", "13", "ask 1 14-15")
	f.arrive(wire.Overlay{}, 14, 15)
	f.want("14", "15", "16")
	f.arrive(left, 12, 13)
	f.want("drop 12", "drop 13")
}

// What was passed by before a restart is asked for again, at an entry point too, and
// comes late; what lies too deep, above the mark or backwards is not.
func TestRestartOpen(t *testing.T) {
	f := newFeeds(t, order.Config{Width: 100})
	f.step(order.Restore{Owner: alice, Next: 200, Open: []wire.IndexRange{
		{From: 10, To: 20}, {From: 90, To: 101}, {From: 150, To: 150}, {From: 160, To: 155}, {From: 199, To: 200},
	}})
	if first, ok := f.o.Passed(alice); !ok || first != 100 {
		t.Errorf("still recovered: %d, %v", first, ok)
	}
	f.after(time.Minute)
	f.want()
	f.parents(true, left)
	f.want("ask 1 100-101")
	f.arrive(wire.Overlay{}, 20, 101)
	f.want("drop 20", "101 late")
	f.answer(0, &wire.RecoverEnd{Missing: ranges(100, 100)})
	f.want("ask 0 100-100", "ask 1 150-150")
	f.arrive(left, 200)
	f.want("200")
	f.arrive(wire.Overlay{}, 100, 150)
	f.want("100 late", "150 late")
	f.answer(1, &wire.RecoverEnd{})
	f.answer(2, &wire.RecoverEnd{})
	if first, ok := f.o.Passed(alice); ok {
		t.Errorf("still recovered: %d", first)
	}
	f.arrive(left, 99)
	f.want("drop 99")
	f = newFeeds(t, order.Config{Tries: 1})
	f.step(order.Restore{Owner: alice, Next: 9, Open: ranges(3, 4)})
	f.parents(false, left)
	f.answer(0, missing(3, 4))
	f.arrive(left, 4, 5)
	f.want("ask 1 3-4", "4 late", "drop 5") // it was given up, and comes all the same
	f = newFeeds(t, order.Config{Root: true})
	f.step(order.Restore{Owner: alice, Next: 9, Open: ranges(3, 4)})
	if first, ok := f.o.Passed(alice); ok {
		t.Errorf("a root recovers %d", first)
	}
}

// Of the gaps at a restart no more than the bound go on, the highest.
func TestRestartOpenBound(t *testing.T) {
	f := newFeeds(t, order.Config{Gaps: 3})
	var open []wire.IndexRange
	for i := range uint64(5) {
		open = append(open, wire.IndexRange{From: 10 * i, To: 10*i + 1})
	}
	f.step(order.Restore{Owner: alice, Next: 200, Open: open})
	if got := f.o.Pending(alice, wire.IndexRange{To: 199}, nil); !slices.Equal(got, open[2:]) {
		t.Errorf("still recovered: %v", got)
	}
	f.want()
	f.arrive(left, 200)
	f.want("200")
}

// Deeper than the width nothing is asked for.
func TestWidth(t *testing.T) {
	f := newFeeds(t, order.Config{Width: 10})
	f.parents(false, left, right)
	f.arrive(left, 0, 100)
	f.want("0", "gap 1-89")
	f.after(250 * time.Millisecond)
	f.want("ask 1 90-99")
	f.arrive(right, 50)
	f.want("50 late")
}

func TestTooManyGaps(t *testing.T) {
	f := newFeeds(t, order.Config{Gaps: 2})
	f.parents(false, left, right)
	f.arrive(left, 0, 2, 4)
	f.want("0")
	f.arrive(left, 6)
	f.want("gap 1-1", "2")
	f.arrive(right, 3)
	f.want("3", "4")
	f.arrive(left, 20, 10, 14)
	f.want("gap 5-5", "6", "gap 7-9", "10")
}

// At the broker there is nobody to ask: it holds, and reports.
func TestRoot(t *testing.T) {
	f := newFeeds(t, order.Config{Root: true})
	f.arrive(wire.Overlay{}, 0, 3)
	f.want("0")
	f.after(time.Second)
	f.arrive(wire.Overlay{}, 2)
	f.after(time.Second)
	f.want("gap 1-1", "2", "3")
	f.after(time.Hour)
	f.arrive(wire.Overlay{}, 1)
	f.want("1 late")
}

func TestTooManyOwners(t *testing.T) {
	f := newFeeds(t, order.Config{Owners: 1})
	f.arrive(left, 0)
	for i := range uint64(3) {
		f.step(&order.Arrived{Owner: wire.Owner{9}, Index: 5 - i, Chunk: order.ChunkID(5 - i)})
	}
	f.want("0", "5", "4", "3")
}

func TestPending(t *testing.T) {
	f := newFeeds(t, order.Config{Tries: 1})
	f.parents(false, left)
	f.arrive(left, 0, 4, 9)
	got := f.o.Pending(alice, wire.IndexRange{From: 2, To: 6}, nil)
	if !slices.Equal(got, ranges(2, 3, 5, 6)) {
		t.Errorf("pending %v", got)
	}
	f.answer(0, missing(1, 3))
	if got := f.o.Pending(alice, wire.IndexRange{From: 0, To: 20}, nil); !slices.Equal(got, ranges(5, 8)) {
		t.Errorf("pending %v", got)
	}
	if got := f.o.Pending(wire.Owner{7}, wire.IndexRange{To: 9}, nil); got != nil {
		t.Errorf("pending %v", got)
	}
}

func TestConfig(t *testing.T) {
	for _, cfg := range []order.Config{
		{},
		{Root: true, Owners: -1},
		{Root: true, Hold: -1},
		{Root: true, HoldBytes: -1},
	} {
		if _, err := order.New(cfg); err == nil {
			t.Errorf("%+v is taken", cfg)
		}
	}
}

// TestPassed follows a gap that is reported for its time and recovered after all,
// and one that is given up.
func TestPassed(t *testing.T) {
	f := newFeeds(t, order.Config{})
	f.parents(false, left)
	f.arrive(left, 0)
	passed := func(want uint64, still bool) {
		t.Helper()
		if first, ok := f.o.Passed(alice); ok != still || ok && first != want {
			t.Errorf("passed %d, %v, want %d, %v", first, ok, want, still)
		}
	}
	f.arrive(left, 3)
	passed(0, false) // waited for, not passed
	f.after(3 * time.Second)
	passed(1, true)
	f.arrive(left, 1)
	passed(2, true)
	f.arrive(left, 2)
	passed(0, false)
	f.arrive(left, 5)
	f.after(3 * time.Second)
	passed(4, true)
	for f.o.Pending(alice, wire.IndexRange{From: 4, To: 4}, nil) != nil {
		f.answer(len(f.asks)-1, missing(4, 4))
		f.after(3 * time.Second)
	}
	passed(0, false) // nobody has it
}

// TestEntryHasTheLastWord: parents that come and go use up the attempts, and an
// entry point is asked all the same before a gap is given up.
func TestEntryHasTheLastWord(t *testing.T) {
	f := newFeeds(t, order.Config{EntryWait: time.Minute})
	f.parents(true, left)
	f.arrive(left, 0, 2)
	for i, p := range []wire.Overlay{right, {4}, {5}} {
		if len(f.asks) != i+1 {
			t.Fatalf("%d requests, want %d: %q", len(f.asks), i+1, f.log)
		}
		f.parents(true, p)
		f.answer(i, missing(1, 1))
	}
	f.after(3 * time.Minute)
	if n := len(f.asks); n != 4 || f.asks[3].To != (wire.Overlay{}) {
		t.Fatalf("%d requests, %q: no entry point was asked", n, f.log)
	}
	if _, still := f.o.Passed(alice); !still {
		t.Error("given up before the entry point has answered")
	}
	f.answer(3, missing(1, 1))
	if _, still := f.o.Passed(alice); still {
		t.Error("not given up")
	}
}

// TestEntryThatFails: an entry point that does not answer has not spoken. It is asked
// again, and given up in the end.
func TestEntryThatFails(t *testing.T) {
	for fails := range 5 {
		f := newFeeds(t, order.Config{})
		f.parents(true, left)
		f.arrive(left, 0, 9)
		at, entry := 0, 0
		for ; at < 20; at++ {
			for range 10 {
				if len(f.asks) == at {
					f.after(5 * time.Second)
				}
			}
			if len(f.asks) == at {
				break // given up
			}
			if f.asks[at].To == left {
				f.answer(at, missing(1, 8))
				continue
			}
			if entry++; entry <= fails {
				f.answer(at, nil)
				continue
			}
			f.arrive(wire.Overlay{}, 1, 2, 3, 4, 5, 6, 7, 8)
			f.answer(at, &wire.RecoverEnd{})
		}
		if _, still := f.o.Passed(alice); still || at == 20 {
			t.Errorf("%d failures, %d requests: not at an end", fails, at)
		}
		if want := min(fails+1, 4); entry != want {
			t.Errorf("%d failures: entry point asked %d times, want %d; %q", fails, entry, want, f.log)
		}
	}
}

// TestAnswerBreaksOff: the rest of an answer that broke off is asked for where it
// began, as often as it has brought something.
func TestAnswerBreaksOff(t *testing.T) {
	f := newFeeds(t, order.Config{Tries: 1})
	f.parents(false, left)
	f.arrive(left, 0, 9)
	f.arrive(wire.Overlay{}, 1, 2, 3)
	f.answer(0, nil)
	f.arrive(wire.Overlay{}, 4)
	f.answer(1, nil)
	f.want("0", "ask 1 1-8", "1", "2", "3", "ask 1 4-8", "4", "ask 1 5-8")
	f.answer(2, nil) // brought nothing
	f.want("gap 5-8", "9")
}
