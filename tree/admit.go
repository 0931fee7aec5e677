package tree

import (
	"bytes"
	"math/bits"
	"slices"

	"treecast/wire"
	"treecast/wire/soc"
)

// minProximity is the proximity order of address and topic that an implicit
// publisher needs under SOC_ID and OWNER (PROTOCOL §4 Regime).
const minProximity = 16

// setSpec fixes the cohort's spec.
func (c *Cohort) setSpec(s *wire.Spec) {
	c.spec = s
	c.data.binding, c.data.anybody = s.Binding, !c.explicit()
}

// learnSpec takes the spec of a parent's Ack: the first one holds, unless one
// was given, and a parent with another is not kept (PROTOCOL §4 Whose spec).
func (c *Cohort) learnSpec(peer wire.Overlay, s *wire.Spec, out []Action) ([]Action, bool) {
	ok := s != nil && s.Topic == c.cfg.Topic && ValidateSpec(s) == nil
	if ok && c.spec != nil {
		ok = c.spec.Equal(s)
	}
	if ok && c.cfg.Admin != nil {
		ok = bytes.Equal(c.cfg.Admin[:], s.Admin)
	}
	if ok && len(c.cfg.Publishers) > 0 {
		ok = sameOwners(c.cfg.Publishers, s.Publishers)
	}
	if !ok {
		c.counters[CountSpecConflict]++
		return append(out, Action{Kind: ActReport, Report: &Report{Kind: ReportSpecConflict, Peer: peer, Parents: len(c.parents)}}), false
	}
	if c.spec == nil {
		c.setSpec(s.Clone())
		c.pinned = c.cfg.Admin != nil || len(c.cfg.Publishers) > 0
		out = append(out, Action{Kind: ActReport, Report: &Report{Kind: ReportSpec, Peer: peer}})
	}
	return out, true
}

func sameOwners(want []wire.Owner, have [][]byte) bool {
	if len(want) != len(have) {
		return false
	}
	return !slices.ContainsFunc(have, func(h []byte) bool {
		return !slices.ContainsFunc(want, func(w wire.Owner) bool { return bytes.Equal(w[:], h) })
	})
}

// explicit says whether the spec names the publishers.
func (c *Cohort) explicit() bool {
	return c.spec.Regime == wire.RegimeExplicitSingle || c.spec.Regime == wire.RegimeExplicitList
}

// admits says whether the regime lets owner publish; under IMPLICIT and ALL that
// is decided by the binding alone.
func (c *Cohort) admits(owner *wire.Owner) bool {
	s := c.spec
	if s.Regime == wire.RegimeImplicit || s.Regime == wire.RegimeAll {
		return true
	}
	if bytes.Equal(s.Admin, owner[:]) {
		return true
	}
	return slices.ContainsFunc(s.Publishers, func(p []byte) bool { return bytes.Equal(p, owner[:]) })
}

// bound says whether a chunk of that id and owner belongs to the topic under a
// binding other than FEED_TOPIC (PROTOCOL §4 Binding, Regime).
func (c *Cohort) bound(id *[32]byte, owner *wire.Owner) bool {
	s := c.spec
	switch s.Binding {
	case wire.BindingAnchor:
		return c.explicit() || wire.Topic(soc.Address(id, (*soc.Owner)(owner))) == s.Topic
	case wire.BindingSocID:
		if *id != s.Topic {
			return false
		}
	case wire.BindingOwner:
		if wire.Topic(soc.Keccak256(owner[:])) != s.Topic {
			return false
		}
	}
	if s.Regime != wire.RegimeImplicit {
		return true
	}
	address := soc.Address(id, (*soc.Owner)(owner))
	return proximity(&address, &s.Topic) >= minProximity
}

// proximity is the number of leading bits that two addresses share.
func proximity(a *[32]byte, b *wire.Topic) int {
	for i := range a {
		if x := a[i] ^ b[i]; x != 0 {
			return 8*i + bits.LeadingZeros8(x)
		}
	}
	return 256
}

// admitsSubscriber applies the spec to a Subscribe's auth (PROTOCOL §5 Join).
func (c *Cohort) admitsSubscriber(ev *SubscribeIn) bool {
	auth := ev.Msg.Auth
	if auth == nil {
		return !c.spec.Closed
	}
	// A zero owner is what an owner of a wrong size reads as.
	if auth.Owner == (wire.Owner{}) || !c.admits(&auth.Owner) {
		return false
	}
	return ev.Proved || !c.cfg.RequireProof || !c.spec.Closed
}
