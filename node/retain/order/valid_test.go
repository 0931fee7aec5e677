package order

import "fmt"

// Valid checks the invariants of Feeds.
func (o *Feeds) Valid() error {
	if len(o.list) > o.cfg.Owners {
		return fmt.Errorf("%d feeds", len(o.list))
	}
	bytes, gaps := 0, 0
	for i, f := range o.list {
		if i > 0 && string(o.list[i-1].owner[:]) >= string(f.owner[:]) {
			return fmt.Errorf("feeds out of order")
		}
		sum, err := f.valid(o)
		if err != nil {
			return fmt.Errorf("feed %x: %w", f.owner[:2], err)
		}
		bytes += sum
		gaps += len(f.gaps)
	}
	if bytes != o.bytes || bytes > o.cfg.HoldBytes {
		return fmt.Errorf("%d bytes held, counted %d", bytes, o.bytes)
	}
	if gaps != o.gaps {
		return fmt.Errorf("%d gaps, counted %d", gaps, o.gaps)
	}
	for i, a := range o.asked {
		for _, b := range o.asked[:i] {
			if a.to == b.to {
				return fmt.Errorf("two requests at %x", a.to[:2])
			}
		}
	}
	return nil
}

func (f *feed) valid(o *Feeds) (bytes int, err error) {
	if len(f.gaps) > o.cfg.Gaps {
		return 0, fmt.Errorf("%d gaps", len(f.gaps))
	}
	if f.next > f.end {
		return 0, fmt.Errorf("next %d above end %d", f.next, f.end)
	}
	for i, g := range f.gaps {
		if g.from > g.to || g.to >= f.end || i > 0 && g.from <= f.gaps[i-1].to {
			return 0, fmt.Errorf("gap %d..%d", g.from, g.to)
		}
	}
	held := make(map[uint64]bool)
	last := f.next
	for _, h := range f.held[f.first:] {
		if h.index <= last || h.index >= f.end {
			return 0, fmt.Errorf("held %d, next %d, end %d", h.index, f.next, f.end)
		}
		if _, ok := f.gapAt(h.index); ok {
			return 0, fmt.Errorf("%d is held and missing", h.index)
		}
		last = h.index
		held[h.index] = true
		bytes += h.size
	}
	if bytes != f.bytes {
		return 0, fmt.Errorf("%d bytes held, counted %d", bytes, f.bytes)
	}
	for index := f.next; index < f.end; index++ {
		if i, ok := f.gapAt(index); ok {
			index = f.gaps[i].to
		} else if !held[index] {
			return 0, fmt.Errorf("%d is neither held nor missing", index)
		}
	}
	if _, ok := f.oldest(); ok != (len(held) > 0) {
		return 0, fmt.Errorf("%d held, waiting: %v", len(held), ok)
	}
	return bytes, nil
}
