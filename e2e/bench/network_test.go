package main

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"

	"treecast/tree"
	"treecast/wire"
	"treecast/wire/beef"
)

// The graphs hang together, have no edge twice and give everybody their degree.
func TestRandomGraph(t *testing.T) {
	for _, c := range []struct{ n, degree int }{{2, 10}, {8, 10}, {16, 10}, {32, 10}, {64, 10}, {64, 0}, {12, 10}} {
		edges := randomGraph(c.n, c.degree, rand.New(rand.NewPCG(7, uint64(c.n))))
		want := c.degree
		if want == 0 || want > c.n-1 {
			want = c.n - 1
		}
		count, seen, group := make([]int, c.n), map[[2]int]bool{}, make([]int, c.n)
		for i := range group {
			group[i] = i
		}
		for _, e := range edges {
			if e[0] >= e[1] || seen[e] {
				t.Errorf("%v: edge %v", c, e)
			}
			seen[e] = true
			count[e[0]]++
			count[e[1]]++
			from, to := group[e[1]], group[e[0]]
			for i := range group {
				if group[i] == from {
					group[i] = to
				}
			}
		}
		for i := range c.n {
			if count[i] < want || group[i] != group[0] {
				t.Errorf("%v: host %d has %d neighbours in group %d", c, i, count[i], group[i])
			}
		}
	}
}

// tuned, default and stock change what their names say and what the library then
// demands, and are connected to all; best differs from tuned in its links and gossip.
func TestRivalParams(t *testing.T) {
	stock := pubsub.DefaultGossipSubParams()
	for _, name := range []string{"default", "stock"} {
		if c := rivals[name]; c.params() != stock || c.degree != 0 || !c.signed {
			t.Errorf("%s: %+v", name, c)
		}
	}
	want := stock
	want.D, want.Dlo, want.Dscore, want.Dout = 3, 2, 2, 0
	if c := rivals["tuned"]; c.params() != want || c.degree != 0 || c.signed || c.queues != 1024 {
		t.Errorf("tuned: %+v", c)
	}
	want.Dlazy = 3
	if c := rivals[bestName]; c.params() != want || c.degree != 10 || c.signed || c.queues != 1024 {
		t.Errorf("best: %+v", c)
	}
	for name, dhi := range map[string]int{"narrow": 4, "half": 6, "inline": 12} {
		c := rivals[name]
		want.Dhi = dhi
		if c.params() != want || c.degree != 10 || c.inline != (name == "inline") {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// The library takes all settings of the opponents.
func TestRivals(t *testing.T) {
	for name, cfg := range rivals {
		h, err := newHost(nil, &traffic{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := pubsub.NewGossipSub(ctx, h, cfg.options()...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		h.Close()
	}
}

func TestShape(t *testing.T) {
	name := func(i byte) (o wire.Overlay) { o[0] = i; return o }
	node := func(i byte, parents ...byte) tree.View {
		v := tree.View{Self: name(i), Broker: i == 0}
		for _, p := range parents {
			v.Parents = append(v.Parents, tree.ParentView{Peer: name(p)})
		}
		return v
	}
	got := shapeOf([]tree.View{node(4, 3, 1), node(3, 2, 1), node(1, 0), node(0), node(2, 0, 1), node(5, 4)})
	// 3 and 4 are two steps from the broker, over 1; 5 is three, with one parent.
	if got["max_depth"] != 3 || got["mean_parents"] != 8./5 || got["dual_parented"] != 2./3 {
		t.Errorf("shape %v", got)
	}
}

// What the object source makes is put together again by what subscribers do.
func TestObjectSource(t *testing.T) {
	const size = 20000
	src, parts, err := objectSource(size)
	if err != nil {
		t.Fatal(err)
	}
	if parts != 6 {
		t.Fatalf("%d parts", parts)
	}
	o, err := newObjects(1)
	if err != nil {
		t.Fatal(err)
	}
	for seq := range 3 * parts {
		payload := src.next(seq)
		if got := seqOf(payload, src.seqAt) - src.first; got != seq {
			t.Fatalf("chunk %d says it is %d", seq, got)
		}
		if len(payload) > beef.MaxChunk {
			t.Fatalf("chunk %d has %d bytes", seq, len(payload))
		}
		o.take(0, payload)
	}
	if o.whole.Load() != 3 || o.wrong.Load() != 0 {
		t.Errorf("%d objects whole, %d wrong fragments", o.whole.Load(), o.wrong.Load())
	}
}

func TestPlainSource(t *testing.T) {
	src := plainSource(512)
	for _, seq := range []int64{0, 7, 1 << 40} {
		if p := src.next(seq); len(p) != 512 || seqOf(p, src.seqAt) != seq {
			t.Errorf("payload of %d: %d bytes, number %d", seq, len(p), seqOf(p, src.seqAt))
		}
	}
	if seqOf([]byte("short"), 0) != -1 {
		t.Error("a short payload has a number")
	}
}

// Both sides carry every message to all, and their bytes are counted: the smallest
// run there is.
func TestRun(t *testing.T) {
	l := &load{payload: 600, warm: 200 * time.Millisecond, measure: 500 * time.Millisecond}
	for name, start := range map[string]func(context.Context) (side, error){
		"treecast":  func(ctx context.Context) (side, error) { return newTree(ctx, 4, 2) },
		"gossipsub": func(ctx context.Context) (side, error) { return newGossip(ctx, 4, rivals["tuned"]) },
	} {
		t.Run(name, func(t *testing.T) {
			net, err := start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer net.close()
			f, err := run(t.Context(), net, l, profiler{})
			if err != nil {
				t.Fatal(err)
			}
			if f["msgs_per_s"] <= 0 || f["missing"] != 0 || f["twice"] != 0 {
				t.Errorf("figures %v", f)
			}
			if f["copies"] < 0.5 || f["wire_bytes_per_payload_byte"] < 0.5 || f["cpu_s_per_1000"] <= 0 || f["p99_ms"] < f["p50_ms"] {
				t.Errorf("figures %v", f)
			}
		})
	}
}

// A run that cannot be measured says so and leaves nothing running.
func TestRunFails(t *testing.T) {
	net, err := newTree(t.Context(), 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer net.close()
	p := profiler{filepath.Join(t.TempDir(), "missing", "x.pprof")}
	if _, err := run(t.Context(), net, &load{payload: 64}, p); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// A mute host sends nothing on the protocol under test, and is still connected.
func TestMute(t *testing.T) {
	net, err := newTree(t.Context(), 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer net.close()
	publish := func() {
		books := newLedger(2, 0)
		net.attach(&reader{books: books})
		seq := books.send()
		if err := net.publish(plainSource(64).next(seq)); err != nil {
			t.Fatal(err)
		}
		for _, s := range books.subs {
			for end := time.Now().Add(10 * time.Second); countLocked(s) == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("it did not arrive")
				}
			}
		}
	}
	publish()
	victim := net.victims(1)[0]
	net.mute(victim)
	publish() // the broker feeds both
	m := net.members[victim+1].host
	if !m.muted.Load() || len(m.Host.Network().Conns()) == 0 {
		t.Error("not mute, or not connected")
	}
}

func countLocked(s *sink) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return countBits(s.has, 0, 1)
}
