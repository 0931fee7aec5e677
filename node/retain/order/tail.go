package order

import (
	"slices"
	"time"

	"treecast/wire"
)

const (
	// steady is how many chunks the parents must have sent for a silence to mean
	// anything.
	steady = 8
	// minSilence is how long a silence must be to be asked about, however dense the
	// chunks came before, and maxSilence is how long it may get, however much their
	// distances varied. Eight times the mean distance must be less, or no silence is
	// asked about: it would say nothing.
	minSilence = 40 * time.Millisecond
	maxSilence = 2 * time.Second
	// fade is how fast the widest distance between chunks is forgotten: half of it in
	// about two thirds of that time, but by one part in fadeChunks a chunk at most.
	fade       = 4 * time.Second
	fadeChunks = 32
	// tailWidth is how many indices behind the last one are asked for.
	tailWidth = 64
	// maxGrace is how long a parent that has newer chunks may take to send them.
	maxGrace = time.Second
	// helpWait, or 4 round trips, and up to helpWait more by chance, is how long all
	// parents may be without an answer before an entry point is asked too, and
	// muteWait, or 8 round trips, before they count as gone.
	helpWait = 5 * time.Millisecond
	muteWait = 400 * time.Millisecond
	// hurry is how long after all parents were lost and there is one again a gap is
	// left to nobody: what lies between is missing, and no other parent had it.
	hurry = 2 * time.Second
)

// A tail watches over the newest index. A gap shows that a chunk is missing; when
// all parents fall silent at once there is no gap. So when chunks came at some
// pace and then none does, each parent is asked once, for what lies behind the
// newest index of that feed. One that has it, and still does not send it by
// itself, withholds. If none of them answers at all, they are as mute as they
// seem, and an entry point is asked instead, see poll.
//
// A silence is asked about once: then an idle cohort is idle.
type tail struct {
	times  [steady]time.Time // of the newest chunks that parents sent, a ring
	spread time.Duration     // the widest distance between two of them, which fades
	n      uint64            // such chunks so far
	owner  wire.Owner        // of the newest

	silent uint64      // n when the newest silence was asked about
	fault  bool        // it was not the publisher's: somebody had newer chunks, or nobody was left
	since  time.Time   // when the parents were asked, or lost
	from   uint64      // the first index behind the newest one of owner's feed then
	asked  []tailAsked // requests that nothing followed yet
	judge  time.Time   // when those that have newer chunks are judged; zero: none has
	help   time.Time   // when an entry point is asked, while nobody has answered; zero: no more
	mute   time.Time   // when those who have not answered are given up; zero: somebody is there

	poll poll
}

// tailAsked is a request about a silence.
type tailAsked struct {
	id  RequestID
	to  wire.Overlay
	gap bool // it was for a gap; that it is answered will do
	has bool // the answer brought what lies behind the newest index
}

// heard notes a chunk that a parent sent by itself. A silence is over with it.
func (t *tail) heard(now time.Time, owner *wire.Owner) {
	if t.n > 0 {
		apart := now.Sub(t.last())
		if t.n == t.silent && t.fault { // it says nothing of the pace
			for i := range t.times {
				t.times[i] = t.times[i].Add(apart)
			}
			apart = 0
		}
		t.spread = max(t.spread-faded(t.spread, apart), min(apart, maxSilence/2))
	}
	if t.n == t.silent {
		t.asked = t.asked[:0]
		t.judge, t.help, t.mute = time.Time{}, time.Time{}, time.Time{}
		t.poll.stop()
	}
	t.times[t.n%steady] = now
	t.n++
	t.owner = *owner
}

// faded is how much of the spread a chunk makes forget that came so long after the
// one before.
func faded(spread, apart time.Duration) time.Duration {
	return min(time.Duration(float64(spread)*float64(apart)/float64(fade)), spread/fadeChunks)
}

// last is when the newest chunk came; there has been one.
func (t *tail) last() time.Time { return t.times[(t.n-1)%steady] }

// apart is the mean distance of the newest chunks; there have been steady ones.
func (t *tail) apart() time.Duration { return t.last().Sub(t.times[t.n%steady]) / (steady - 1) }

// quiet is when the silence is to be asked about; zero: never. It is twice as
// long as the widest distance between chunks lately, and as the mean.
func (t *tail) quiet() time.Time {
	if t.n < steady || t.n == t.silent {
		return time.Time{}
	}
	apart := t.apart()
	if 8*apart > maxSilence {
		return time.Time{} // too slow a pace to tell
	}
	return t.last().Add(max(minSilence, 2*apart, 2*t.spread))
}

// askTail asks the parents about a silence that has become long.
func (o *Feeds) askTail(now time.Time, out []Action) []Action {
	t := &o.tail
	at := t.quiet()
	if at.IsZero() || now.Before(at) || len(o.parents) == 0 {
		return out
	}
	t.silent, t.fault = t.n, false
	return o.askParents(now, append(out, Action{Kind: ActSilence}))
}

// askParents asks each parent what lies behind the newest index.
func (o *Feeds) askParents(now time.Time, out []Action) []Action {
	t := &o.tail
	f := o.get(&t.owner)
	if f == nil || o.cfg.Root {
		return out
	}
	t.since, t.from, t.asked, t.judge = now, f.end, t.asked[:0], time.Time{}
	var far time.Duration
	for _, p := range o.parents {
		far = max(far, p.RTT)
		if i := slices.IndexFunc(o.asked, func(a asking) bool { return a.to == p.Peer }); i >= 0 {
			t.asked = append(t.asked, tailAsked{id: o.asked[i].id, to: p.Peer, gap: true})
			continue
		}
		out = o.question(f, p.Peer, out)
		t.asked = append(t.asked, tailAsked{id: o.lastRequest, to: p.Peer})
	}
	t.help = time.Time{}
	if !t.poll.on {
		t.help = now.Add(max(helpWait, 4*far) + o.chance(helpWait))
	}
	t.mute = now.Add(max(muteWait, 8*far))
	return out
}

// question asks one peer for what lies behind the newest index of a feed.
func (o *Feeds) question(f *feed, to wire.Overlay, out []Action) []Action {
	o.lastRequest++
	span := wire.IndexRange{From: f.end, To: f.end + tailWidth - 1}
	o.asked = append(o.asked, asking{o.lastRequest, to, f.owner, span})
	return append(out, Action{Kind: ActAsk, Request: o.lastRequest, To: to, Owner: f.owner, Range: span})
}

// chance is a random duration up to d.
func (o *Feeds) chance(d time.Duration) time.Duration {
	return time.Duration(o.cfg.Rand.Int64N(int64(d) + 1))
}

// tailAnswered takes an answer about a silence. Newer chunks may have been on
// their way, so a parent that has some gets as long as the answer took, and more.
// One that refuses to answer is there: nobody is mute then.
func (o *Feeds) tailAnswered(now time.Time, ev *Answered) {
	t := &o.tail
	i := slices.IndexFunc(t.asked, func(a tailAsked) bool { return a.id == ev.Request })
	if i < 0 || ev.End == nil && !ev.Refused {
		return
	}
	t.mute = time.Time{}
	if ev.End == nil {
		return
	}
	t.help = time.Time{}
	a := &t.asked[i]
	f := o.get(&t.owner)
	if v, _ := judge(ev.End, t.from); v != unsaid || a.gap || f.end <= t.from {
		t.poll.stop() // it waits for the same chunks, and passes them on
		return
	}
	a.has, t.fault = true, true
	if t.judge.IsZero() {
		t.judge = now.Add(min(2*now.Sub(t.since)+o.cfg.Wait/2, maxGrace))
	}
}

// sent takes a copy of a chunk that a parent sent by itself. If it lies behind the
// newest one of before the silence, a recovery was only faster.
func (o *Feeds) sent(now time.Time, ev *Sent) {
	t := &o.tail
	if o.Watching() && ev.Owner == t.owner && ev.Index >= t.from && o.source(ev.From) != nil {
		t.heard(now, &ev.Owner)
	}
}

// Watching says whether copies that parents send are worth a [Sent]: while they
// are asked about a silence. Then chunks that they send may be here already, as
// others were asked for them too.
func (o *Feeds) Watching() bool {
	t := &o.tail
	return t.n == t.silent && (len(t.asked) > 0 || t.poll.on)
}

// judgeTail names the parents that have what they do not send, or that have not
// said a word. Where none is left, an entry point helps out.
func (o *Feeds) judgeTail(now time.Time, out []Action) []Action {
	t := &o.tail
	if passed(t.help, now) {
		t.help = time.Time{}
		o.startPoll(now)
	}
	mute, withheld := passed(t.mute, now), passed(t.judge, now)
	if !mute && !withheld {
		return out
	}
	named := 0
	for _, a := range t.asked {
		if a.has || mute {
			named++
			out = o.giveUp(a.id, out)
			out = append(out, Action{Kind: ActWithheld, To: a.to})
		}
	}
	if named >= len(o.parents) {
		t.fault = true
		o.startPoll(now)
	}
	t.help, t.mute, t.judge, t.asked = time.Time{}, time.Time{}, time.Time{}, t.asked[:0]
	return out
}

// giveUp has the driver end a request that may be outstanding: its answer is not
// waited for, but comes.
func (o *Feeds) giveUp(id RequestID, out []Action) []Action {
	if slices.ContainsFunc(o.asked, func(a asking) bool { return a.id == id }) {
		out = append(out, Action{Kind: ActGiveUp, Request: id})
	}
	return out
}

// bereft is for when the last parent is lost, for whatever reason: if chunks were
// flowing, an entry point helps out until there is another.
func (o *Feeds) bereft(now time.Time) {
	t := &o.tail
	t.help, t.mute, t.judge, t.asked = time.Time{}, time.Time{}, time.Time{}, t.asked[:0]
	f := o.get(&t.owner)
	if t.n < steady || f == nil || t.poll.on || now.Sub(t.last()) > maxSilence {
		return
	}
	t.since, t.from, t.silent, t.fault = now, f.end, t.n, true
	o.startPoll(now.Add(o.chance(helpWait)))
}

// passed says whether a time that is set has come.
func passed(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// tailDeadline is when the tail wants to be looked at; zero: never.
func (o *Feeds) tailDeadline() (d time.Time) {
	t := &o.tail
	d = earlier(t.poll.at, t.poll.until)
	if o.cfg.Root || len(o.parents) == 0 {
		return d
	}
	d = earlier(d, t.quiet())
	return earlier(earlier(d, t.help), earlier(t.mute, t.judge))
}
