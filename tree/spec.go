package tree

import (
	"errors"
	"fmt"

	"treecast/wire"
)

// MaxPublishers is the longest publisher list of a spec.
const MaxPublishers = 256

// ErrSpec is wrapped by every error of ValidateSpec: such a spec is REJECTED.
var ErrSpec = errors.New("tree: invalid spec")

// ValidateSpec checks a spec by itself (PROTOCOL §4 Spec validity).
func ValidateSpec(s *wire.Spec) error {
	if s.Binding < wire.BindingAnchor || s.Binding > wire.BindingFeedTopic {
		return fmt.Errorf("%w: binding %d", ErrSpec, s.Binding)
	}
	if s.Regime < wire.RegimeExplicitSingle || s.Regime > wire.RegimeAll {
		return fmt.Errorf("%w: publishers %d", ErrSpec, s.Regime)
	}
	explicit := s.Regime == wire.RegimeExplicitSingle || s.Regime == wire.RegimeExplicitList
	switch {
	case explicit && len(s.Admin) != 20:
		return fmt.Errorf("%w: admin of %d bytes under %v, want 20", ErrSpec, len(s.Admin), s.Regime)
	case !explicit && len(s.Admin) != 0:
		return fmt.Errorf("%w: admin under %v", ErrSpec, s.Regime)
	case !explicit && s.Closed:
		return fmt.Errorf("%w: closed under %v", ErrSpec, s.Regime)
	}
	if s.Regime != wire.RegimeExplicitList {
		if len(s.Publishers) != 0 {
			return fmt.Errorf("%w: publisher list under %v", ErrSpec, s.Regime)
		}
		return nil
	}
	if n := len(s.Publishers); n == 0 || n > MaxPublishers {
		return fmt.Errorf("%w: publisher list of %d, want 1 to %d", ErrSpec, n, MaxPublishers)
	}
	seen := make(map[string]bool, len(s.Publishers)+1)
	seen[string(s.Admin)] = true
	for i, p := range s.Publishers {
		if len(p) != 20 {
			return fmt.Errorf("%w: publisher %d of %d bytes, want 20", ErrSpec, i, len(p))
		}
		if seen[string(p)] {
			return fmt.Errorf("%w: publisher %d (%x) repeats", ErrSpec, i, p)
		}
		seen[string(p)] = true
	}
	return nil
}

// SpecWarning names what makes a valid spec carry nothing or admit everybody
// by accident, or is empty (PROTOCOL §4 Who opens).
func SpecWarning(s *wire.Spec, ownerTopic func(owner []byte) wire.Topic) string {
	switch {
	case s.Binding == wire.BindingFeedTopic && s.Regime == wire.RegimeImplicit:
		return "FEED_TOPIC with IMPLICIT admits anybody"
	case s.Binding == wire.BindingSocID && s.Regime == wire.RegimeExplicitSingle:
		return "SOC_ID with one author carries a single chunk"
	case s.Binding == wire.BindingOwner && len(s.Admin) == 20 && ownerTopic(s.Admin) != s.Topic:
		return "OWNER with an admin that is not the topic's owner carries nothing of the admin's"
	}
	return ""
}
