package lane_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"treecast/node/lane"
	"treecast/wire/beef"
)

// TestFragments publishes objects around the size of a chunk and beyond, and puts
// them together again.
func TestFragments(t *testing.T) {
	c := newCohort(t, nil)
	in := startIngress(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited})
	const head = 4 + 1 + 1 + 4 // of a record with one topic of one byte
	fits := beef.MaxChunk - beef.HeaderSize - head
	sizes := map[int]int{ // object → chunks
		4: 1, fits: 1, fits + 1: 2,
		2*beef.MaxFragmentData - head: 2, 2*beef.MaxFragmentData - head + 1: 3,
		100 << 10: 26, 1 << 20: 263,
	}
	var recs [][]byte
	chunks := 0
	for size, n := range sizes {
		recs = append(recs, submission(t, "fragments", size, "a"))
		chunks += n
	}
	submit(t, in.Addrs()[0], recs...)
	got := c.seen()
	if len(got) != chunks {
		t.Fatalf("%d chunks, want %d", len(got), chunks)
	}
	parts, err := beef.NewReassembler(beef.ReassemblerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	whole := make(map[string]bool)
	for i, b := range got {
		if version, err := beef.FrameVersion(b); err != nil {
			t.Fatal(err)
		} else if version == beef.FrameVerObject {
			f, err := beef.ParseFrame(b)
			if err != nil || f.SeqNum != uint64(i)+1 || f.HashKey != hashKey() {
				t.Fatalf("frame %+v, %v", f.Header, err)
			}
			whole[string(f.Payload)] = true
			continue
		}
		frag, err := beef.ParseFragment(b)
		if err != nil || frag.SeqNum != uint64(i)+1 || frag.HashKey != hashKey() {
			t.Fatalf("fragment %+v, %v", frag.Header, err)
		}
		if f, o := parts.Add(time.Now(), &frag); o == beef.OutcomeComplete {
			whole[string(f.Payload)] = true
		}
	}
	for _, rec := range recs {
		if !whole[string(rec)] {
			t.Errorf("record of %d bytes did not come through", len(rec))
		}
	}
}

// TestDuplicates: an object passes once, again after its publication failed, and
// again under a higher DeliverCount.
func TestDuplicates(t *testing.T) {
	c := newCohort(t, nil)
	in := startIngress(t, lane.IngressConfig{
		Publishers: only(c), Limits: unlimited,
		Doors: []lane.Door{
			{Addr: "127.0.0.1:0"},
			{Addr: "127.0.0.1:0", DeliverCap: 2, Allow: loopback},
		},
	})
	open, allowed := in.Addrs()[0], in.Addrs()[1]
	rec := submission(t, "twice", 300, "a", "b", "c")
	broken := errors.New("broken")
	c.set(func(c *cohort) { c.failAt = func(uint64) error { return broken } })
	submit(t, open, rec)
	if got := in.Counters(); got.Failed[lane.ReasonPublish] != 1 || got.Published != 0 {
		t.Fatalf("failed %v, published %d", got.Failed, got.Published)
	}
	c.set(func(c *cohort) { c.failAt, c.reserveIs = nil, broken })
	submit(t, open, rec)
	if got := in.Counters(); got.Failed[lane.ReasonReserve] != 1 {
		t.Fatalf("failed %v", got.Failed)
	}
	c.set(func(c *cohort) { c.reserveIs = nil })
	submit(t, open, rec, rec)
	submit(t, open, rec)
	submit(t, allowed, rec, rec)
	submit(t, open, rec)
	got := in.Counters()
	if got.Published != 2 || got.Rejected[lane.ReasonDuplicate] != 4 {
		t.Errorf("published %d, rejected %v", got.Published, got.Rejected)
	}
	var counts []uint8
	for _, b := range c.seen() {
		counts = append(counts, b[7])
	}
	if len(counts) != 2 || counts[0] != 1 || counts[1] != 2 {
		t.Errorf("DeliverCounts %v, want 1 and 2", counts)
	}
}

// TestFailedFragment: an object of which one fragment is lost is lost once, and
// what follows it is not.
func TestFailedFragment(t *testing.T) {
	c := newCohort(t, nil)
	c.failAt = func(index uint64) error {
		if index == 1 || index == 2 {
			return errors.New("no receipt")
		}
		return nil
	}
	in := startIngress(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited})
	submit(t, in.Addrs()[0], submission(t, "lost", 20000, "a"), submission(t, "kept", 20000, "a"))
	got := in.Counters()
	if got.Failed[lane.ReasonPublish] != 1 || got.Published != 1 || got.Chunks != 12 {
		t.Errorf("failed %v, published %d, chunks %d", got.Failed, got.Published, got.Chunks)
	}
}

// TestBacklog: while the publisher holds back, the door leaves sockets unread and
// holds no more than its backlog.
func TestBacklog(t *testing.T) {
	c := newCohort(t, nil)
	limits := unlimited
	limits.Backlog = 8 * beef.MaxChunk
	in := startIngress(t, lane.IngressConfig{Publishers: only(c), Limits: limits})
	open := c.shut(t, &c.receipts)
	const objects = 200
	sent := make(chan struct{})
	go func() { // ends once the gate is open
		defer close(sent)
		nc, err := net.Dial("tcp", in.Addrs()[0].String())
		if err != nil {
			t.Error(err)
			return
		}
		defer nc.Close()
		for i := range objects {
			rec, _ := beef.AppendRecord(nil, []string{"a"}, object(string(rune(i)), 1000))
			if _, err := nc.Write(rec); err != nil {
				t.Error(err)
				return
			}
		}
		nc.(*net.TCPConn).CloseWrite()
		awaitClose(t, nc)
	}()
	eventually(t, "backlog full", func() bool { return in.Counters().Throttled[lane.ReasonBacklog] > 0 })
	if n := in.Counters().Objects; n > 8 {
		t.Errorf("%d objects taken before any was settled, want at most 8", n)
	}
	open()
	<-sent
	if n := in.Counters().Published; n != objects {
		t.Errorf("%d objects published, want %d", n, objects)
	}
}

// TestRates: what is over a rate comes later, not never.
func TestRates(t *testing.T) {
	for _, test := range []struct {
		name   string
		limits lane.IngressLimits
		reason string
	}{
		{"objects", lane.IngressLimits{Objects: 20, Bytes: -1, NodeObjects: -1}, lane.ReasonObjects},
		{"bytes", lane.IngressLimits{Objects: -1, Bytes: 20000, NodeObjects: -1}, lane.ReasonBytes},
		{"node", lane.IngressLimits{Objects: -1, Bytes: -1, NodeObjects: 20}, lane.ReasonNode},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newCohort(t, nil)
			in := startIngress(t, lane.IngressConfig{Publishers: only(c), Limits: test.limits})
			var recs [][]byte
			for i := range 30 { // one second's worth and half of one more
				recs = append(recs, submission(t, string(rune('A'+i)), 990, "a"))
			}
			start := time.Now()
			submit(t, in.Addrs()[0], recs...)
			got := in.Counters()
			if got.Published != 30 || got.Throttled[test.reason] == 0 || len(got.Throttled) != 1 {
				t.Errorf("published %d, throttled %v", got.Published, got.Throttled)
			}
			if took := time.Since(start); took < 400*time.Millisecond {
				t.Errorf("took %v, want about half a second", took)
			}
		})
	}
}

// TestIdleAndStalled: a connection without a start is closed after Idle, one with
// half an object after Stall.
func TestIdleAndStalled(t *testing.T) {
	limits := unlimited
	limits.Idle, limits.Stall = 500*time.Millisecond, 50*time.Millisecond
	in := startIngress(t, lane.IngressConfig{Publishers: only(newCohort(t, nil)), Limits: limits})
	idle, stalled := dial(t, in.Addrs()[0]), dial(t, in.Addrs()[0])
	write(t, stalled, []byte{0xBE, 0xEF, 1})
	awaitClose(t, idle)
	awaitClose(t, stalled)
	eventually(t, "both counted", func() bool {
		got := in.Counters()
		return got.Closed[lane.ReasonIdle] == 1 && got.Closed[lane.ReasonStalled] == 1 && got.Open == 0
	})
}

func TestConnectionBounds(t *testing.T) {
	limits := unlimited
	limits.Conns, limits.SourceConns = 3, 2
	in := startIngress(t, lane.IngressConfig{
		Publishers: only(newCohort(t, nil)), Limits: limits,
		Doors: []lane.Door{{Addr: "127.0.0.1:0"}, {Addr: "127.0.0.1:0"}},
	})
	one, other := in.Addrs()[0], in.Addrs()[1]
	kept := dial(t, one)
	dial(t, one)
	eventually(t, "two open", func() bool { return in.Counters().Open == 2 })
	awaitClose(t, dial(t, one))
	dial(t, other)
	eventually(t, "three open", func() bool { return in.Counters().Open == 3 })
	awaitClose(t, dial(t, other))
	got := in.Counters()
	if got.Refused[lane.ReasonSourceConns] != 1 || got.Refused[lane.ReasonConns] != 1 {
		t.Errorf("refused %v", got.Refused)
	}
	kept.Close()
	eventually(t, "place free", func() bool { return in.Counters().Open == 2 })
	submit(t, one, submission(t, "after", 100, "a"))
	if n := in.Counters().Published; n != 1 {
		t.Errorf("%d objects published, want 1", n)
	}
}

// TestLargeObjects: more large objects than places come through one after the
// other, and small ones beside them.
func TestLargeObjects(t *testing.T) {
	limits := unlimited
	limits.LargeObjects = 1
	in := startIngress(t, lane.IngressConfig{Publishers: only(newCohort(t, nil)), Limits: limits})
	holder := dial(t, in.Addrs()[0])
	large := submission(t, "large", 200<<10, "a")
	write(t, holder, large[:150<<10])
	waiter := dial(t, in.Addrs()[0])
	rest := submission(t, "larger", 300<<10, "a")
	go waiter.Write(rest) // the cleanup closes waiter
	eventually(t, "second waits", func() bool { return in.Counters().Throttled[lane.ReasonLarge] == 1 })
	submit(t, in.Addrs()[0], submission(t, "small", 1000, "a"))
	if n := in.Counters().Published; n != 1 {
		t.Errorf("%d objects published, want the small one", n)
	}
	write(t, holder, large[150<<10:])
	eventually(t, "both large ones", func() bool { return in.Counters().Published == 3 })
}

// TestGroups: objects of another group's topics are rejected.
func TestGroups(t *testing.T) {
	c := newCohort(t, nil)
	const bits = 1
	group, err := beef.GroupIndex(beef.TopicIDOf("tm_ship"), bits) // starts with a 1 bit
	if err != nil {
		t.Fatal(err)
	}
	in := startIngress(t, lane.IngressConfig{
		Publishers: map[uint32]lane.Publisher{group: c}, Limits: unlimited, ShardBits: bits,
	})
	submit(t, in.Addrs()[0], submission(t, "in", 100, "tm_ship"), submission(t, "out", 100, "tm_slap"))
	if got := in.Counters(); got.Published != 1 || got.Rejected[lane.ReasonGroup] != 1 {
		t.Errorf("published %d, rejected %v", got.Published, got.Rejected)
	}
	sender := beef.SenderOf([32]byte{})
	f, err := beef.ParseFrame(c.seen()[0])
	if err != nil || f.HashKey != beef.HashKey(sender, group) {
		t.Errorf("hash key %x, %v", f.HashKey, err)
	}
}

func TestSender(t *testing.T) {
	c := newCohort(t, nil)
	sender := netip.MustParseAddr("fd00::1234")
	in := startIngress(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited, Sender: sender})
	submit(t, in.Addrs()[0], submission(t, "sender", 100, "a"))
	f, err := beef.ParseFrame(c.seen()[0])
	if err != nil || f.HashKey != 0x07a4ed45d7f6528e { // of the vectors, for group 0x1000
		t.Errorf("hash key %x, %v", f.HashKey, err)
	}
}

// TestIngressClose: Close ends connections in every state, twice.
func TestIngressClose(t *testing.T) {
	var passed atomic.Bool
	c := newCohort(t, nil)
	in := startIngress(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited})
	open := c.shut(t, &c.calls)
	idle, half, full := dial(t, in.Addrs()[0]), dial(t, in.Addrs()[0]), dial(t, in.Addrs()[0])
	write(t, half, []byte{0xBE, 0xEF, 1})
	for i := range 10 {
		write(t, full, submission(t, string(rune('a'+i)), 1000, "a"))
	}
	eventually(t, "the publisher has an object", func() bool { return c.held() > 0 })
	closed := make(chan struct{})
	go func() { // ends once the publisher lets go
		defer close(closed)
		in.Close()
		if !passed.Load() {
			t.Error("Close did not wait for the publisher")
		}
		in.Close()
	}()
	for _, nc := range []net.Conn{idle, half, full} {
		awaitClose(t, nc)
	}
	passed.Store(true)
	open()
	<-closed
	if _, err := net.Dial("tcp", in.Addrs()[0].String()); err == nil {
		t.Error("the door is still open")
	}
}

func TestIngressConfig(t *testing.T) {
	c := newCohort(t, nil)
	doors := []lane.Door{{Addr: "127.0.0.1:0"}}
	taken := startIngress(t, lane.IngressConfig{Publishers: only(c)}).Addrs()[0].String()
	for _, test := range []struct {
		name string
		cfg  lane.IngressConfig
		want string
	}{
		{"publisher", lane.IngressConfig{Doors: doors}, "Publishers"},
		{"doors", lane.IngressConfig{Publishers: only(c)}, "Doors"},
		{"sender", lane.IngressConfig{Publishers: only(c), Doors: doors, Sender: netip.MustParseAddr("192.0.2.1")}, "192.0.2.1"},
		{"bits", lane.IngressConfig{Publishers: only(c), Doors: doors, ShardBits: 16}, "16"},
		{"group", lane.IngressConfig{Publishers: map[uint32]lane.Publisher{0x1001: c}, Doors: doors}, "0x1001"},
		{"object", lane.IngressConfig{Publishers: only(c), Doors: doors, MaxObject: 3}, "MaxObject"},
		{"fragments", lane.IngressConfig{Publishers: only(c), Doors: doors, MaxObject: 1 << 30}, "MaxObject"},
		{"limit", lane.IngressConfig{Publishers: only(c), Doors: doors, Limits: lane.IngressLimits{Conns: -1}}, "Conns"},
		{"cap", lane.IngressConfig{Publishers: only(c), Doors: []lane.Door{{DeliverCap: 16}}}, "16"},
		{"allow", lane.IngressConfig{Publishers: only(c), Doors: []lane.Door{{Allow: make([]netip.Prefix, 1)}}}, "Allow"},
		{"taken", lane.IngressConfig{Publishers: only(c), Doors: []lane.Door{doors[0], {Addr: taken}}}, taken},
	} {
		in, err := lane.NewIngress(test.cfg)
		if err == nil {
			in.Close()
			t.Errorf("%s: no error", test.name)
		} else if !strings.HasPrefix(err.Error(), "lane: ingress") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %q does not name %q", test.name, err, test.want)
		}
	}
}

// TestLog: a malformed record is logged once, with where, why and who.
func TestLog(t *testing.T) {
	var log logged
	in := startIngress(t, lane.IngressConfig{
		Publishers: only(newCohort(t, nil)), Limits: unlimited,
		Log: slog.New(slog.NewJSONHandler(&log, nil)),
	})
	nc := dial(t, in.Addrs()[0])
	good := submission(t, "good", 100, "a")
	write(t, nc, append(good, 0xBE, 0xEF, 1, 16))
	awaitClose(t, nc)
	eventually(t, "close counted", func() bool { return in.Counters().Closed[beef.ReasonTopicCount] == 1 })
	in.Close()
	var line struct {
		Reason, Remote string
		Offset         int
	}
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatalf("%v in %q", err, log.Bytes())
	}
	if line.Reason != beef.ReasonTopicCount || line.Remote != nc.LocalAddr().String() || line.Offset != len(good)+3 {
		t.Errorf("logged %+v", line)
	}
}

// logged is a buffer that several goroutines may write to.
type logged struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(b)
}

// TestCollectors: every metric is described, and collects without complaint.
func TestCollectors(t *testing.T) {
	c := newCohort(t, nil)
	in := startIngress(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited})
	e := startEgress(t, lane.EgressConfig{Dial: []lane.DialConfig{{Name: "sink", Addr: "127.0.0.1:1"}}})
	rec := submission(t, "metrics", 100, "a")
	submit(t, in.Addrs()[0], rec, rec, []byte("x"))
	eventually(t, "published, and the connection gone", func() bool { return in.Counters().Published == 1 && in.Counters().Open == 0 })
	e.Handle(lane.Message{Payload: c.seen()[0]})
	e.Handle(lane.Message{Payload: []byte("no frame")})
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(in, e)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.Metric {
			values[f.GetName()] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	for name, want := range map[string]float64{
		"treecast_ingress_published_total": 1, "treecast_ingress_rejected_total": 1, "treecast_ingress_closed_total": 1,
		"treecast_egress_messages_total": 2, "treecast_egress_ignored_total": 1, "treecast_egress_objects_total": 1,
		"treecast_egress_lane_queued_bytes": float64(len(rec) + beef.DeliveryHeaderSize),
	} {
		if values[name] != want {
			t.Errorf("%s is %v, want %v", name, values[name], want)
		}
	}
}
