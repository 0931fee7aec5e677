package node

import (
	"testing"

	"treecast/wire"
	"treecast/wire/soc"
)

// TestProved takes an auth for proved by the node key or by a proof made for this
// very subscriber, acceptor and topic (PROTOCOL §6 PublisherAuth).
func TestProved(t *testing.T) {
	n, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	key := func() *soc.Key {
		k, err := soc.NewKey()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	nodeKey, owner := key(), key()
	id, err := IdentityOf(nodeKey, 1)
	if err != nil {
		t.Fatal(err)
	}
	topic := wire.Topic{1}
	proof := func(k *soc.Key, topic wire.Topic, acceptor, subscriber wire.Overlay) []byte {
		hash := authHash(topic, acceptor, subscriber)
		sig, err := k.SignHash(&hash)
		if err != nil {
			t.Fatal(err)
		}
		return sig[:]
	}
	good := proof(owner, topic, n.overlay, id.Overlay)
	for name, tc := range map[string]struct {
		auth *wire.Auth
		want bool
	}{
		"no auth":             {nil, false},
		"node key":            {&wire.Auth{Owner: nodeKey.Owner()}, true},
		"claim alone":         {&wire.Auth{Owner: owner.Owner()}, false},
		"proof":               {&wire.Auth{Owner: owner.Owner(), Proof: good}, true},
		"cut proof":           {&wire.Auth{Owner: owner.Owner(), Proof: good[:64]}, false},
		"another's proof":     {&wire.Auth{Owner: owner.Owner(), Proof: proof(key(), topic, n.overlay, id.Overlay)}, false},
		"for another topic":   {&wire.Auth{Owner: owner.Owner(), Proof: proof(owner, wire.Topic{2}, n.overlay, id.Overlay)}, false},
		"for another node":    {&wire.Auth{Owner: owner.Owner(), Proof: proof(owner, topic, wire.Overlay{9}, id.Overlay)}, false},
		"of another follower": {&wire.Auth{Owner: owner.Owner(), Proof: proof(owner, topic, n.overlay, wire.Overlay{9})}, false},
	} {
		if got := n.proved(id.PeerID, id.Overlay, &wire.Subscribe{Topic: topic, Auth: tc.auth}); got != tc.want {
			t.Errorf("%s: proved %v", name, got)
		}
	}
	if got := n.counts[countProofInvalid].Load(); got != 5 {
		t.Errorf("counted %d invalid proofs", got)
	}
}
