package probe

// A share is a part of a budget on its way to one link.
type share struct {
	link   *Link
	budget int
	up     bool
}

// split deals budget walkers over the links at random: each walker climbs with
// probability one half where it may, and those that descend are spread as
// evenly as they go, so that a budget of at least the number of children is
// the full wave (PROTOCOL §5 Walkers).
func (s *Searches) split(budget int, down, up []Link) []share {
	climb := 0
	switch {
	case len(up) == 0:
	case len(down) == 0:
		climb = budget
	default:
		for range budget {
			climb += s.cfg.Rand.IntN(2)
		}
	}
	shares := s.shares[:0]
	shares = s.deal(shares, climb, up, true)
	shares = s.deal(shares, budget-climb, down, false)
	s.shares = shares[:0]
	return shares
}

// deal spreads n walkers over links, starting at a random order of them.
func (s *Searches) deal(to []share, n int, links []Link, up bool) []share {
	if n == 0 || len(links) == 0 {
		return to
	}
	order := s.order[:0]
	for i := range links {
		order = append(order, i)
	}
	s.order = order
	for i := range min(n, len(order)) {
		j := i + s.cfg.Rand.IntN(len(order)-i)
		order[i], order[j] = order[j], order[i]
		b := n / len(order)
		if i < n%len(order) {
			b++
		}
		to = append(to, share{&links[order[i]], b, up})
	}
	return to
}
