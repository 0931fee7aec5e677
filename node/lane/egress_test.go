package lane_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"treecast/node/lane"
	"treecast/wire/beef"
)

// connect opens a lane at a listening egress with an election line, and waits
// until the lane is there.
func connect(t *testing.T, e *lane.Egress, r lane.Request) *net.TCPConn {
	t.Helper()
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	before := len(e.Counters().Consumers)
	nc := dial(t, e.Addr())
	write(t, nc, append(line, '\n'))
	eventually(t, "lane open", func() bool { return len(e.Counters().Consumers) == before+1 })
	return nc
}

// expect reads exactly want.
func expect(t *testing.T, nc net.Conn, want []byte) {
	t.Helper()
	nc.SetReadDeadline(time.Now().Add(patience))
	got := make([]byte, len(want))
	if n, err := io.ReadFull(nc, got); err != nil {
		t.Fatalf("%d of %d bytes: %v", n, len(want), err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("got %x\nwant %x", got, want)
	}
}

// record is the delivery record of a payload under a topic.
func record(topic string, payload []byte) []byte {
	return beef.AppendDelivery(nil, &beef.Delivery{TopicID: beef.TopicIDOf(topic), Payload: payload})
}

// chunksOf returns the chunk payloads that carry a record, from seqNum on.
func chunksOf(t *testing.T, rec []byte, deliverCount int, seqNum uint64) [][]byte {
	t.Helper()
	sub, err := beef.ParseSubmission(rec, 0)
	if err != nil {
		t.Fatal(err)
	}
	sub.Allow(deliverCount)
	sub.Frame.SeqNum = seqNum
	chunks, err := beef.Chunks(&sub.Frame, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for c := range chunks {
		all = append(all, bytes.Clone(c))
	}
	return all
}

func handle(e *lane.Egress, chunks ...[]byte) {
	for _, c := range chunks {
		e.Handle(lane.Message{Payload: c})
	}
}

// TestDeliveryVectors connects a consumer with each vector's election and compares
// what it reads.
func TestDeliveryVectors(t *testing.T) {
	v := mustVectors(t)
	versions := map[string]string{"0100beef": "beef", "0200beef": "beefv2", "01010101": "atomic"}
	for _, d := range v.Delivery.Items {
		t.Run(d.ID, func(t *testing.T) {
			payload := v.payload(t, d.PayloadRef)
			f := beef.Frame{Payload: payload}
			f.DeliverCount, f.ContentID = d.DeliverCount, beef.ContentID(payload)
			copy(f.TopicID[:], unhex(t, d.HeaderTopicID))
			r := lane.Request{Topics: d.ElectedTopics}
			for _, word := range d.ElectedVersions {
				r.Versions = append(r.Versions, versions[word])
			}
			e := startEgress(t, lane.EgressConfig{Listen: "127.0.0.1:0"})
			nc := connect(t, e, r)
			handle(e, beef.AppendFrame(nil, &f))
			if d.Delivered {
				expect(t, nc, unhex(t, d.Record))
			}
			e.Close()
			awaitClose(t, nc)
			if got := e.Counters(); got.Unmatched != 1 && !d.Delivered || got.Records != 1 && d.Delivered {
				t.Errorf("unmatched %d, records %d", got.Unmatched, got.Records)
			}
		})
	}
}

// TestDeliveryStreamVector: records follow one another on a lane with nothing
// between them.
func TestDeliveryStreamVector(t *testing.T) {
	v := mustVectors(t)
	e := startEgress(t, lane.EgressConfig{Listen: "127.0.0.1:0"})
	nc := connect(t, e, lane.Request{Topics: []string{"tm_ship"}})
	handle(e, chunksOf(t, unhex(t, v.record(t, "one_topic_small").Record), 1, 1)...)
	handle(e, chunksOf(t, unhex(t, v.record(t, "three_topics_small").Record), 3, 2)...)
	expect(t, nc, unhex(t, v.Delivery.Stream.Hex))
}

// TestFragmentVectors puts the vectors' sets together, and delivers from the bad
// sequences exactly where they say so.
func TestFragmentVectors(t *testing.T) {
	v := mustVectors(t)
	sets := make(map[string][]string)
	for _, s := range v.Fragments.Sets {
		sets[s.ID] = s.Fragments
		if len(s.Fragments) == 0 {
			continue // made from a recipe; TestRoundTrip sends such ones
		}
		t.Run(s.ID, func(t *testing.T) {
			e := startEgress(t, lane.EgressConfig{Listen: "127.0.0.1:0"})
			nc := connect(t, e, lane.Request{Topics: []string{s.TopicID}})
			for _, f := range s.Fragments {
				handle(e, unhex(t, f))
			}
			eventually(t, "record written", func() bool { return e.Counters().Records == 1 })
			payload := readRecord(t, nc)
			if sum := sha256.Sum256(payload.Payload); hex.EncodeToString(sum[:]) != s.PayloadSHA256 {
				t.Error("the payload is another")
			}
			if payload.TopicID.String() != s.TopicID {
				t.Errorf("topic %v", payload.TopicID)
			}
		})
	}
	for _, b := range v.Fragments.Bad {
		t.Run("bad/"+b.ID, func(t *testing.T) {
			e := startEgress(t, lane.EgressConfig{Listen: "127.0.0.1:0"})
			connect(t, e, lane.Request{})
			for _, s := range b.Sequence {
				if s.Hex == "" {
					s.Hex = sets[s.Set][s.I]
				}
				handle(e, unhex(t, s.Hex))
			}
			want := strings.HasPrefix(b.Expect, "deliver") || b.Expect == "not_stated"
			if got := e.Counters().Objects == 1; got != want {
				t.Errorf("vector says %q, delivered: %v; %v", b.Expect, got, e.Counters().Fragments)
			}
		})
	}
}

// readRecord reads one delivery record.
func readRecord(t *testing.T, r io.Reader) beef.Delivery {
	t.Helper()
	if nc, ok := r.(net.Conn); ok {
		nc.SetReadDeadline(time.Now().Add(patience))
	}
	s, err := beef.NewDeliveryScanner(0)
	if err != nil {
		t.Fatal(err)
	}
	for {
		d, err := s.Next()
		if err == nil {
			return d
		}
		if !errors.Is(err, beef.ErrShort) {
			t.Fatal(err)
		}
		// One byte at a time would be slow, and more could be the next record's.
		n, err := io.ReadFull(r, s.Space()[:1])
		if err != nil {
			t.Fatal(err)
		}
		s.Fill(n)
	}
}

// TestRoundTrip sends objects of all sizes through an ingress, a cohort and an
// egress to a dialled consumer and a connected one.
func TestRoundTrip(t *testing.T) {
	v := mustVectors(t)
	sink := newSink(t)
	e := startEgress(t, lane.EgressConfig{
		Listen: "127.0.0.1:0",
		Dial:   []lane.DialConfig{mustDial(t, "sink@"+sink.addr()+"=tm_ship,tm_demo")},
	})
	own := connect(t, e, lane.Request{Format: "frame"})
	c := newCohort(t, func(b []byte) { handle(e, b) })
	in := startIngress(t, lane.IngressConfig{Publishers: only(c), Limits: unlimited})
	var want []byte
	var recs [][]byte
	for i, obj := range [][]byte{
		v.synthetic(t, "synthetic_400"), v.synthetic(t, "synthetic_100k"), v.synthetic(t, "synthetic_1m"),
		object("small", 4), object("large", 3<<20),
	} {
		topic := []string{"tm_ship", "tm_demo", "tm_slap"}[i%3]
		rec, err := beef.AppendRecord(nil, []string{topic}, obj)
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, rec)
		if topic != "tm_slap" {
			want = append(want, record(topic, rec)...)
		}
	}
	publisher := dial(t, in.Addrs()[0])
	go func() { // ends when all is sent; the cleanup closes the connection
		for _, rec := range recs {
			publisher.Write(rec)
		}
	}()
	expect(t, sink.conn(t), want)
	frames := bufio.NewReader(own)
	own.SetReadDeadline(time.Now().Add(patience))
	for i, rec := range recs {
		b := make([]byte, beef.HeaderSize+len(rec))
		if _, err := io.ReadFull(frames, b); err != nil {
			t.Fatal(err)
		}
		f, err := beef.ParseFrame(b)
		if err != nil || !bytes.Equal(f.Payload, rec) || f.ContentID != beef.ContentID(rec) || f.HashKey != hashKey() {
			t.Fatalf("frame %d: %+v, %v", i, f.Header, err)
		}
	}
}

// sink is a consumer that an edge dials.
type sink struct{ l net.Listener }

func newSink(t testing.TB) sink {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return sink{l}
}

func (s sink) addr() string { return s.l.Addr().String() }

// again listens once more where a closed sink did.
func (s sink) again(t *testing.T) sink {
	t.Helper()
	l, err := net.Listen("tcp", s.addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return sink{l}
}

func (s sink) conn(t *testing.T) *net.TCPConn {
	t.Helper()
	s.l.(*net.TCPListener).SetDeadline(time.Now().Add(patience))
	nc, err := s.l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return nc.(*net.TCPConn)
}

func mustDial(t *testing.T, s string) lane.DialConfig {
	t.Helper()
	d, err := lane.ParseDial(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// quick makes a dialled lane come back soon.
var quick = lane.EgressLimits{Backoff: 5 * time.Millisecond, MaxWait: 20 * time.Millisecond}

// TestAwayConsumer: what comes before a dialled consumer is there, and while it is
// away, waits for it.
func TestAwayConsumer(t *testing.T) {
	sink := newSink(t)
	sink.l.Close() // nobody there yet
	e := startEgress(t, lane.EgressConfig{Dial: []lane.DialConfig{mustDial(t, "sink@"+sink.addr())}, Limits: quick})
	eventually(t, "dials failed", func() bool { return e.Counters().Refused["dial"] > 2 })
	for round := range 3 {
		failed := e.Counters().Refused["dial"]
		var want []byte
		for i := range 5 {
			rec := submission(t, fmt.Sprint("away", round, i), 200+i, "a")
			handle(e, chunksOf(t, rec, 1, 1)...)
			want = append(want, record("a", rec)...)
		}
		if got := e.Counters().Consumers[0]; got.Queued != 5 || got.QueuedBytes != int64(len(want)) || got.Connected {
			t.Fatalf("round %d: %+v", round, got)
		}
		sink = sink.again(t)
		nc := sink.conn(t)
		expect(t, nc, want)
		sink.l.Close()
		nc.Close()
		eventually(t, "away", func() bool { return e.Counters().Refused["dial"] > failed+1 })
	}
	if got := e.Counters(); got.Lost != 0 || got.Records != 15 || got.Closed["gone"] != 3 {
		t.Errorf("lost %d, records %d, closed %v", got.Lost, got.Records, got.Closed)
	}
}

// TestOnce: an object through two ingresses reaches a consumer once, also when a
// late copy is put together again; and another consumer all the same.
func TestOnce(t *testing.T) {
	limits := lane.EgressLimits{Age: 100 * time.Millisecond}
	e := startEgress(t, lane.EgressConfig{Listen: "127.0.0.1:0", Limits: limits})
	one := connect(t, e, lane.Request{Topics: []string{"a", "b"}})
	small, large := submission(t, "small", 300, "a", "b"), submission(t, "large", 9000, "a", "b")
	for _, rec := range [][]byte{small, large} {
		handle(e, chunksOf(t, rec, 1, 1)...)
		expect(t, one, record("a", rec))
		time.Sleep(limits.Age + time.Millisecond) // the reassembler forgets
		handle(e, chunksOf(t, rec, 1, 100)...)
	}
	other := connect(t, e, lane.Request{Topics: []string{"b"}})
	handle(e, chunksOf(t, small, 1, 200)...) // b is a label
	handle(e, chunksOf(t, small, 2, 300)...) // passed once more by the ingress
	expect(t, other, record("b", small))
	e.Close()
	awaitClose(t, one)
	awaitClose(t, other)
	if got := e.Counters(); got.Repeated != 4 || got.Records != 3 || got.Objects != 6 {
		t.Errorf("repeated %d, records %d, objects %d", got.Repeated, got.Records, got.Objects)
	}
}

// TestSlowConsumer: a consumer that reads nothing loses its lane; nobody waits.
func TestSlowConsumer(t *testing.T) {
	const maxObject = 64 << 10
	slow, fast := newSink(t), newSink(t)
	limits := quick
	limits.Queue = 4 * maxObject
	e := startEgress(t, lane.EgressConfig{
		Listen: "127.0.0.1:0", MaxObject: maxObject, Limits: limits,
		Dial: []lane.DialConfig{mustDial(t, "slow@"+slow.addr()), mustDial(t, "fast@"+fast.addr())},
	})
	connected := connect(t, e, lane.Request{})
	reader := fast.conn(t)
	slow.conn(t)
	var sent, taken int
	rec := 0
	for e.Counters().Closed["slow"] < 2 { // the kernel's buffers fill first
		if rec++; rec > 2000 {
			t.Fatal("no lane was closed for being slow")
		}
		b := submission(t, fmt.Sprint(rec), maxObject-100, "a")
		handle(e, chunksOf(t, b, 1, uint64(rec))...)
		sent += len(b)
		taken += len(readRecord(t, bufio.NewReaderSize(limited(reader, len(b)+beef.DeliveryHeaderSize), 64<<10)).Payload)
	}
	if sent != taken {
		t.Errorf("the fast consumer has %d bytes of %d", taken, sent)
	}
	connected.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, connected); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connected lane stayed open")
	}
	again := slow.conn(t) // the dialled one comes back, without what it lost
	fresh := submission(t, "fresh", 100, "a")
	handle(e, chunksOf(t, fresh, 1, 9999)...)
	for d := readRecord(t, again); !bytes.Equal(d.Payload, fresh); d = readRecord(t, again) {
	}
	if got := e.Counters(); got.Lost == 0 || len(got.Consumers) != 2 {
		t.Errorf("lost %d, consumers %v", got.Lost, got.Consumers)
	}
}

// limited is r up to n bytes, so that a buffered reader takes no more.
func limited(r net.Conn, n int) io.Reader {
	r.SetReadDeadline(time.Now().Add(patience))
	return io.LimitReader(r, int64(n))
}

// TestUnwanted: the fragments of an object that nobody elects are not kept.
func TestUnwanted(t *testing.T) {
	e := startEgress(t, lane.EgressConfig{Listen: "127.0.0.1:0"})
	connect(t, e, lane.Request{Topics: []string{"b"}})
	rec := submission(t, "unwanted", 9000, "a")
	handle(e, chunksOf(t, rec, 1, 1)...)
	got := e.Counters()
	if got.Objects != 0 || got.Fragments["unwanted"] != 3 {
		t.Errorf("objects %d, fragments %v", got.Objects, got.Fragments)
	}
}

// TestHandleReleases: the message's memory goes back before Handle returns, and
// may change at once.
func TestHandleReleases(t *testing.T) {
	e := startEgress(t, lane.EgressConfig{Listen: "127.0.0.1:0"})
	nc := connect(t, e, lane.Request{})
	rec := submission(t, "lent", 500, "a")
	b := chunksOf(t, rec, 1, 1)[0]
	released := 0
	e.Handle(lane.Message{Payload: b, Release: func() { released++; clear(b) }})
	if released != 1 {
		t.Errorf("released %d times", released)
	}
	expect(t, nc, record("a", rec))
}

// TestRefusedConsumers: a bad election line gets one JSON line and a close.
func TestRefusedConsumers(t *testing.T) {
	e := startEgress(t, lane.EgressConfig{Listen: "127.0.0.1:0"})
	long := strings.Repeat("x", lane.MaxRequest)
	for _, test := range []struct{ line, want string }{
		{"hello\n", "JSON object"},
		{"\n", "JSON object"},
		{"[]\n", "JSON object"},
		{`{"topics":"a"}` + "\n", "topics"},
		{`{"topics":[""]}` + "\n", "topic"},
		{`{"topics":["` + strings.Repeat("n", 65) + `"]}` + "\n", "topic"},
		{`{"versions":["beefv3"]}` + "\n", "beefv3"},
		{`{"format":"json"}` + "\n", "json"},
		{`{"resume":"me"}` + "\n", "no retention"},
		{`{"since":3}` + "\n", "since"},
		{`{} {}` + "\n", "more than one"},
		{`{"topics":["` + long + `"]}` + "\n", "longer than 16384"},
	} {
		nc := dial(t, e.Addr())
		write(t, nc, []byte(test.line))
		nc.SetReadDeadline(time.Now().Add(patience))
		b, err := io.ReadAll(nc)
		if err != nil {
			t.Errorf("%.40q: %v", test.line, err)
			continue
		}
		var answer struct{ Error string }
		if err := json.Unmarshal(b, &answer); err != nil || bytes.Count(b, []byte("\n")) != 1 || !strings.Contains(answer.Error, test.want) {
			t.Errorf("%.40q: answer %q, %v, want %q", test.line, b, err, test.want)
		}
	}
	if n := e.Counters().Refused["election"]; n != 12 {
		t.Errorf("%d refused, want 12", n)
	}
}

// TestSilentConsumer: one that does not finish its election line in time is told.
func TestSilentConsumer(t *testing.T) {
	limits := lane.EgressLimits{Election: 50 * time.Millisecond}
	e := startEgress(t, lane.EgressConfig{Listen: "127.0.0.1:0", Limits: limits})
	nc := dial(t, e.Addr())
	write(t, nc, []byte(`{"topics":`))
	nc.SetReadDeadline(time.Now().Add(patience))
	if b, err := io.ReadAll(nc); err != nil || !bytes.Contains(b, []byte("timeout")) {
		t.Errorf("answer %q, %v", b, err)
	}
}

// TestElectionLine: a line without newline before the half close, hex topics,
// surplus bytes, a half close that leaves the lane open.
func TestElectionLine(t *testing.T) {
	e := startEgress(t, lane.EgressConfig{Listen: "127.0.0.1:0"})
	id := beef.TopicIDOf("a").String()
	var lanes []*net.TCPConn
	for i, line := range []string{`{"topics":["` + id + `"],"resume":""}`, "{}\nsurplus", `{"versions":["beef"],"format":"record"}` + "\n"} {
		nc := dial(t, e.Addr())
		write(t, nc, []byte(line))
		if i != 1 {
			nc.CloseWrite()
		}
		lanes = append(lanes, nc)
	}
	eventually(t, "lanes open", func() bool { return len(e.Counters().Consumers) == 3 })
	rec := submission(t, "lines", 100, "a")
	handle(e, chunksOf(t, rec, 1, 1)...)
	for _, nc := range lanes {
		expect(t, nc, record("a", rec))
	}
}

func TestConsumerBound(t *testing.T) {
	limits := lane.EgressLimits{Consumers: 1}
	e := startEgress(t, lane.EgressConfig{Listen: "127.0.0.1:0", Limits: limits})
	first := connect(t, e, lane.Request{})
	second := dial(t, e.Addr())
	second.SetReadDeadline(time.Now().Add(patience))
	if line, err := bufio.NewReader(second).ReadString('\n'); err != nil || !strings.Contains(line, "1 consumers") {
		t.Errorf("answer %q, %v", line, err)
	}
	first.SetLinger(0)
	first.Close()
	eventually(t, "place free", func() bool { return len(e.Counters().Consumers) == 0 })
	connect(t, e, lane.Request{})
}

// TestEgressClose: what waits for a connected consumer is written before Close
// returns; one that takes nothing does not hold Close up.
func TestEgressClose(t *testing.T) {
	limits := lane.EgressLimits{Flush: time.Second}
	e := startEgress(t, lane.EgressConfig{
		Listen: "127.0.0.1:0", Limits: limits,
		Dial: []lane.DialConfig{mustDial(t, "nobody@127.0.0.1:1")},
	})
	good, stuck := connect(t, e, lane.Request{}), connect(t, e, lane.Request{})
	var want []byte
	for i := range 10 {
		rec := submission(t, fmt.Sprint("close", i), 1<<20, "a")
		want = append(want, record("a", rec)...)
		handle(e, chunksOf(t, rec, 1, uint64(i)*1000+1)...)
	}
	read := make(chan struct{})
	go func() { // ends when all is there
		defer close(read)
		expect(t, good, want)
	}()
	start := time.Now()
	e.Close()
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("Close took %v", took)
	}
	<-read
	e.Close()
	stuck.Close()
	handle(e, chunksOf(t, submission(t, "after", 10, "a"), 1, 1)...) // is forgotten
}

func TestEgressConfig(t *testing.T) {
	taken := startEgress(t, lane.EgressConfig{Listen: "127.0.0.1:0"}).Addr().String()
	ok := lane.DialConfig{Name: "a", Addr: "127.0.0.1:1"}
	for _, test := range []struct {
		name string
		cfg  lane.EgressConfig
		want string
	}{
		{"twice", lane.EgressConfig{Dial: []lane.DialConfig{ok, ok}}, `"a" twice`},
		{"name", lane.EgressConfig{Dial: []lane.DialConfig{{Addr: ok.Addr}}}, "name"},
		{"queue", lane.EgressConfig{Limits: lane.EgressLimits{Queue: 1000}}, "Queue"},
		{"object", lane.EgressConfig{MaxObject: 3}, "3"},
		{"limit", lane.EgressConfig{Limits: lane.EgressLimits{Slots: -1}}, "Slots"},
		{"taken", lane.EgressConfig{Listen: taken}, taken},
	} {
		e, err := lane.NewEgress(test.cfg)
		if err == nil {
			e.Close()
			t.Errorf("%s: no error", test.name)
		} else if !strings.HasPrefix(err.Error(), "lane: egress") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %q does not name %q", test.name, err, test.want)
		}
	}
}

func TestParseDial(t *testing.T) {
	id := beef.TopicIDOf("a")
	for _, test := range []struct {
		in     string
		name   string
		addr   string
		topics []beef.TopicID
	}{
		{"x@127.0.0.1:9000", "x", "127.0.0.1:9000", nil},
		{"x@[::1]:9000=*", "x", "[::1]:9000", nil},
		{"x.y-z_1@host:9000=a", "x.y-z_1", "host:9000", []beef.TopicID{id}},
		{"x@host:9000=a, " + id.String() + ",k=v", "x", "host:9000", []beef.TopicID{id, id, beef.TopicIDOf("k=v")}},
	} {
		d, err := lane.ParseDial(test.in)
		if err != nil || d.Name != test.name || d.Addr != test.addr || fmt.Sprint(d.Election.Topics) != fmt.Sprint(test.topics) {
			t.Errorf("%q: %+v, %v", test.in, d, err)
		}
	}
	for in, want := range map[string]string{
		"":                      "NAME@HOST:PORT",
		"127.0.0.1:9000":        "NAME@HOST:PORT",
		"@127.0.0.1:9000":       `name ""`,
		"a b@127.0.0.1:9000":    `name "a b"`,
		"x@127.0.0.1":           "address",
		"x@:9000":               "no host",
		"x@h:0":                 "port 0",
		"x@h:99999":             "99999",
		"x@h:9000=":             `topic ""`,
		"x@h:9000=a,,b":         `topic ""`,
		"x@h:9000=*,\xff":       "topic",
		"x@h:9=" + longName(65): "topic",
	} {
		if _, err := lane.ParseDial(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", in, err, want)
		}
	}
}

func longName(n int) string { return strings.Repeat("n", n) }
