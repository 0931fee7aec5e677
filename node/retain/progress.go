package retain

import (
	"bytes"
	"slices"
	"sync"

	"treecast/wire"
)

// Progress is how far one feed of a cohort is settled, for those who read behind
// the hand-over.
type Progress struct {
	Owner wire.Owner
	// Begin is the first index that this node counted on since its start.
	Begin uint64
	// Next is the first index that is neither handed over nor reported as missing.
	// What is below it and kept can be read.
	Next uint64
	// Firm is where a reader goes that would rather wait than see later chunks
	// first: Next, or the first index below it that is still being recovered.
	Firm uint64
	// Late counts the chunks that came after their gap was reported.
	Late uint64
}

// progress is that of all feeds of a cohort. There are as many as package order
// puts in order, so their number is bounded there.
type progress struct {
	mu       sync.Mutex
	list     []Progress            // sorted by owner
	passed   map[wire.Owner]uint64 // the first index still being recovered
	watchers []*func()
}

// Settle notes that of owner's feed the indices from low on and below next are
// settled, and that late ones below low came.
func (l *Log) Settle(owner wire.Owner, low, next, late uint64) {
	p := &l.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	i, ok := slices.BinarySearchFunc(p.list, owner, func(x Progress, owner wire.Owner) int {
		return bytes.Compare(x.Owner[:], owner[:])
	})
	if !ok {
		p.list = slices.Insert(p.list, i, Progress{Owner: owner, Begin: min(low, next)})
	}
	p.list[i].Next = max(p.list[i].Next, next)
	p.list[i].Late += late
	for _, w := range p.watchers {
		(*w)()
	}
}

// Passed notes the first index of owner's feed that is still being recovered
// although later ones are settled; none says that there is none any more. It is to
// be noted before the Settle that goes over it.
func (l *Log) Passed(owner wire.Owner, first uint64, none bool) {
	p := &l.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	if none {
		delete(p.passed, owner)
	} else {
		if p.passed == nil {
			p.passed = make(map[wire.Owner]uint64)
		}
		p.passed[owner] = first
	}
	for _, w := range p.watchers {
		(*w)()
	}
}

// Progress appends how far every known feed is, sorted by owner.
func (l *Log) Progress(dst []Progress) []Progress {
	p := &l.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	at := len(dst)
	dst = append(dst, p.list...)
	for i := range dst[at:] {
		x := &dst[at+i]
		x.Firm = x.Next
		if first, ok := p.passed[x.Owner]; ok {
			x.Firm = min(first, x.Next)
		}
	}
	return dst
}

// Watch has changed called after each change of the progress, from whatever
// goroutine, until stop; it must not block, nor call the log.
func (l *Log) Watch(changed func()) (stop func()) {
	p := &l.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	w := &changed
	p.watchers = append(p.watchers, w)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.watchers = slices.DeleteFunc(p.watchers, func(x *func()) bool { return x == w })
	}
}

// First is the lowest index of owner's feed that is kept; false if none is.
func (l *Log) First(owner wire.Owner) (first uint64, ok bool, err error) {
	if l.store != nil {
		if first, ok, err = l.store.First(l.topic, owner); ok || err != nil {
			return first, ok, err
		}
	}
	first, ok = l.ring.first(owner)
	return first, ok, nil
}
