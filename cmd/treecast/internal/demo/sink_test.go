package demo

import (
	"net"
	"sync/atomic"
	"testing"
	"time"

	"treecast/tree"
	"treecast/wire"
	"treecast/wire/beef"
)

func TestSinkTellsMissingCorruptedAndDuplicate(t *testing.T) {
	o := generate(3, 32, 1)
	sent := make([]atomic.Int64, len(o.bytes))
	var arrived, held atomic.Int64
	s, err := newSink("consumer-1", o, sent, &arrived, &held, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	conn, err := net.Dial("tcp", s.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	send := func(object []byte) {
		record, err := beef.AppendRecord(nil, []string{topic}, object)
		if err != nil {
			t.Fatal(err)
		}
		conn.Write(beef.AppendDelivery(nil, &beef.Delivery{Payload: record}))
	}
	send(o.bytes[0])
	send(o.bytes[0])
	altered := append([]byte{}, o.bytes[1]...)
	altered[20] ^= 1
	send(altered)
	send(o.bytes[2])
	for deadline := time.Now().Add(5 * time.Second); arrived.Load() < 2 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	got := total([]*sink{s})
	if got.got[0] != 1 || got.got[1] != 0 || got.got[2] != 1 || got.corrupted != 1 || got.duplicates != 1 || len(got.latencies) != 2 || got.failed != nil {
		t.Errorf("%+v", got)
	}
}

// sketch is a graph of named nodes; the first is the broker, names in capitals
// are consumers.
func sketch(parents map[string][]string, order ...string) graph {
	overlay := func(name string) wire.Overlay {
		var o wire.Overlay
		copy(o[:], name)
		return o
	}
	g := graph{views: make(map[wire.Overlay]tree.View), members: make(map[wire.Overlay]*member)}
	children := make(map[string]int)
	for _, list := range parents {
		for _, p := range list {
			children[p]++
		}
	}
	for _, name := range order {
		v := tree.View{Self: overlay(name), Attached: len(parents[name]) > 0, Children: make([]tree.ChildView, children[name])}
		for _, p := range parents[name] {
			v.Parents = append(v.Parents, tree.ParentView{Peer: overlay(p)})
		}
		g.order = append(g.order, v.Self)
		g.views[v.Self] = v
		g.members[v.Self] = &member{name: name, consumer: name >= "A" && name <= "Z"}
	}
	return g
}

func TestVictimHasMostConsumersBelow(t *testing.T) {
	g := sketch(map[string][]string{
		"r": {"broker"}, "s": {"broker"}, "t": {"r", "s"}, "u": {"s"},
		"A": {"t", "r"}, "B": {"t", "u"}, "C": {"u"},
	}, "broker", "r", "s", "t", "u", "A", "B", "C")
	// Below s are A and B through t, B and C through u.
	if v := g.victim(); v == nil || v.name != "s" {
		t.Errorf("victim %+v", v)
	}
	even := sketch(map[string][]string{"r": {"broker"}, "s": {"broker"}, "A": {"s", "r"}}, "broker", "s", "r", "A")
	if v := even.victim(); v == nil || v.name != "r" {
		t.Errorf("victim %+v, want the lower of two that are alike", v)
	}
	if d := g.depths(); d[g.order[5]] != 2 || d[g.order[6]] != 3 {
		t.Errorf("depths %v", d)
	}
	if n := g.relays(); n != 4 {
		t.Errorf("%d relays", n)
	}
	// Not under the broker: t, A, B with two parents; u and C with one.
	if share := g.dualParented(); share != 0.6 {
		t.Errorf("dual parented %v", share)
	}
	if list := g.childrenOf(g.order[2]); len(list) != 2 || list[0].name != "t" || list[1].name != "u" {
		t.Errorf("children %v", list)
	}
	alone := sketch(map[string][]string{"A": {"broker"}}, "broker", "A")
	if v := alone.victim(); v != nil {
		t.Errorf("victim %+v, but no relay has a consumer", v)
	}
}

func TestFaultsOfAConfiguration(t *testing.T) {
	if f := (&Config{
		Nodes: 24, Capacity: 4, Consumers: 6, Objects: 200, ObjectBytes: 1500, Rate: 100, Kill: 1, Transport: "tcp", Timeout: 1,
	}).Faults(); len(f) != 0 {
		t.Errorf("the defaults: %q", f)
	}
	if f := new(Config).Faults(); len(f) < 6 {
		t.Errorf("nothing set: %q", f)
	}
}
