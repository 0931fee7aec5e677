package node

import (
	"context"
	"encoding/hex"

	"github.com/libp2p/go-libp2p/core/network"

	"treecast/tree"
	"treecast/wire"
)

// act does one thing that the core asks for. A stream that the driver does not
// know any more has ended; the core hears of it with a later event.
func (l *loop) act(a *tree.Action) {
	switch a.Kind {
	case tree.ActForward:
		l.forward(a)
	case tree.ActHurry:
		if s := l.streams[a.Stream]; s != nil {
			l.push(s)
		}
	case tree.ActVerify:
		l.verify(a.Chunk, &a.ID)
	case tree.ActRelease:
		l.chunks.release(a.Chunk)
	case tree.ActSend:
		l.send(a)
	case tree.ActDial:
		l.dial(a.Dial)
	case tree.ActCancel:
		if cancel := l.dials[a.Dial.ID]; cancel != nil {
			cancel()
			delete(l.dials, a.Dial.ID)
		}
	case tree.ActEnd:
		if s := l.streams[a.Stream]; s != nil {
			l.finish(s, a.Code)
		}
	case tree.ActBlame:
		l.c.n.blamed(a.Peer)
	case tree.ActBlock:
		l.c.n.block(a.Peer)
	case tree.ActReceipt:
		if done := l.receipts[a.Request]; done != nil {
			delete(l.receipts, a.Request)
			l.settle(done, receiptError(a.Receipt))
		}
	case tree.ActPace:
		l.c.gate.set(a.Hold)
	case tree.ActReport:
		l.report(a.Report)
	default:
		panic("node: unknown action")
	}
}

// forward queues the frame of a chunk, the very bytes that came, to a child, or
// to a parent on its way up. One with a feed index goes down from where it is kept,
// so that frames which follow each other lie behind each other.
func (l *loop) forward(a *tree.Action) {
	s := l.streams[a.Stream]
	if s == nil {
		return
	}
	held := l.chunks.get(a.Chunk)
	var level tree.QueueLevel
	if s.inbound && l.indexed {
		level = s.out.pushPiece(l.lay(held))
	} else {
		if !s.inbound {
			s.up = l.now
		}
		level = s.out.push(held.buf.Retain())
	}
	if a.Wait > 0 && level == tree.QueueLow {
		l.hold(s, len(held.buf.Frame()), a.Wait)
	} else {
		l.push(s)
	}
	if level != s.told {
		l.levels = append(l.levels, s)
	}
}

// send queues a control frame, or the Ack of an inbound stream.
func (l *loop) send(a *tree.Action) {
	s := l.streams[a.Stream]
	if s == nil {
		return
	}
	if !s.out.pushControl(l.c.n.pool.Frame(a.Body)) {
		l.c.n.counts.add(countControlOverflow)
		l.levels = append(l.levels, s)
	}
	l.push(s)
	if s.inbound && !s.acked {
		s.acked = true
		if ack, err := wire.ParseAck(a.Body); err == nil && ack.Status == wire.StatusOK {
			l.attach(s)
		}
	}
}

// finish ends a stream as the core says.
func (l *loop) finish(s *stream, code tree.EndCode) {
	l.forget(s)
	switch {
	case l.gentle(s, code):
		s.refused.Store(true)
		s.out.finish()
		if l.c.leaving.on {
			l.c.leaving.last = append(l.c.leaving.last, s)
		}
	case code == tree.EndSlow:
		s.reset(codeSlow)
	default:
		s.reset(network.StreamNoError)
	}
}

// dial subscribes at a peer in a goroutine of its own.
func (l *loop) dial(d *tree.Dial) {
	c := l.c
	ctx, cancel := context.WithCancel(context.Background())
	l.dials[d.ID] = cancel
	req := dialRequest{peer: d.Peer, hints: d.Underlays, scope: l.hints[d.Peer], body: d.Body}
	id := d.ID
	c.wg.Go(func() { // ends with its timeouts, or when cancelled
		defer cancel()
		res := c.n.subscribe(ctx, c, &req)
		if !c.box.post(func() { l.dialled(id, &res) }) {
			res.drop()
		}
	})
}

// maxHintScopes bounds the candidates whose origin is remembered: far more than
// are dialled at a time.
const maxHintScopes = 64

// dialled brings the outcome of a dial to the core.
func (l *loop) dialled(id tree.DialID, res *dialResult) {
	if l.dials[id] == nil { // cancelled meanwhile
		res.drop()
		return
	}
	delete(l.dials, id)
	ev := tree.Dialled{Dial: id, Outcome: res.outcome, Ack: res.ack, Self: res.self}
	if res.ack != nil {
		if len(l.hints) >= maxHintScopes {
			clear(l.hints)
		}
		for _, cand := range res.ack.Candidates {
			l.hints[cand.Addr] = res.scope
		}
	}
	s := res.stream
	if s == nil {
		l.step(&ev)
		return
	}
	l.admit(s)
	l.attach(s)
	ev.Stream = s.id
	l.step(&ev)
	s.start() // also if the core ended it at once: reader and writer see that
	if !s.gone {
		l.noteHeads(s.overlay, res.ack)
	}
}

// report logs a change and wakes those who wait for one.
func (l *loop) report(r *tree.Report) {
	log := l.c.log.With("peer", r.Peer.String())
	switch r.Kind {
	case tree.ReportAttached:
		log.Info("parent gained", "parents", r.Parents)
		l.regroup = true
	case tree.ReportDetached:
		log.Info("parent lost", "parents", r.Parents)
		l.regroup = true
	case tree.ReportSpec:
		log.Info("spec known")
		l.regroup = true
	case tree.ReportSpecConflict:
		log.Warn("peer dropped: it echoes another spec")
	case tree.ReportEquivocation:
		e := r.Equivocation
		l.c.log.Warn("equivocation", "owner", e.Owner.String(), "id", hex.EncodeToString(e.ID[:]),
			"first", hex.EncodeToString(e.First[:]), "second", hex.EncodeToString(e.Second[:]))
	case tree.ReportSlow:
		l.c.log.Warn("this node is too slow for its parents: it goes on with one")
	case tree.ReportForged:
		log.Warn("parent dropped: it sent a forged chunk")
	case tree.ReportRefused:
		log.Info("entry point refused", "status", r.Status.String())
		l.c.refusal.Store(&AckError{Peer: r.Peer, Status: r.Status})
	case tree.ReportLag:
		log.Warn("parent lags behind the other: looking for one in its place", "parents", r.Parents)
	case tree.ReportLeft:
		l.departed()
	}
	l.c.changes.bump()
	if fn, r := l.c.onReport, *r; fn != nil && !l.c.notifier.report(func() { fn(r) }) {
		l.c.n.counts.add(countReportsDropped)
	}
}
