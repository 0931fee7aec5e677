package tree_test

import (
	"fmt"
	"strings"
	"time"

	"treecast/tree"
	"treecast/wire"
)

// The functions of this file write actions and views as the transcripts show them.

func nodeName(o wire.Overlay) string { return strings.TrimRight(string(o[:]), "\x00") }

func ownerName(o []byte) string { return strings.TrimRight(string(o), "\x00") }

var (
	endCodes = map[tree.EndCode]string{
		tree.EndRefused: "refused", tree.EndReset: "reset", tree.EndSlow: "slow", tree.EndDone: "done",
	}
	receipts = map[tree.Receipt]string{
		tree.ReceiptDone: "done", tree.ReceiptDuplicate: "duplicate", tree.ReceiptInvalid: "invalid",
		tree.ReceiptNonCanonical: "noncanonical", tree.ReceiptEquivocation: "equivocation",
		tree.ReceiptNoBroker: "nobroker", tree.ReceiptTimeout: "timeout", tree.ReceiptBusy: "busy",
	}
	reports = map[tree.ReportKind]string{
		tree.ReportAttached: "attached", tree.ReportDetached: "detached", tree.ReportSpec: "spec",
		tree.ReportSpecConflict: "conflict", tree.ReportEquivocation: "equivocation", tree.ReportSlow: "slow",
		tree.ReportForged: "forged", tree.ReportRefused: "refused", tree.ReportLag: "lag", tree.ReportLeft: "left",
	}
	reasons = []string{
		wire.ReasonNone: "", wire.ReasonLeaving: "leaving", wire.ReasonDisplaced: "displaced",
	}
	levels = map[tree.QueueLevel]string{
		tree.QueueLow: "low", tree.QueueHigh: "high", tree.QueueOverflow: "overflow",
	}
)

func printAction(a *tree.Action) string {
	switch a.Kind {
	case tree.ActSend:
		return fmt.Sprintf("s%d send %s", a.Stream, printMessage(a.Body))
	case tree.ActForward:
		var w words
		w.add("s%d forward c%d", a.Stream, a.Chunk)
		w.addIf(a.Wait != 0, "wait=%v", a.Wait)
		return w.String()
	case tree.ActHurry:
		return fmt.Sprintf("s%d hurry", a.Stream)
	case tree.ActVerify:
		return fmt.Sprintf("verify c%d", a.Chunk)
	case tree.ActDeliver:
		if a.HasIndex {
			return fmt.Sprintf("deliver c%d index=%d", a.Chunk, a.Index)
		}
		return fmt.Sprintf("deliver c%d", a.Chunk)
	case tree.ActRelease:
		return fmt.Sprintf("release c%d", a.Chunk)
	case tree.ActDial:
		return printDial(a.Dial)
	case tree.ActCancel:
		return fmt.Sprintf("cancel d%d %s", a.Dial.ID, nodeName(a.Dial.Peer))
	case tree.ActEnd:
		return fmt.Sprintf("s%d end %s", a.Stream, endCodes[a.Code])
	case tree.ActBlame:
		return "blame " + nodeName(a.Peer)
	case tree.ActBlock:
		return "block " + nodeName(a.Peer)
	case tree.ActReceipt:
		return fmt.Sprintf("receipt r%d %s", a.Request, receipts[a.Receipt])
	case tree.ActPace:
		return map[bool]string{true: "pace hold", false: "pace go"}[a.Hold]
	case tree.ActReport:
		return printReport(a.Report)
	}
	return fmt.Sprintf("unknown action %d", a.Kind)
}

func printDial(d *tree.Dial) string {
	var w words
	w.add("dial d%d %s", d.ID, nodeName(d.Peer))
	first, err := wire.ParseFirst(d.Body)
	if err != nil || first.Subscribe == nil {
		return fmt.Sprintf("dial with a bad first frame: %v", err)
	}
	s := first.Subscribe
	w.addIf(s.HasBand, "band=%d", s.Band)
	w.addIf(s.Relays, "relays")
	w.addIf(s.Childless, "childless")
	w.addIf(s.Round > 0, "round=%d", s.Round)
	w.addIf(s.Named, "named")
	w.addIf(s.Displace, "displace")
	w.addIf(s.Version != 1, "version=%d", s.Version)
	w.addIf(d.Entry, "entry")
	for _, u := range d.Underlays {
		w.add("at=%s", u)
	}
	return w.String()
}

func printReport(r *tree.Report) string {
	var w words
	w.add("report %s", reports[r.Kind])
	w.addIf(r.Peer != wire.Overlay{}, "%s", nodeName(r.Peer))
	switch r.Kind {
	case tree.ReportAttached, tree.ReportDetached, tree.ReportSlow, tree.ReportForged, tree.ReportLag, tree.ReportSpecConflict:
		w.add("parents=%d", r.Parents)
	case tree.ReportRefused:
		w.add("%v", r.Status)
	case tree.ReportEquivocation:
		e := r.Equivocation
		w.add("owner=%s", ownerName(e.Owner[:]))
		w.add("first=%s second=%s", ownerName(e.First[:]), ownerName(e.Second[:]))
	}
	return w.String()
}

// printMessage decodes an Ack or a Broadcast: no Ack is one, as its field 1 is a number.
func printMessage(body []byte) string {
	if ack, err := wire.ParseAck(body); err == nil {
		return "ack " + printAck(&ack)
	}
	var b wire.Broadcast
	if err := b.Parse(body); err != nil {
		return "malformed: " + err.Error()
	}
	var w words
	switch b.Kind {
	case wire.KindProbe:
		p := &b.Probe
		w.add("probe depth=%d", p.Depth)
		if p.ID == 0 {
			return w.String() + " plain"
		}
		w.add("id=%d budget=%d hops=%d", p.ID, p.Budget, p.Hops)
		w.addIf(p.Up, "up")
		w.add("wait=%v", time.Duration(p.DeadlineMS)*time.Millisecond)
		w.addIf(p.BoundBand > 0, "bound=%d", p.BoundBand)
		w.addIf(p.HasAsker, "asker=%s", nodeName(p.Asker))
		w.addIf(p.Childless, "childless")
	case wire.KindReparent:
		w.add("reparent")
		w.addIf(len(b.Reparent.To) > 0, "to=%s", strings.TrimRight(string(b.Reparent.To), "\x00"))
		w.addIf(reasons[b.Reparent.Reason] != "", "%s", reasons[b.Reparent.Reason])
	case wire.KindFound:
		w.add("found id=%d%s", b.Found.ID, printCandidates(b.Found.Candidates))
	case wire.KindStandby:
		w.add("standby wait=%v", b.Standby.Wait())
	default:
		w.add("%v", b.Kind)
	}
	return w.String()
}

func printAck(a *wire.Ack) string {
	var w words
	w.add("%v", a.Status)
	w.addIf(a.HasBand, "band=%d", a.Band)
	w.addIf(a.Spec != nil, "spec")
	for _, h := range a.Heads {
		w.add("head=%s/%d", ownerName(h.Owner[:]), h.Index)
	}
	return w.String() + printCandidates(a.Candidates)
}

func printCandidates(list []wire.Candidate) string {
	var b strings.Builder
	for i := range list {
		c := &list[i]
		fmt.Fprintf(&b, " %s:%d", nodeName(c.Addr), c.Depth)
		if c.HasBand {
			fmt.Fprintf(&b, ":%d", c.Band)
		}
		if c.Displaces {
			b.WriteString("!")
		}
		for _, u := range c.Underlays {
			fmt.Fprintf(&b, "@%s", u)
		}
	}
	return b.String()
}

func printView(v tree.View) string {
	var w words
	w.add("band=%d", v.Band)
	w.addIf(v.Attached, "attached")
	w.addIf(v.Settled, "settled")
	w.addIf(v.Pinned, "pinned")
	w.addIf(v.Spec == nil, "nospec")
	w.addIf(v.Hold, "hold")
	for _, p := range v.Parents {
		kind := map[bool]string{true: "/foreign"}[p.Foreign] + map[bool]string{true: "/broker"}[p.Broker]
		w.add("parent=%s:%d%s(%d,%d)", nodeName(p.Peer), p.Band, kind, p.First, p.Second)
	}
	for _, c := range v.Children {
		w.add("child=%s:%d%s", nodeName(c.Peer), c.Band, map[bool]string{true: "/foreign"}[c.Foreign])
		w.addIf(c.Level != tree.QueueLow, "(%s)", levels[c.Level])
	}
	w.addIf(v.PendingJoins > 0, "pending=%d", v.PendingJoins)
	for _, h := range v.Heads {
		w.add("head=%s/%d", ownerName(h.Owner[:]), h.Index)
	}
	return w.String()
}

func printCounters(c tree.Counters) string {
	var w words
	for i, n := range c {
		w.addIf(n > 0, "%v=%d", tree.Counter(i), n)
	}
	w.addIf(c == tree.Counters{}, "none")
	return w.String()
}

// words joins with spaces.
type words struct{ list []string }

func (w *words) add(format string, args ...any) {
	w.list = append(w.list, fmt.Sprintf(format, args...))
}

func (w *words) addIf(ok bool, format string, args ...any) {
	if ok {
		w.add(format, args...)
	}
}

func (w *words) String() string { return strings.Join(w.list, " ") }
