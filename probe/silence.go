package probe

import (
	"slices"
	"time"
)

const (
	// maxSilent is how many probes a child of ours may leave unanswered, one after the
	// other, before it is passed over while others can be asked. A parent is not: it
	// may drop what climbs too fast.
	maxSilent = 2
	// silentFor is how long; then it is tried again.
	silentFor = 10 * time.Second
)

// A silence counts the probes that a link left unanswered until the search ended at
// its deadline. A sound node answers earlier, as it was given less time than that;
// one that does not is cut off, or mute, and takes walkers that others could use.
type silence struct {
	stream StreamID
	n      int
	last   time.Time
}

// unanswered notes what search se asked in vain.
func (s *Searches) unanswered(now time.Time, se *search) {
	for _, a := range se.asks {
		if a.id == 0 {
			continue // plain ones are counted with the foreigner
		}
		i := slices.IndexFunc(s.silences, func(x silence) bool { return x.stream == a.stream })
		if i < 0 {
			i = len(s.silences)
			s.silences = append(s.silences, silence{stream: a.stream})
		}
		s.silences[i].n++
		s.silences[i].last = now
	}
}

// spoke forgets the silence of a link, which has answered something or is gone.
func (s *Searches) spoke(stream StreamID) {
	s.silences = slices.DeleteFunc(s.silences, func(x silence) bool { return x.stream == stream })
}

// answering leaves out the children that are silent, unless all are.
func (s *Searches) answering(now time.Time, links []Link) []Link {
	if len(s.silences) == 0 {
		return links
	}
	silent := func(l Link) bool {
		return slices.ContainsFunc(s.silences, func(x silence) bool {
			return x.stream == l.Stream && x.n >= maxSilent && now.Sub(x.last) < silentFor
		})
	}
	if !slices.ContainsFunc(links, func(l Link) bool { return !silent(l) }) {
		return links
	}
	return slices.DeleteFunc(links, silent)
}
