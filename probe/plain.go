package probe

import "time"

// A foreigner is a foreign child that plain probes were sent to. Its answers
// carry no id and come in order.
type foreigner struct {
	stream  StreamID
	search  uint64 // the search that waits for its answer; 0 = none
	until   time.Time
	owed    int // answers that nobody waits for any more
	ignored int // probes it left unanswered
}

// maxIgnored is how many plain probes a child may ignore before it is left alone.
const maxIgnored = 2

func (s *Searches) foreigner(stream StreamID) *foreigner {
	for i := range s.foreign {
		if s.foreign[i].stream == stream {
			return &s.foreign[i]
		}
	}
	return nil
}

// inOrder answers the plain probes that came over the stream of se before it,
// with what they have: those of search numbers below i. Nothing but the order
// tells a prober which answer is whose.
func (s *Searches) inOrder(se *search, i int, out []Action) []Action {
	if se.from == 0 || se.reply != 0 {
		return out
	}
	stream := se.from // se may be moved
	for j := 0; j < i; {
		if old := &s.active[j]; old.from != stream || old.reply != 0 {
			j++
			continue
		}
		old := s.forget(j)
		out = s.answer(&old, out)
		i--
	}
	return out
}

// askForeign sends plain probes for the search key to the foreign children that
// can be asked, and says whether there was any.
func (s *Searches) askForeign(now time.Time, key uint64, se *search, links []Link, out []Action) ([]Action, bool) {
	asked := false
	for i := range links {
		l := &links[i]
		if !l.Foreign || l.Stream == se.from || l.Rank.Overlay == se.asker.Peer {
			continue // not back to where it came from, nor below the asker itself
		}
		f := s.foreigner(l.Stream)
		if f == nil {
			s.foreign = append(s.foreign, foreigner{stream: l.Stream})
			f = &s.foreign[len(s.foreign)-1]
		}
		if f.search != 0 || f.ignored >= maxIgnored {
			continue
		}
		f.search, f.until = key, now.Add(s.cfg.PlainWait)
		if se.until.Before(f.until) {
			f.until = se.until
		}
		se.asks = append(se.asks, ask{l.Stream, 0})
		out = append(out, Action{Stream: l.Stream, Body: plainProbe(se.depth)})
		asked = true
	}
	return out, asked
}
