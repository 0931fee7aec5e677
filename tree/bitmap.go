package tree

// bitmap remembers which of the newest indices of a feed were delivered: width
// of them at most, a multiple of 64. What is below its base counts as delivered
// (PROTOCOL §4 Duplicates). It grows with its use.
type bitmap struct {
	width   int
	base    uint64 // a multiple of 64
	words   []uint64
	started bool
}

func (b *bitmap) cap() uint64 { return uint64(len(b.words)) * 64 }

func (b *bitmap) word(index uint64) *uint64 { return &b.words[index/64%uint64(len(b.words))] }

func (b *bitmap) has(index uint64) bool {
	switch {
	case !b.started || index >= b.base+b.cap():
		return false
	case index < b.base:
		return true
	}
	return *b.word(index)>>(index%64)&1 == 1
}

// set marks index, which is not below the base. The first one sets the base half
// a width below itself: what is late by less than that is still taken.
func (b *bitmap) set(index uint64) {
	if !b.started {
		b.started = true
		if half := uint64(b.width / 2); index > half {
			b.base = (index - half) &^ 63
		}
	}
	b.reach(index)
	*b.word(index) |= 1 << (index % 64)
	for *b.word(b.base) == ^uint64(0) && b.base+64 <= index {
		b.slide()
	}
}

// reach makes room for index: by growing, then by moving the base.
func (b *bitmap) reach(index uint64) {
	for index >= b.base+b.cap() && int(b.cap()) < b.width {
		b.grow(index)
	}
	if index-b.base >= 2*uint64(b.width) {
		clear(b.words)
		b.base = index&^63 + 64 - b.cap()
	}
	for index >= b.base+b.cap() {
		b.slide()
	}
}

func (b *bitmap) slide() {
	*b.word(b.base) = 0
	b.base += 64
}

func (b *bitmap) grow(index uint64) {
	n := max(1, 2*len(b.words))
	for n*64 < b.width && uint64(n)*64 <= index-b.base {
		n *= 2
	}
	n = min(n, b.width/64)
	old := *b
	b.words = make([]uint64, n)
	for i := old.base; i < old.base+old.cap(); i += 64 {
		*b.word(i) = *old.word(i)
	}
}
