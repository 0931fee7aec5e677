package follow

import (
	"time"

	"treecast/node/retain"
	"treecast/wire/beef"
)

const (
	// recentPairs and recentAge bound what a follower remembers of the objects that
	// it has given out, so that one through two ingresses comes once (PROTOCOL §7
	// Duplicate submissions).
	recentPairs = 1 << 16
	recentAge   = 10 * time.Minute
	// primed is how many chunks of each feed, the newest below the position, are
	// looked at for what a name had before.
	primed = 2048
)

// recent is that memory; the oldest leave first.
type recent struct {
	since map[pair]time.Time
	order []pair // from first on
	first int
}

func newRecent() recent { return recent{since: make(map[pair]time.Time)} }

// add remembers a pair; false if it is remembered.
func (r *recent) add(now time.Time, key pair) bool {
	for r.first < len(r.order) && (len(r.order)-r.first >= recentPairs || now.Sub(r.since[r.order[r.first]]) > recentAge) {
		delete(r.since, r.order[r.first])
		r.first++
	}
	if r.first > len(r.order)/2 {
		r.order = r.order[:copy(r.order, r.order[r.first:])]
		r.first = 0
	}
	if _, ok := r.since[key]; ok {
		return false
	}
	r.since[key] = now
	r.order = append(r.order, key)
	return true
}

// prime remembers the elected objects among the newest chunks that are done with: a
// second copy of one may be about to come.
func (f *Follower) prime(fd *feed) error {
	now := time.Now()
	for from := max(fd.cursor.Next-min(fd.cursor.Next, primed), fd.cursor.From); from < fd.cursor.Next; {
		next, err := fd.reading.source.Read(fd.owner, from, min(fd.cursor.Next, from+look)-1, &f.page)
		if err != nil {
			return err
		}
		for i := range f.page.Chunks {
			if c := &f.page.Chunks[i]; fd.cursor.Has(c.Index) {
				f.remember(now, c)
			}
		}
		from = next
	}
	return nil
}

// remember notes the object of a chunk, if the chunk shows that it is elected.
func (f *Follower) remember(now time.Time, c *retain.Chunk) {
	payload, ok := payloadOf(c.Msg)
	version, err := beef.FrameVersion(payload)
	if !ok || err != nil {
		return
	}
	var offer beef.Offer
	var key pair
	if version == beef.FrameVerFragment {
		frag, err := beef.ParseFragment(payload)
		if err != nil {
			return
		}
		if offer, ok = beef.OfferOfFragment(&frag); !ok {
			return
		}
		key = pairOf(frag.ContentID, frag.TopicID)
	} else {
		frame, err := beef.ParseFrame(payload)
		if err != nil {
			return
		}
		if offer, err = beef.OfferOf(&frame); err != nil {
			return
		}
		key = pairOf(frame.ContentID, frame.TopicID)
	}
	if f.elections.Wants(&offer) {
		f.seen.add(now, key)
	}
}
