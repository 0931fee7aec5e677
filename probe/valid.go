package probe

import (
	"fmt"
	"slices"
)

// valid checks the invariants of search and of Searches; tests call it after
// each call.
func (s *Searches) valid() error {
	if len(s.keys) != len(s.active) || !slices.IsSorted(s.keys) {
		return fmt.Errorf("probe: %d searches under the keys %v", len(s.active), s.keys)
	}
	origins, asked := 0, map[ask]bool{}
	for i := range s.active {
		se := &s.active[i]
		if len(se.asks) == 0 {
			return fmt.Errorf("probe: search %d waits for nobody", s.keys[i])
		}
		for _, a := range se.asks {
			if a.id != 0 && asked[a] {
				return fmt.Errorf("probe: probe %d on stream %d twice", a.id, a.stream)
			}
			asked[a] = true
		}
		if se.n == 2 && (se.best[0].Addr == se.best[1].Addr || worse(&se.best[0], &se.best[1]) > 0) {
			return fmt.Errorf("probe: search %d keeps %v and %v", s.keys[i], se.best[0], se.best[1])
		}
		if se.from == 0 {
			origins++
		}
		served := 0
		for j := range s.active {
			if s.active[j].from == se.from {
				served++
			}
		}
		if se.from != 0 && served > s.cfg.PerStream {
			return fmt.Errorf("probe: %d searches for stream %d", served, se.from)
		}
	}
	if origins != s.origins || origins > s.cfg.Origins {
		return fmt.Errorf("probe: %d searches begun here, counted as %d", origins, s.origins)
	}
	for i := range s.foreign {
		if f := &s.foreign[i]; f.owed < 0 || f.ignored < 0 || f.ignored > maxIgnored {
			return fmt.Errorf("probe: foreign child %d owes %d answers and ignored %d", f.stream, f.owed, f.ignored)
		}
	}
	for i, x := range s.silences {
		if x.n < 1 || slices.ContainsFunc(s.silences[:i], func(y silence) bool { return y.stream == x.stream }) {
			return fmt.Errorf("probe: stream %d silent %d times, or counted twice", x.stream, x.n)
		}
	}
	next := s.next
	if s.reckon(); !s.next.Equal(next) {
		return fmt.Errorf("probe: deadline %v, reckoned %v", next, s.next)
	}
	return nil
}
