package order

import (
	"slices"
	"time"

	"treecast/wire"
)

const (
	// steady is how many chunks the parents must have sent lately for a silence
	// to mean anything.
	steady = 8
	// maxSilence is how long a silence may get before it is asked about; one that
	// is short beside the pace of the chunks is not asked about, see quiet.
	maxSilence = 2 * time.Second
	// tailWidth is how many indices behind the last one are asked for.
	tailWidth = 64
	// firstRest and maxRest are how long nothing is asked after a silence that was
	// none of the parents' fault, at first and after many: chunks may well come in
	// bursts.
	firstRest = time.Second
	maxRest   = 8 * time.Second
	// maxGrace is how long a parent that has newer chunks may take to send them.
	maxGrace = time.Second
	// helpWait, or 4 round trips, is how long all parents may be without an answer
	// before an entry point is asked too, and muteWait, or 8, before they count as
	// gone.
	helpWait = 100 * time.Millisecond
	muteWait = 400 * time.Millisecond
)

// A tail watches over the newest index. A gap shows that a chunk is missing; when
// all parents fall silent at once there is no gap. So when chunks came at some
// pace and then none does, each parent is asked once, for what lies behind the
// newest index of that feed. One that has it, and still does not send it by
// itself, withholds. If none of them answers at all, they are as mute as they
// seem, and an entry point is asked meanwhile.
//
// A silence is asked about once: then an idle cohort is idle.
type tail struct {
	times  [steady]time.Time // of the newest chunks that parents sent, a ring
	n      uint64            // such chunks so far
	owner  wire.Owner        // of the newest
	asked  []tailAsked       // requests of this silence
	since  time.Time         // when they were made
	silent uint64            // n then
	judge  time.Time         // when those that have newer chunks are judged; zero: none has
	help   time.Time         // when an entry point is asked, while nobody has answered; zero: no more
	mute   time.Time         // when those who have not answered are given up; zero: somebody has
	rest   time.Duration     // after the next question
	before time.Time         // nothing is asked earlier
}

// tailAsked is a request about a silence.
type tailAsked struct {
	id   RequestID
	to   wire.Overlay
	from uint64
	has  bool // an answer brought what lies behind the newest index
}

// heard notes a chunk that a parent sent by itself.
func (t *tail) heard(now time.Time, owner *wire.Owner) {
	t.times[t.n%steady] = now
	t.n++
	t.owner = *owner
}

// quiet is when the silence is to be asked about; zero: never. It is eight times
// as long as the chunks were apart, but at least wait.
func (t *tail) quiet(wait time.Duration) time.Time {
	if t.n < steady || t.n == t.silent {
		return time.Time{}
	}
	last, first := t.times[(t.n-1)%steady], t.times[t.n%steady]
	apart := last.Sub(first) / (steady - 1)
	silence := max(8*apart, wait)
	if silence > maxSilence {
		return time.Time{} // too slow a pace to tell
	}
	if at := last.Add(silence); at.After(t.before) {
		return at
	}
	return t.before
}

// askTail asks the parents about a silence that has become long.
func (o *Feeds) askTail(now time.Time, out []Action) []Action {
	t := &o.tail
	at := t.quiet(o.cfg.Wait)
	if at.IsZero() || now.Before(at) || len(o.parents) == 0 {
		return out
	}
	t.silent, t.since, t.asked, t.judge = t.n, now, t.asked[:0], time.Time{}
	t.rest = min(max(2*t.rest, firstRest), maxRest)
	t.before = now.Add(t.rest)
	t.help, t.mute = time.Time{}, time.Time{}
	f := o.get(&t.owner)
	if f == nil || o.cfg.Root {
		return out
	}
	var far time.Duration
	for _, p := range o.parents {
		far = max(far, p.RTT)
		if slices.ContainsFunc(o.asked, func(a asking) bool { return a.to == p.Peer }) {
			continue // its answer to that will do
		}
		out = o.question(f, p.Peer, out)
		t.asked = append(t.asked, tailAsked{id: o.lastRequest, to: p.Peer, from: f.end})
	}
	if len(t.asked) > 0 {
		t.help = now.Add(max(helpWait, 4*far) + time.Duration(o.cfg.Rand.Int64N(int64(helpWait))))
		t.mute = now.Add(max(muteWait, 8*far))
	}
	return out
}

// question asks one peer for what lies behind the newest index of a feed.
func (o *Feeds) question(f *feed, to wire.Overlay, out []Action) []Action {
	o.lastRequest++
	span := wire.IndexRange{From: f.end, To: f.end + tailWidth - 1}
	o.asked = append(o.asked, asking{o.lastRequest, to, f.owner, span})
	return append(out, Action{Kind: ActAsk, Request: o.lastRequest, To: to, Owner: f.owner, Range: span})
}

// tailAnswered takes an answer about a silence. Newer chunks may have been on
// their way, so a parent that has some gets as long as the answer took, and more.
func (o *Feeds) tailAnswered(now time.Time, ev *Answered) {
	t := &o.tail
	i := slices.IndexFunc(t.asked, func(a tailAsked) bool { return a.id == ev.Request })
	if i < 0 || ev.End == nil {
		return
	}
	t.help, t.mute = time.Time{}, time.Time{}
	if t.n != t.silent {
		return
	}
	a := &t.asked[i]
	f := o.get(&t.owner)
	if v, _ := judge(ev.End, a.from); v == unsaid && f != nil && f.end > a.from {
		a.has = true
		if t.judge.IsZero() {
			t.judge = now.Add(min(2*now.Sub(t.since)+o.cfg.Wait/2, maxGrace))
		}
	}
}

// judgeTail names the parents that have what they do not send, or that have not
// said a word.
func (o *Feeds) judgeTail(now time.Time, out []Action) []Action {
	t := &o.tail
	if t.n != t.silent { // there are chunks again
		t.help, t.mute, t.judge = time.Time{}, time.Time{}, time.Time{}
		return out
	}
	if passed(t.help, now) {
		t.help = time.Time{}
		if f := o.get(&t.owner); f != nil && o.entry && !slices.ContainsFunc(o.asked, func(a asking) bool { return a.to == wire.Overlay{} }) {
			out = o.question(f, wire.Overlay{}, out)
		}
	}
	mute, withheld := passed(t.mute, now), passed(t.judge, now)
	if !mute && !withheld {
		return out
	}
	for _, a := range t.asked {
		if a.has || mute {
			t.rest, t.before = 0, time.Time{}
			out = append(out, Action{Kind: ActWithheld, To: a.to})
		}
	}
	t.help, t.mute, t.judge, t.asked = time.Time{}, time.Time{}, time.Time{}, t.asked[:0]
	return out
}

// passed says whether a time that is set has come.
func passed(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// tailDeadline is when the tail wants to be looked at; zero: never.
func (o *Feeds) tailDeadline() (d time.Time) {
	if o.cfg.Root || len(o.parents) == 0 {
		return d
	}
	t := &o.tail
	d = t.quiet(o.cfg.Wait)
	for _, at := range [...]time.Time{t.help, t.mute, t.judge} {
		if !at.IsZero() {
			d = earlier(d, at)
		}
	}
	return d
}
