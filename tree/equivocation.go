package tree

import (
	"time"

	"treecast/wire"
)

// maxReported is how many equivocations an owner are reported an hour
// (PROTOCOL §4 Duplicates); all are counted.
const maxReported = 16

// equivocated counts the reports of one owner in the running hour.
type equivocated struct {
	since time.Time
	n     int
}

// equivocation reports two valid chunks of one address.
func (c *Cohort) equivocation(now time.Time, k *check, out []Action) []Action {
	d := &c.data
	e := d.equivocated[k.owner]
	if e.since.IsZero() || now.Sub(e.since) >= time.Hour {
		e = equivocated{since: now}
	}
	if e.n >= maxReported {
		return out
	}
	if _, ok := d.equivocated[k.owner]; !ok && len(d.equivocated) >= d.feeds.most {
		return out
	}
	if d.equivocated == nil {
		d.equivocated = make(map[wire.Owner]equivocated)
	}
	e.n++
	d.equivocated[k.owner] = e
	r := &Equivocation{Owner: k.owner, ID: k.id, Second: k.sig}
	if f := d.feeds.get(&k.owner); k.indexed && f != nil && f.recall(k.index) != nil {
		r.First = f.recall(k.index).sig
	} else {
		r.First = d.seen.signature(k.address())
	}
	return append(out, Action{Kind: ActReport, Report: &Report{Kind: ReportEquivocation, Peer: k.peer, Equivocation: r}})
}
