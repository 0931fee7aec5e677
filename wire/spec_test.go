package wire_test

import (
	"bytes"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "treecast/proto"
	"treecast/wire"
)

func TestEnumNames(t *testing.T) {
	for v := range pb.TopicBinding_name {
		if v > 0 && wire.Binding(v).String() != pb.TopicBinding(v).String() {
			t.Errorf("binding %d is %v", v, wire.Binding(v))
		}
	}
	for v := range pb.PublisherRegime_name {
		if v > 0 && wire.Regime(v).String() != pb.PublisherRegime(v).String() {
			t.Errorf("regime %d is %v", v, wire.Regime(v))
		}
	}
	for v := range pb.Status_name {
		if v > 0 && wire.Status(v).String() != pb.Status(v).String() {
			t.Errorf("status %d is %v", v, wire.Status(v))
		}
	}
	for got, want := range map[string]string{
		wire.Binding(0).String(): "binding(0)", wire.Binding(5).String(): "binding(5)",
		wire.Regime(255).String(): "regime(255)", wire.Status(0).String(): "status(0)",
		wire.KindNone.String(): "none", wire.KindFound.String(): "found", wire.Kind(5).String(): "kind(5)",
		wire.Topic{0xab}.String()[:4]: "ab00", wire.Owner{1}.String()[:4]: "0100", wire.Overlay{2}.String()[:4]: "0200",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A spec is drawn with contents of all kinds: what is wrong with it stays as it
// came, for the answer REJECTED.
func TestSpecAgainstGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSpec(t)
		parse := mustParse(t, func(msg []byte) (wire.Spec, error) {
			first, err := wire.ParseFirst(field(nil, 1, msg))
			if err != nil {
				return wire.Spec{}, err
			}
			return first.Open.Spec, nil
		})
		differs(t, x.Append(nil), specPB(&x), parse, x)
	})
}

// An enum is raw within a byte and never becomes a valid value by being cut to
// one; beyond 32 bits protobuf cuts it itself.
func TestSpecEnumRange(t *testing.T) {
	for _, tt := range []struct {
		in   uint64
		want wire.Binding
	}{
		{0, 0},
		{4, wire.BindingFeedTopic},
		{5, 5},
		{255, 255},
		{256, 0},
		{257, 0},
		{1<<31 + 1, 0},
		{1<<32 + 1, 1},
		{1<<64 - 1, 0},
	} {
		spec := varint(field(nil, 1, seq(0, 32)), 2, tt.in)
		first, err := wire.ParseFirst(field(nil, 1, spec))
		if err != nil {
			t.Errorf("binding %d: %v", tt.in, err)
		} else if got := first.Open.Spec.Binding; got != tt.want {
			t.Errorf("binding %d reads as %v, want %v", tt.in, got, tt.want)
		}
	}
}

func TestSpecPublishersBound(t *testing.T) {
	for _, n := range []int{wire.MaxPublishers - 1, wire.MaxPublishers, wire.MaxPublishers + 1, 700} {
		x := wire.Open{Spec: wire.Spec{Publishers: slices.Repeat([][]byte{seq(0, 20)}, n)}}
		msg := x.Append(nil)
		if len(msg) > wire.MaxMessage {
			t.Fatalf("%d publishers make %d bytes", n, len(msg))
		}
		first, err := wire.ParseFirst(msg)
		if err != nil {
			t.Fatalf("%d publishers: %v", n, err)
		}
		if got, want := len(first.Open.Spec.Publishers), min(n, wire.MaxPublishers+1); got != want {
			t.Errorf("%d publishers: %d kept, want %d", n, got, want)
		}
	}
}

func TestSpecEqual(t *testing.T) {
	base := wire.Spec{
		Topic: wire.Topic{1}, Binding: wire.BindingFeedTopic, Regime: wire.RegimeExplicitList,
		Admin: seq(0, 20), Publishers: [][]byte{seq(9, 20), seq(1, 20), seq(5, 20)},
	}
	with := func(change func(*wire.Spec)) *wire.Spec {
		c := base.Clone()
		change(c)
		return c
	}
	for name, x := range map[string]*wire.Spec{
		"clone":     base.Clone(),
		"reordered": with(func(x *wire.Spec) { slices.Reverse(x.Publishers) }),
	} {
		if !base.Equal(x) || !x.Equal(&base) {
			t.Errorf("%s: not equal", name)
		}
	}
	for name, x := range map[string]*wire.Spec{
		"topic":     with(func(x *wire.Spec) { x.Topic[31]++ }),
		"binding":   with(func(x *wire.Spec) { x.Binding++ }),
		"regime":    with(func(x *wire.Spec) { x.Regime++ }),
		"history":   with(func(x *wire.Spec) { x.History = true }),
		"closed":    with(func(x *wire.Spec) { x.Closed = true }),
		"admin":     with(func(x *wire.Spec) { x.Admin[0]++ }),
		"no admin":  with(func(x *wire.Spec) { x.Admin = nil }),
		"publisher": with(func(x *wire.Spec) { x.Publishers[0][0]++ }),
		"repeated":  with(func(x *wire.Spec) { x.Publishers[0] = x.Publishers[1] }),
		"shorter":   with(func(x *wire.Spec) { x.Publishers = x.Publishers[:2] }),
	} {
		if base.Equal(x) || x.Equal(&base) {
			t.Errorf("another %s: equal", name)
		}
	}
	var none *wire.Spec
	if !none.Equal(nil) || none.Equal(&base) || base.Equal(nil) {
		t.Error("nil is equal to nil alone")
	}
	if !slices.EqualFunc(base.Publishers, [][]byte{seq(9, 20), seq(1, 20), seq(5, 20)}, bytes.Equal) {
		t.Error("Equal reordered the list")
	}
}

func TestSpecClone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawSpec(t)
		before := x.Append(nil)
		c := x.Clone()
		if d := diff(&x, c); d != "" {
			t.Fatal(d)
		}
		clear(c.Admin)
		for _, p := range c.Publishers {
			clear(p)
			_ = append(p, 1) // must not reach the next one
		}
		if !bytes.Equal(x.Append(nil), before) {
			t.Fatal("the clone shares memory")
		}
	})
}

func TestSpecEveryPrefix(t *testing.T) {
	x := wire.Spec{
		Topic: wire.Topic{1}, Binding: wire.BindingFeedTopic, Regime: wire.RegimeExplicitList, History: true,
		Admin: seq(0, 20), Publishers: [][]byte{seq(9, 20), seq(1, 20)}, Closed: true,
	}
	msg := x.Append(nil)
	topicEnd := 34
	for cut := range len(msg) + 1 {
		first, err := wire.ParseFirst(field(nil, 1, msg[:cut]))
		if cut == len(wire.Topic{}) {
			if err != nil || first.Subscribe == nil { // the rule of the first frame comes first
				t.Errorf("field 1 of 32 bytes: %+v, %v", first, err)
			}
			continue
		}
		if proto.Unmarshal(msg[:cut], new(pb.CohortSpec)) == nil && cut >= topicEnd {
			if err != nil {
				t.Errorf("cut at %d: %v", cut, err)
			}
			continue
		}
		wantSyntax(t, err, len(msg)+2)
	}
}
