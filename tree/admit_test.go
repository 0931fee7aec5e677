package tree_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

// mined is a value whose hash shares 16 bits with the topic, or not, as asked. It
// differs in its last bytes.
func mined(topic wire.Topic, near bool, hash func(id [32]byte) [32]byte) (id [32]byte) {
	for n := uint64(0); ; n++ {
		binary.BigEndian.PutUint64(id[24:], n)
		h := hash(id)
		if (h[0] == topic[0] && h[1] == topic[1]) == near {
			return id
		}
	}
}

// PROTOCOL §4 Binding and Regime: which chunks a cohort takes. What the binding
// does not fit is nobody's fault; an owner that the regime excludes is.
func TestBindings(t *testing.T) {
	const taken, wrong, excluded = tree.CountDelivered, tree.CountWrongBinding, tree.CountNotAdmitted
	admin, other := owner("o0"), owner("stranger")
	listed := owner("o1")
	someTopic := wire.Topic(soc.Keccak256([]byte("somewhere")))
	ownTopic := wire.Topic(soc.Keccak256(admin[:]))
	someID := [32]byte{1, 2, 3}
	addressTopic := wire.Topic(soc.Address(&someID, (*soc.Owner)(&other)))
	byID := func(id [32]byte) [32]byte { return soc.Address(&id, (*soc.Owner)(&admin)) }
	near, far := mined(ownTopic, true, byID), mined(ownTopic, false, byID)
	topicID := [32]byte(someTopic)
	byOwner := func(o [32]byte) [32]byte { return soc.Address(&topicID, (*soc.Owner)(o[12:])) }
	nearID, farID := mined(someTopic, true, byOwner), mined(someTopic, false, byOwner)
	nearOwner, farOwner := wire.Owner(nearID[12:]), wire.Owner(farID[12:])

	for _, c := range []struct {
		what    string
		binding wire.Binding
		regime  wire.Regime
		topic   wire.Topic
		id      [32]byte
		owner   wire.Owner
		want    tree.Counter
	}{
		{"anchor, explicit: a mere rendezvous", wire.BindingAnchor, wire.RegimeExplicitList, someTopic, someID, listed, taken},
		{"anchor, explicit, stranger", wire.BindingAnchor, wire.RegimeExplicitList, someTopic, someID, other, excluded},
		{"anchor, implicit, its address", wire.BindingAnchor, wire.RegimeImplicit, addressTopic, someID, other, taken},
		{"anchor, implicit, other address", wire.BindingAnchor, wire.RegimeImplicit, addressTopic, someID, listed, wrong},
		{"anchor, all, its address", wire.BindingAnchor, wire.RegimeAll, addressTopic, someID, other, taken},
		{"anchor, all, other address", wire.BindingAnchor, wire.RegimeAll, someTopic, someID, other, wrong},
		{"id, single", wire.BindingSocID, wire.RegimeExplicitSingle, someTopic, topicID, admin, taken},
		{"id, single, listed elsewhere", wire.BindingSocID, wire.RegimeExplicitSingle, someTopic, topicID, listed, excluded},
		{"id, other id", wire.BindingSocID, wire.RegimeExplicitSingle, someTopic, someID, admin, wrong},
		{"id, all", wire.BindingSocID, wire.RegimeAll, someTopic, topicID, farOwner, taken},
		{"id, implicit, near", wire.BindingSocID, wire.RegimeImplicit, someTopic, topicID, nearOwner, taken},
		{"id, implicit, far", wire.BindingSocID, wire.RegimeImplicit, someTopic, topicID, farOwner, wrong},
		{"owner", wire.BindingOwner, wire.RegimeExplicitSingle, ownTopic, someID, admin, taken},
		{"owner, another", wire.BindingOwner, wire.RegimeExplicitList, ownTopic, someID, listed, wrong},
		{"owner, all", wire.BindingOwner, wire.RegimeAll, ownTopic, far, admin, taken},
		{"owner, implicit, near", wire.BindingOwner, wire.RegimeImplicit, ownTopic, near, admin, taken},
		{"owner, implicit, far", wire.BindingOwner, wire.RegimeImplicit, ownTopic, far, admin, wrong},
		{"feed, all", wire.BindingFeedTopic, wire.RegimeAll, someTopic, soc.FeedID(someTopic[:], 0), other, taken},
		{"feed, implicit", wire.BindingFeedTopic, wire.RegimeImplicit, someTopic, soc.FeedID(someTopic[:], 0), other, taken},
	} {
		spec := &wire.Spec{Topic: c.topic, Binding: c.binding, Regime: c.regime}
		if c.regime == wire.RegimeExplicitSingle || c.regime == wire.RegimeExplicitList {
			spec.Admin = admin[:]
		}
		if c.regime == wire.RegimeExplicitList {
			spec.Publishers = [][]byte{listed[:]}
		}
		core, err := tree.New(tree.Config{Self: node("N"), Topic: c.topic, Spec: spec, Broker: true, Rand: rand.New(rand.NewPCG(1, 2))})
		if err != nil {
			t.Fatal(err)
		}
		s := wire.Soc{ID: c.id[:], Owner: c.owner[:], Signature: make([]byte, 65), Span: make([]byte, 8), Payload: []byte{1}}
		out := core.Step(scriptStart, &tree.Publish{Request: 1, Chunk: 1, Soc: &s}, nil)
		got := core.Counters()
		if verify := out[0].Kind == tree.ActVerify; verify != (c.want == taken) || !verify && got[c.want] != 1 {
			t.Errorf("%s: %s", c.what, printAction(&out[0]))
		}
		if c.want == taken && out[0].ID != c.id {
			t.Errorf("%s: id %x to verify", c.what, out[0].ID)
		}
	}
}
