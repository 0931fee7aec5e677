package tree_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

func owners(n int) (list [][]byte) {
	for i := range n {
		o := owner(fmt.Sprint("p", i))
		list = append(list, o[:])
	}
	return list
}

// PROTOCOL §4 Spec validity, each rule on both sides of its limit.
func TestValidateSpec(t *testing.T) {
	single := func() *wire.Spec {
		o := owner("admin")
		return &wire.Spec{Binding: wire.BindingFeedTopic, Regime: wire.RegimeExplicitSingle, Admin: o[:]}
	}
	listed := func(n int) *wire.Spec {
		s := single()
		s.Regime, s.Publishers = wire.RegimeExplicitList, owners(n)
		return s
	}
	anybody := func(r wire.Regime) *wire.Spec { return &wire.Spec{Binding: wire.BindingSocID, Regime: r} }
	with := func(s *wire.Spec, change func(*wire.Spec)) *wire.Spec {
		change(s)
		return s
	}
	for what, s := range map[string]*wire.Spec{
		"single":            single(),
		"single, closed":    with(single(), func(s *wire.Spec) { s.Closed = true }),
		"single, history":   with(single(), func(s *wire.Spec) { s.History = true }),
		"list of one":       listed(1),
		"list of 256":       listed(256),
		"list, closed":      with(listed(2), func(s *wire.Spec) { s.Closed = true }),
		"implicit":          anybody(wire.RegimeImplicit),
		"all":               anybody(wire.RegimeAll),
		"all, history":      with(anybody(wire.RegimeAll), func(s *wire.Spec) { s.History = true }),
		"binding 1":         with(single(), func(s *wire.Spec) { s.Binding = 1 }),
		"regime 4":          anybody(4),
		"a topic of zeros":  single(),
		"a list, unordered": with(listed(3), func(s *wire.Spec) { s.Publishers[0], s.Publishers[2] = s.Publishers[2], s.Publishers[0] }),
	} {
		if err := tree.ValidateSpec(s); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for want, s := range map[string]*wire.Spec{
		"binding 0":                  with(single(), func(s *wire.Spec) { s.Binding = 0 }),
		"binding 5":                  with(single(), func(s *wire.Spec) { s.Binding = 5 }),
		"publishers 0":               with(single(), func(s *wire.Spec) { s.Regime = 0 }),
		"publishers 5":               with(single(), func(s *wire.Spec) { s.Regime = 5 }),
		"admin of 0 bytes":           with(single(), func(s *wire.Spec) { s.Admin = nil }),
		"admin of 19 bytes":          with(single(), func(s *wire.Spec) { s.Admin = s.Admin[:19] }),
		"admin of 21 bytes":          with(listed(1), func(s *wire.Spec) { s.Admin = make([]byte, 21) }),
		"admin under IMPLICIT":       with(anybody(wire.RegimeImplicit), func(s *wire.Spec) { s.Admin = make([]byte, 20) }),
		"admin under ALL":            with(anybody(wire.RegimeAll), func(s *wire.Spec) { s.Admin = make([]byte, 20) }),
		"closed under IMPLICIT":      with(anybody(wire.RegimeImplicit), func(s *wire.Spec) { s.Closed = true }),
		"closed under ALL":           with(anybody(wire.RegimeAll), func(s *wire.Spec) { s.Closed = true }),
		"list under EXPLICIT_SINGLE": with(single(), func(s *wire.Spec) { s.Publishers = owners(1) }),
		"list under ALL":             with(anybody(wire.RegimeAll), func(s *wire.Spec) { s.Publishers = owners(1) }),
		"list of 0":                  listed(0),
		"list of 257":                listed(257),
		"publisher 1 of 19 bytes":    with(listed(2), func(s *wire.Spec) { s.Publishers[1] = s.Publishers[1][:19] }),
		"publisher 2":                with(listed(3), func(s *wire.Spec) { s.Publishers[2] = s.Publishers[0] }),
		"publisher 0":                with(listed(3), func(s *wire.Spec) { s.Publishers[0] = s.Admin }),
	} {
		err := tree.ValidateSpec(s)
		if !errors.Is(err, tree.ErrSpec) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// PROTOCOL §4 Who opens: the shapes that are opened with a warning, and no others.
func TestSpecWarning(t *testing.T) {
	topicOf := func(o []byte) wire.Topic { return soc.Keccak256(o) }
	admin := owner("admin")
	for _, c := range []struct {
		binding wire.Binding
		regime  wire.Regime
		topic   wire.Topic
		want    string
	}{
		{wire.BindingFeedTopic, wire.RegimeImplicit, wire.Topic{}, "FEED_TOPIC with IMPLICIT"},
		{wire.BindingFeedTopic, wire.RegimeAll, wire.Topic{}, ""},
		{wire.BindingFeedTopic, wire.RegimeExplicitSingle, wire.Topic{}, ""},
		{wire.BindingSocID, wire.RegimeExplicitSingle, wire.Topic{}, "SOC_ID with one author"},
		{wire.BindingSocID, wire.RegimeExplicitList, wire.Topic{}, ""},
		{wire.BindingOwner, wire.RegimeExplicitSingle, wire.Topic{1}, "OWNER with an admin"},
		{wire.BindingOwner, wire.RegimeExplicitSingle, topicOf(admin[:]), ""},
		{wire.BindingOwner, wire.RegimeAll, wire.Topic{1}, ""},
		{wire.BindingAnchor, wire.RegimeExplicitList, wire.Topic{}, ""},
	} {
		s := &wire.Spec{Topic: c.topic, Binding: c.binding, Regime: c.regime}
		if c.regime == wire.RegimeExplicitSingle || c.regime == wire.RegimeExplicitList {
			s.Admin = admin[:]
		}
		if got := tree.SpecWarning(s, topicOf); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%v with %v: %q, want %q", c.binding, c.regime, got, c.want)
		}
	}
}
