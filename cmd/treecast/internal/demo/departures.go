package demo

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	// healPatience is how long the next departure waits for the children of the
	// last cut.
	healPatience = 10 * time.Second
	// leavePatience is how long a relay may take to leave.
	leavePatience = 12 * time.Second
)

// departures takes relays out of the network while objects are on their way:
// some are cut off, some leave, one after the other. The next goes when the
// children of the one before have their parents again, or healPatience later,
// since a single failure is what two parents bridge.
type departures struct {
	net     *network
	kinds   []kind // in order
	objects int
	open    chan struct{} // closed: submitting may go on behind two thirds
	done    int           // departures begun

	killed, left int

	at       time.Time // of the latest cut
	healing  []*member // its children that have not healed
	healed   []time.Duration
	children int // nodes that lost a parent, of all cuts

	leaving *member // is on its way out
	ended   chan error
}

// kind is how a relay goes.
type kind uint8

const (
	cut   kind = iota // its sockets close, nothing is said
	leave             // it leaves gracefully
)

// newDepartures plans kill cuts and leave graceful ones, taking turns.
func newDepartures(n *network, kill, leaves, objects int) *departures {
	d := &departures{net: n, objects: objects, open: make(chan struct{}), ended: make(chan error, 1)}
	for kill > 0 || leaves > 0 {
		if kill > 0 {
			d.kinds = append(d.kinds, cut)
			kill--
		}
		if leaves > 0 {
			d.kinds = append(d.kinds, leave)
			leaves--
		}
	}
	if len(d.kinds) == 0 {
		close(d.open)
	}
	return d
}

// due is how many objects are submitted when the i-th departure is due: between
// a third and two thirds of them, evenly.
func (d *departures) due(i int) int {
	return d.objects/3 + (i+1)*(d.objects/3)/(len(d.kinds)+1)
}

// last is the object before which submitting waits until all are on their way.
func (d *departures) last() int { return d.objects * 2 / 3 }

// step does what is due now that sent objects are submitted.
func (d *departures) step(sent *atomic.Int64) error {
	d.heal()
	if err := d.leftYet(); err != nil {
		return err
	}
	ready := d.leaving == nil && (len(d.healing) == 0 || time.Since(d.at) > healPatience)
	if d.done == len(d.kinds) || !ready || int(sent.Load()) < d.due(d.done) {
		return nil
	}
	g := d.net.views()
	m := g.victim()
	if m == nil {
		return errors.New("demo: no relay has a consumer below it")
	}
	children := g.childrenOf(m.run.Node().Overlay())
	log := d.net.cfg.Log.With("name", m.name, "children", len(children), "sent", sent.Load())
	switch d.kinds[d.done] {
	case cut:
		log.Info("relay cut off")
		d.healing = append(d.healing, children...)
		d.children += len(children)
		d.at = time.Now()
		d.killed++
		if err := d.net.cutOff(m); err != nil {
			return err
		}
	case leave:
		log.Info("relay leaves")
		d.leaving = m
		d.net.wg.Go(func() { // ends with the context at the latest
			ctx, cancel := context.WithTimeout(context.Background(), leavePatience)
			defer cancel()
			d.ended <- m.run.Leave(ctx)
		})
	}
	if d.done++; d.done == len(d.kinds) {
		close(d.open)
	}
	return nil
}

// leftYet notes that the leaver is gone.
func (d *departures) leftYet() error {
	if d.leaving == nil {
		return nil
	}
	select {
	case err := <-d.ended:
		m := d.leaving
		d.leaving = nil
		d.left++
		m.gone()
		if err != nil {
			return fmt.Errorf("demo: %s leaves: %w", m.name, err)
		}
	default:
	}
	return nil
}

// heal notes the children that have the parents they want again.
func (d *departures) heal() {
	left := d.healing[:0]
	for _, m := range d.healing {
		if m.cut || m == d.leaving {
			continue
		}
		if v := m.run.Cohort().View(); v.Settled && !d.hasCut(m) {
			d.healed = append(d.healed, time.Since(d.at))
		} else {
			left = append(left, m)
		}
	}
	d.healing = left
}

// hasCut says whether m still takes a node that was cut off for a parent.
func (d *departures) hasCut(m *member) bool {
	for _, p := range m.run.Cohort().View().Parents {
		for _, x := range d.net.members {
			if x.cut && x.run.Node().Overlay() == p.Peer {
				return true
			}
		}
	}
	return false
}

// finished says whether every departure is over and has healed.
func (d *departures) finished() bool {
	return d.done == len(d.kinds) && d.leaving == nil && len(d.healing) == 0
}
