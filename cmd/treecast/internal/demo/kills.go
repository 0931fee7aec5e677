package demo

import (
	"fmt"
	"sync/atomic"
	"time"
)

// healPatience is how long the next kill waits for the children of the last.
const healPatience = 3 * time.Second

// kills cuts relays off while objects are on their way, one after the other:
// the next when the children of the one before have their parents again, or
// healPatience later, since a single failure is what two parents bridge.
type kills struct {
	net     *network
	total   int
	objects int
	open    chan struct{} // closed: submitting may go on behind two thirds
	done    int

	at       time.Time // of the latest cut
	healing  []*member // its children that have not healed
	healed   []time.Duration
	children int // nodes that lost a parent, of all cuts
}

func newKills(n *network, total, objects int) *kills {
	k := &kills{net: n, total: total, objects: objects, open: make(chan struct{})}
	if total == 0 {
		close(k.open)
	}
	return k
}

// due is how many objects are submitted when the i-th kill is due: between a
// third and two thirds of them, evenly.
func (k *kills) due(i int) int {
	return k.objects/3 + (i+1)*(k.objects/3)/(k.total+1)
}

// last is the object before which submitting waits until the kills are done.
func (k *kills) last() int { return k.objects * 2 / 3 }

// step does what is due now that sent objects are submitted.
func (k *kills) step(sent *atomic.Int64) error {
	k.heal()
	healed := len(k.healing) == 0 || time.Since(k.at) > healPatience
	if k.done == k.total || !healed || int(sent.Load()) < k.due(k.done) {
		return nil
	}
	g := k.net.views()
	victim := g.victim()
	if victim == nil {
		return fmt.Errorf("demo: no relay has a consumer below it")
	}
	overlay := victim.run.Node().Overlay()
	children := g.childrenOf(overlay)
	k.healing = append(k.healing, children...)
	k.children += len(children)
	k.at = time.Now()
	if err := k.net.cutOff(victim); err != nil {
		return err
	}
	k.net.cfg.Log.Info("relay cut off", "name", victim.name, "children", len(children), "sent", sent.Load())
	if k.done++; k.done == k.total {
		close(k.open)
	}
	return nil
}

// heal notes the children that have the parents they want again.
func (k *kills) heal() {
	left := k.healing[:0]
	for _, m := range k.healing {
		if v := m.run.Cohort().View(); v.Settled && !m.cut && !k.hasCut(m) {
			k.healed = append(k.healed, time.Since(k.at))
		} else if !m.cut {
			left = append(left, m)
		}
	}
	k.healing = left
}

// hasCut says whether m still takes a node that was cut off for a parent.
func (k *kills) hasCut(m *member) bool {
	for _, p := range m.run.Cohort().View().Parents {
		for _, x := range k.net.members {
			if x.cut && x.run.Node().Overlay() == p.Peer {
				return true
			}
		}
	}
	return false
}

// finished says whether every kill was done and has healed.
func (k *kills) finished() bool { return k.done == k.total && len(k.healing) == 0 }
