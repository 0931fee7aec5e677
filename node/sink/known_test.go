package sink

import (
	"testing"

	"treecast/node/follow"
	"treecast/wire/beef"
)

func objectOf(i int) *follow.Object {
	o := &follow.Object{Topic: beef.TopicIDOf("t"), Index: uint64(i)}
	o.Frame.ContentID[0], o.Frame.ContentID[1], o.Frame.ContentID[31] = byte(i), byte(i>>8), 0xEE
	o.Frame.Payload = make([]byte, 100)
	return o
}

// TestKnownIsOfTheHeader: what a message's header says is what its object has.
func TestKnownIsOfTheHeader(t *testing.T) {
	o := objectOf(7)
	id := messageID(o)
	if got, ok := parseKnown(id); !ok || got != knownOf(o) {
		t.Errorf("%x, %v of %s", got, ok, id)
	}
	for _, bad := range []string{"", id[1:], id + "0", "g" + id[1:], id[:64] + "g" + id[65:]} {
		if _, ok := parseKnown(bad); ok {
			t.Errorf("%q passes", bad)
		}
	}
}

// TestKnownKeepsTheNewest goes over the limit and around.
func TestKnownKeepsTheNewest(t *testing.T) {
	const limit = 5
	k := known{limit: limit}
	for i := range 23 {
		k.add(knownOf(objectOf(i)))
		k.add(knownOf(objectOf(i))) // twice is once
		for j := range i + 1 {
			if has := k.has(knownOf(objectOf(j))); has != (j > i-limit) {
				t.Fatalf("after %d: has %d: %v", i, j, has)
			}
		}
		if len(k.set) > limit || len(k.order) > limit {
			t.Fatalf("%d ids", len(k.set))
		}
	}
	k.reset()
	if k.has(knownOf(objectOf(22))) || k.limit != limit {
		t.Error("not reset")
	}
}

// behind is a source that says how far behind it is.
type behind struct {
	Source
	lag uint64
}

func (b *behind) Lag() uint64 { return b.lag }

// TestForget: what was found in the stream counts until the sink has caught up, and
// not for what is submitted again later.
func TestForget(t *testing.T) {
	src := &behind{lag: 1}
	s := &Sink{cfg: Config{Source: src}, known: known{limit: 10}}
	id := knownOf(objectOf(1))
	s.known.add(id)
	if s.forget(); !s.known.has(id) {
		t.Error("forgotten with chunks at hand")
	}
	src.lag = 0
	e := s.window.push(objectOf(2))
	if s.forget(); !s.known.has(id) {
		t.Error("forgotten with an object under way")
	}
	e.stored = true
	s.window.compact()
	if s.forget(); s.known.has(id) {
		t.Error("kept for ever")
	}
}
