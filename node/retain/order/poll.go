package order

import (
	"bytes"
	"slices"
	"time"

	"treecast/wire"
)

const (
	// pollWait is the wait between the rounds of a poll. After denseRounds, which is
	// longer than a tree takes to mend, it grows by a quarter a round, and it doubles
	// after a failure, up to maxPollWait.
	pollWait    = 40 * time.Millisecond
	denseRounds = 60
	maxPollWait = time.Second
	// polls bounds the requests of one poll, and dryPolls the rounds in a row that
	// bring nothing.
	polls    = 84
	dryPolls = 3
	// pollPatience is how long an entry point may take to answer, at first; it
	// doubles after a failure up to maxPatience.
	pollPatience = 500 * time.Millisecond
	maxPatience  = 4 * time.Second
)

// A poll asks an entry point, again and again, for what the parents do not send,
// so that the application need not wait until the tree has mended: there are no
// parents, or none that says a word. It ends when a parent sends something again,
// when nothing newer comes, and after so many requests.
//
// A round is one request for each feed that was flowing before the silence. The
// waits vary by chance, as whatever silenced the parents silenced them for others too.
type poll struct {
	on      bool
	silence uint64    // how many chunks had come before the silence that it is for
	spent   bool      // it ended by itself: once is enough for a silence
	at      time.Time // of the next request; zero while one is outstanding
	request RequestID // outstanding; 0 = none
	until   time.Time // when it is given up; it may outlive the poll

	wait     time.Duration // before the next round
	patience time.Duration // with one request
	left     int           // requests
	rounds   int           // so far
	dry      int           // of them, the newest in a row that brought nothing
	failed   bool          // the last request did

	round   bool       // one is under way: last, end and brought count
	last    wire.Owner // whose feed was asked for last
	end     uint64     // of that feed then
	more    bool       // it has more than one answer holds
	brought bool       // newer chunks came
}

func (p *poll) stop() { p.on, p.at = false, time.Time{} }

// startPoll begins a poll at a time, unless one is under way.
func (o *Feeds) startPoll(at time.Time) {
	t := &o.tail
	p := &t.poll
	if p.on || p.spent && p.silence == t.n || !o.entry && len(o.parents) == 0 {
		return
	}
	*p = poll{
		on: true, silence: t.n, at: at, request: p.request, until: p.until,
		wait: min(max(pollWait, t.apart()), maxPollWait), patience: pollPatience, left: polls,
	}
}

// pollDue makes the request that is due, and gives up one that takes too long.
func (o *Feeds) pollDue(now time.Time, out []Action) []Action {
	p := &o.tail.poll
	if passed(p.until, now) {
		p.until = time.Time{}
		out = o.giveUp(p.request, out)
	}
	if !passed(p.at, now) {
		return out
	}
	f := o.flowing()
	if f == nil || p.left == 0 {
		p.stop()
		p.spent = true
		return out
	}
	p.left--
	if !o.entry || slices.ContainsFunc(o.asked, func(a asking) bool { return a.to == wire.Overlay{} }) {
		p.at = now.Add(p.wait) // all of them are parents still, or one is asked about a gap
		return out
	}
	out = o.question(f, wire.Overlay{}, out)
	out[len(out)-1].Same = !p.failed
	p.request, p.at, p.until = o.lastRequest, time.Time{}, now.Add(p.patience)
	p.round, p.last, p.end, p.more = true, f.owner, f.end, false
	return out
}

// flowing is the feed to ask for next: the last one if there is more of it, else the
// next of which parents sent something shortly before the silence; nil: none.
func (o *Feeds) flowing() *feed {
	p := &o.tail.poll
	if p.more {
		return o.get(&p.last)
	}
	edge := o.tail.since.Add(-2 * maxSilence)
	for _, f := range o.list {
		if f.sent.After(edge) && !(p.round && bytes.Compare(f.owner[:], p.last[:]) <= 0) {
			return f
		}
	}
	return nil
}

// pollAnswered goes on after an answer: with the next request of the round, or after
// a wait with the next round.
func (o *Feeds) pollAnswered(now time.Time, ev *Answered, out []Action) []Action {
	t := &o.tail
	p := &t.poll
	if ev.Request != p.request {
		return out
	}
	p.request, p.until = 0, time.Time{}
	if !p.on || !p.round { // it was a poll's before this one
		return out
	}
	if p.failed = ev.End == nil; p.failed {
		p.wait, p.patience = min(2*p.wait, maxPollWait), min(2*p.patience, maxPatience)
		p.at, p.round = now.Add(o.around(p.wait)), false
		return out
	}
	end := o.get(&p.last).end
	if end > p.end {
		p.brought, t.fault = true, true
	}
	p.more = end >= p.end+tailWidth
	if p.more || o.flowing() != nil {
		p.at = now
		return o.pollDue(now, out)
	}
	return o.pollRound(now, out)
}

// pollRound ends a round and plans the next. Parents that were gained meanwhile,
// and send nothing of what the poll brings, are asked like those before them.
func (o *Feeds) pollRound(now time.Time, out []Action) []Action {
	t := &o.tail
	p := &t.poll
	brought := p.brought
	p.round, p.brought = false, false
	if p.dry++; brought {
		p.dry = 0
	}
	if p.dry == dryPolls {
		p.stop()
		p.spent = true
		return out
	}
	p.at = now.Add(o.around(p.wait))
	if p.rounds++; p.rounds >= denseRounds {
		p.wait = min(p.wait+p.wait/4, maxPollWait)
	}
	if brought && len(o.parents) > 0 && len(t.asked) == 0 && now.Sub(o.regrouped) >= o.cfg.Wait && now.Sub(t.since) >= maxGrace {
		return o.askParents(now, out)
	}
	return out
}

// around is d, a quarter more or less by chance.
func (o *Feeds) around(d time.Duration) time.Duration { return d - d/4 + o.chance(d/2) }
