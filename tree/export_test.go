package tree

// Valid checks the invariants of Cohort.
func (c *Cohort) Valid() error { return c.valid() }

// Bitmap is a bitmap of the given width.
type Bitmap struct{ b bitmap }

func NewBitmap(width int) *Bitmap { return &Bitmap{bitmap{width: width}} }

func (b *Bitmap) Has(index uint64) bool { return b.b.has(index) }
func (b *Bitmap) Set(index uint64)      { b.b.set(index) }
func (b *Bitmap) Base() uint64          { return b.b.base }
func (b *Bitmap) Words() int            { return len(b.b.words) }

// Window is a window of at most so many addresses.
type Window struct{ w window }

func NewWindow(most int) *Window { return &Window{window{most: most}} }

func (w *Window) Has(print uint64) bool           { return w.w.has(print) }
func (w *Window) Signature(key [32]byte) [65]byte { return w.w.signature(key) }
func (w *Window) Take(key, cac [32]byte, print uint64, sig *[65]byte) Counter {
	return w.w.take(key, cac, print, sig)
}

// Feed is one owner's memory of its newest chunks, most of them.
type Feed struct {
	f    feed
	most int
}

func NewFeed(most int) *Feed { return &Feed{most: most} }

func (f *Feed) Remember(index, print uint64) {
	f.f.remember(&check{index: index, print: print}, new([32]byte), f.most)
}

// Recall is the print of the chunk remembered under index.
func (f *Feed) Recall(index uint64) (print uint64, ok bool) {
	if r := f.f.recall(index); r != nil {
		return r.print, true
	}
	return 0, false
}
