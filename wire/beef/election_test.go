package beef_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"treecast/wire/beef"
)

// TestElectionsAgree compares Elections with one Election after the other, over
// many random ones.
func TestElectionsAgree(t *testing.T) {
	const seed = 20261130
	rng := rand.New(rand.NewPCG(seed, 0))
	topic := func() beef.TopicID { return beef.TopicIDOf(fmt.Sprint("t", rng.IntN(12))) }
	elections := map[beef.ConsumerID]beef.Election{}
	var set beef.Elections
	for round := range 3000 {
		id := beef.ConsumerID(rng.IntN(30))
		if rng.IntN(3) == 0 {
			delete(elections, id)
			set.Remove(id)
		} else {
			var e beef.Election
			for range rng.IntN(5) {
				e.Topics = append(e.Topics, topic())
			}
			for range rng.IntN(3) {
				e.Versions = append(e.Versions, beef.Version(rng.IntN(4)))
			}
			elections[id] = e
			set.Set(id, e)
		}
		if set.Len() != len(elections) {
			t.Fatalf("seed %d round %d: %d consumers, want %d", seed, round, set.Len(), len(elections))
		}
		f := randomFrame(t, rng)
		offer, err := beef.OfferOf(&f)
		if err != nil {
			t.Fatal(err)
		}
		got := set.Match(&offer, nil)
		want := map[beef.ConsumerID]beef.TopicID{}
		for id, e := range elections {
			if topic, ok := e.Match(f.TopicID, f.DeliverCount, f.Payload); ok {
				want[id] = topic
			}
		}
		if len(got) != len(want) || set.Wants(&offer) != (len(want) > 0) {
			t.Fatalf("seed %d round %d: %d matches, want %d", seed, round, len(got), len(want))
		}
		for _, m := range got {
			if topic, ok := want[m.Consumer]; !ok || topic != m.Topic {
				t.Fatalf("seed %d round %d: consumer %d under %v, want %v", seed, round, m.Consumer, m.Topic, topic)
			}
		}
		if again := set.Match(&offer, nil); !slices.Equal(got, again) {
			t.Fatalf("seed %d round %d: another order", seed, round)
		}
	}
}

func randomFrame(t *testing.T, rng *rand.Rand) beef.Frame {
	t.Helper()
	obj := [][]byte{{1, 0, 0xBE, 0xEF}, {2, 0, 0xBE, 0xEF}, {1, 1, 1, 1}}[rng.IntN(3)]
	var topics []string
	for range 1 + rng.IntN(5) {
		topics = append(topics, fmt.Sprint("t", rng.IntN(12)))
	}
	f := beef.Frame{Payload: obj}
	if rng.IntN(5) > 0 {
		rec, err := beef.AppendRecord(nil, topics, obj)
		if err != nil {
			t.Fatal(err)
		}
		f.Payload = rec
	}
	f.TopicID = beef.TopicIDOf(topics[0])
	f.DeliverCount = uint8(rng.IntN(7))
	return f
}

func TestElectionsOrder(t *testing.T) {
	a, b := beef.TopicIDOf("a"), beef.TopicIDOf("b")
	var set beef.Elections
	set.Set(9, beef.Election{})
	set.Set(4, beef.Election{Topics: []beef.TopicID{b, a, a}})
	set.Set(8, beef.Election{Topics: []beef.TopicID{a}})
	set.Set(2, beef.Election{Topics: []beef.TopicID{b}})
	set.Set(1, beef.Election{})
	set.Set(3, beef.Election{Topics: []beef.TopicID{b}, Versions: []beef.Version{beef.VersionAtomic}})
	rec, err := beef.AppendRecord(nil, []string{"a", "b"}, marker)
	if err != nil {
		t.Fatal(err)
	}
	f := beef.Frame{Payload: rec}
	f.TopicID, f.DeliverCount = a, 2
	offer, err := beef.OfferOf(&f)
	if err != nil {
		t.Fatal(err)
	}
	want := []beef.Match{{4, a}, {8, a}, {2, b}, {1, a}, {9, a}}
	if got := set.Match(&offer, nil); !slices.Equal(got, want) {
		t.Errorf("matches %v, want %v", got, want)
	}
}

func TestElectionsEmpty(t *testing.T) {
	var set beef.Elections
	set.Remove(1)
	var nothing beef.Offer
	set.Set(1, beef.Election{})
	if set.Wants(&nothing) || len(set.Match(&nothing, nil)) != 0 {
		t.Error("the zero Offer matches")
	}
	set.Remove(1)
	f := submit(t, theVectors(t).record(t, "one_topic_small").Record).Frame
	offer, err := beef.OfferOf(&f)
	if err != nil || set.Wants(&offer) || set.Len() != 0 {
		t.Errorf("nobody wants it: %v", err)
	}
}

func TestMatchRefusesPayload(t *testing.T) {
	all := beef.Election{}
	for _, payload := range [][]byte{nil, {0xBE}, {1, 0, 0, 0}, {0xBE, 0xEF, 1, 0}} {
		if _, ok := all.Match(beef.TopicID{}, 1, payload); ok {
			t.Errorf("%x matches", payload)
		}
	}
}

// TestOfferOfFragment asks for the offer of every beginning of a payload: it is
// unknown up to the marker, and then the whole payload's.
func TestOfferOfFragment(t *testing.T) {
	v := theVectors(t)
	for _, payload := range [][]byte{v.record(t, "three_topics").Record, v.object(t, "v2_mixed")} {
		f := beef.Frame{Payload: payload}
		f.TopicID, f.DeliverCount = beef.TopicIDOf("tm_uhrp_files"), 3
		want, err := beef.OfferOf(&f)
		if err != nil {
			t.Fatal(err)
		}
		p, err := beef.ParsePayload(payload)
		if err != nil {
			t.Fatal(err)
		}
		enough := len(payload) - len(p.Object) + len(marker)
		for n := 1; n < len(payload); n++ {
			frag := beef.Fragment{Header: f.Header, OrigLen: uint32(len(payload)), Data: payload[:n]}
			got, known := beef.OfferOfFragment(&frag)
			if known != (n >= enough) || known && got != want {
				t.Fatalf("%d bytes: known %v, %v", n, known, got.Topics())
			}
		}
		second := beef.Fragment{Header: f.Header, OrigLen: uint32(len(payload)), Index: 1, Data: payload}
		if _, known := beef.OfferOfFragment(&second); known {
			t.Error("fragment 1 begins nothing")
		}
	}
	junk := beef.Fragment{OrigLen: 100, Data: []byte("HTTP")}
	if offer, known := beef.OfferOfFragment(&junk); !known || len(offer.Topics()) != 0 {
		t.Errorf("junk offers %v, known %v", offer.Topics(), known)
	}
}
