package tree_test

import (
	"crypto/sha256"

	"treecast/tree"
	"treecast/wire"
)

var (
	bindings = map[string]wire.Binding{
		"": wire.BindingFeedTopic, "feed": wire.BindingFeedTopic, "anchor": wire.BindingAnchor,
		"socid": wire.BindingSocID, "owner": wire.BindingOwner,
	}
	regimes = map[string]wire.Regime{
		"": wire.RegimeExplicitList, "list": wire.RegimeExplicitList, "single": wire.RegimeExplicitSingle,
		"implicit": wire.RegimeImplicit, "all": wire.RegimeAll,
	}
)

// parseSpec makes a spec: by default a feed's, with admin "o0" and publishers
// "o1" and "o2".
func parseSpec(a *args) *wire.Spec {
	s := &wire.Spec{
		Topic: wire.Topic(sha256.Sum256([]byte("topic"))), Binding: bindings[a.by["binding"]], Regime: regimes[a.by["regime"]],
		Closed: a.has("closed"),
	}
	if name := a.by["topic"]; name != "" {
		s.Topic = wire.Topic(node(name))
	}
	if s.Regime == wire.RegimeExplicitList || s.Regime == wire.RegimeExplicitSingle {
		o := owner("o0")
		s.Admin = o[:]
	}
	if s.Regime == wire.RegimeExplicitList {
		for _, name := range append([]string{"o1", "o2"}, a.names("also")...) {
			o := owner(name)
			s.Publishers = append(s.Publishers, o[:])
		}
	}
	return s
}

func parseConfig(words []string) (tree.Config, *wire.Spec, error) {
	a := parseArgs(words)
	spec := parseSpec(&a)
	cfg := tree.Config{
		Self: node(a.by["self"]), Topic: spec.Topic, Broker: a.has("broker"), Capacity: a.num("capacity"),
		Parents: a.num("parents"), RequireProof: a.has("proofs"), PendingJoins: a.num("joins"),
		ProbeBudget: a.num("budget"), Owners: a.num("owners"), Window: a.num("window"), Recent: a.num("recent"),
		Publishing: a.num("publishing"), PublishRate: a.num("rate"),
		Timing: tree.Timing{SlowBan: a.duration("ban"), ReceiptWait: a.duration("receipt")},
	}
	if cfg.Self == (wire.Overlay{}) {
		cfg.Self = node("N")
	}
	if cfg.Broker || a.has("pinned") {
		cfg.Spec = spec
	}
	if a.has("leaf") {
		cfg.Capacity = -1
	}
	for _, name := range a.names("brokers") {
		cfg.Brokers = append(cfg.Brokers, node(name))
	}
	if name := a.by["admin"]; name != "" {
		o := owner(name)
		cfg.Admin = &o
	}
	for _, name := range a.names("publishers") {
		cfg.Publishers = append(cfg.Publishers, owner(name))
	}
	return cfg, spec, nil
}
