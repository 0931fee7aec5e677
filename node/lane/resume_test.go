package lane_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"treecast/node/follow"
	"treecast/node/lane"
	"treecast/node/retain"
	"treecast/wire"
	"treecast/wire/beef"
)

// edge is an egress above what a node keeps on its disk.
type edge struct {
	t    *testing.T
	dir  string
	cfg  lane.EgressConfig
	next uint64 // feed index

	*lane.Egress
	store     *retain.Store
	positions *retain.Positions
	log       *retain.Log
	http      *httptest.Server
}

var (
	pool  = wire.NewPool()
	alice = wire.Owner{1}
)

func newEdge(t *testing.T, cfg lane.EgressConfig) *edge {
	t.Helper()
	if cfg.Listen == "" && len(cfg.Dial) == 0 {
		cfg.Listen = "127.0.0.1:0"
	}
	e := &edge{t: t, dir: t.TempDir(), cfg: cfg}
	e.start()
	t.Cleanup(func() { e.stop() })
	return e
}

// source is the node's cohort.
type source struct{ *retain.Log }

func (source) Topic() wire.Topic { return beef.CohortTopic(beef.BaseGroup) }

func (e *edge) start() {
	e.t.Helper()
	var err error
	if e.store, err = retain.OpenStore(retain.StoreConfig{Dir: e.dir, Size: 1 << 30}); err != nil {
		e.t.Fatal(err)
	}
	if e.positions, err = retain.OpenPositions(retain.PositionsConfig{Dir: e.dir}); err != nil {
		e.t.Fatal(err)
	}
	if e.log, err = retain.NewLog(source{}.Topic(), retain.RingConfig{}, e.store); err != nil {
		e.t.Fatal(err)
	}
	e.log.Settle(alice, e.next, e.next, 0)
	cfg := e.cfg
	if cfg.Follow, err = follow.New(follow.Config{Positions: e.positions}); err != nil {
		e.t.Fatal(err)
	}
	cfg.Follow.Add(source{e.log})
	if e.Egress, err = lane.NewEgress(cfg); err != nil {
		e.t.Fatal(err)
	}
	e.http = httptest.NewServer(e.Handler())
}

// stop ends all, in the order in which a node does.
func (e *edge) stop() {
	e.t.Helper()
	if e.Egress == nil {
		return
	}
	e.CloseResumed()
	for _, err := range []error{e.positions.Close(), e.store.Close(), e.Close()} {
		if err != nil {
			e.t.Error(err)
		}
	}
	e.http.Close()
	e.Egress = nil
}

// publish brings a record to the edge, as its node does.
func (e *edge) publish(rec []byte) {
	e.t.Helper()
	for _, c := range chunksOf(e.t, rec, 1, e.next+1) {
		buf := pool.Frame(wire.AppendSoc(nil, &wire.Soc{
			ID: make([]byte, 32), Owner: alice[:], Signature: make([]byte, 65), Span: make([]byte, 8), Payload: c,
			Index: e.next, HasIndex: true,
		}))
		laid := e.log.Lay(buf)
		e.log.Add(time.Now(), alice, e.next, buf, laid, true)
		laid.Release()
		buf.Release()
		e.Handle(lane.Message{Payload: c, Owner: alice, Index: e.next, HasIndex: true})
		e.log.Settle(alice, e.next, e.next+1, 0)
		e.next++
	}
}

// client is a consumer with a name, over one kind of lane.
type client struct {
	io.Reader
	ack   func(taken int) // nil: it does not
	cut   func()          // the connection breaks
	taken int
}

// kinds connect in each way. A cut breaks the connection without a word.
var kinds = map[string]func(*testing.T, *edge, lane.Request) *client{
	"tcp":              tcpClient,
	"tcp with ack":     func(t *testing.T, e *edge, r lane.Request) *client { r.Ack = true; return tcpClient(t, e, r) },
	"stream":           streamClient,
	"socket":           socketClient,
	"socket with acks": func(t *testing.T, e *edge, r lane.Request) *client { r.Ack = true; return socketClient(t, e, r) },
}

func tcpClient(t *testing.T, e *edge, r lane.Request) *client {
	t.Helper()
	nc := dial(t, e.Addr())
	nc.SetReadBuffer(small)
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	write(t, nc, append(line, '\n'))
	nc.SetReadDeadline(time.Now().Add(3 * patience))
	c := &client{Reader: nc, cut: func() {
		nc.SetLinger(0)
		nc.Close()
	}}
	if r.Ack {
		c.ack = func(taken int) { fmt.Fprintf(nc, "%d\n", taken) }
	}
	return c
}

func query(r lane.Request) url.Values {
	q := url.Values{"resume": {r.Resume}}
	if r.Format != "" {
		q.Set("format", r.Format)
	}
	if r.Ack {
		q.Set("ack", "true")
	}
	return q
}

// small is what a client's kernel may hold that it has not read.
const small = 64 << 10

// httpDialer is an HTTP client whose connections hold little.
func httpDialer() *http.Client {
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		nc, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err == nil {
			err = nc.(*net.TCPConn).SetReadBuffer(small)
		}
		return nc, err
	}
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: dial}}
}

func streamClient(t *testing.T, e *edge, r lane.Request) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.http.URL+"?"+query(r).Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := httpDialer().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		t.Fatalf("status %d", res.StatusCode)
	}
	return &client{Reader: res.Body, cut: cancel}
}

func socketClient(t *testing.T, e *edge, r lane.Request) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	t.Cleanup(cancel)
	conn, _, err := websocket.Dial(ctx, e.http.URL+"?"+query(r).Encode(), &websocket.DialOptions{HTTPClient: httpDialer()})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	c := &client{Reader: &messages{ctx: ctx, conn: conn}, cut: func() { conn.CloseNow() }}
	if r.Ack {
		c.ack = func(taken int) { conn.Write(ctx, websocket.MessageText, fmt.Append(nil, taken)) }
	}
	return c
}

// read reads one record, and acknowledges it.
func (c *client) read(t *testing.T, format string, want []byte) {
	t.Helper()
	head := beef.DeliveryHeaderSize
	if format == "frame" {
		head = beef.HeaderSize
	}
	b := make([]byte, head+len(want))
	if n, err := io.ReadFull(c, b); err != nil {
		t.Fatalf("%d of %d bytes: %v", n, len(b), err)
	}
	if !bytes.Equal(b[head:], want) {
		t.Fatalf("another record of %d bytes", len(want))
	}
	if c.taken++; c.ack != nil {
		c.ack(c.taken)
	}
}

// TestResume cuts consumers of each kind in the middle of a record, many times, with
// records in between that come while they are away, and restarts the edge. A record
// that was written whole does not come again, the one that was cut does, in order.
func TestResume(t *testing.T) {
	for _, test := range []struct {
		kind, format string
		rounds, size int // a record that buffers do not take, but for one who acknowledges
	}{
		{"tcp", "record", 1, 6 << 20},
		{"stream", "frame", 1, 6 << 20},
		{"socket", "record", 1, 6 << 20},
		{"tcp with ack", "frame", 3, 1 << 20},
		{"socket with acks", "record", 3, 200_000},
	} {
		open, format := kinds[test.kind], test.format
		t.Run(test.kind, func(t *testing.T) {
			e := newEdge(t, lane.EgressConfig{})
			request := lane.Request{Resume: "shop", Format: format}
			c := open(t, e, request)
			eventually(t, "lane open", func() bool { return len(e.Counters().Consumers) == 1 })
			for round := range test.rounds {
				little := submission(t, fmt.Sprint("small", round), 300, "a")
				big := submission(t, fmt.Sprint("big", round), test.size, "a")
				away := submission(t, fmt.Sprint("away", round), 20000, "a")
				e.publish(little)
				c.read(t, format, little)
				e.publish(big)
				if _, err := io.ReadFull(c, make([]byte, 100_000)); err != nil {
					t.Fatal(err)
				}
				c.cut()
				eventually(t, "lane closed", func() bool { return len(e.Counters().Consumers) == 0 })
				e.publish(away)
				if round == test.rounds-1 {
					e.stop()
					e.start()
				}
				c = open(t, e, request)
				c.taken = 0
				c.read(t, format, big)
				c.read(t, format, away)
			}
			c.cut()
			eventually(t, "lane closed", func() bool { return len(e.Counters().Consumers) == 0 })
		})
	}
}

// TestResumeAcknowledged cuts consumers anywhere, with much in the buffers that was
// never read: all comes again that was not acknowledged, and nothing else.
func TestResumeAcknowledged(t *testing.T) {
	for _, kind := range []string{"tcp with ack", "socket with acks"} {
		t.Run(kind, func(t *testing.T) {
			const seed = 20261130
			rng := rand.New(rand.NewPCG(seed, 1))
			e := newEdge(t, lane.EgressConfig{})
			request := lane.Request{Resume: "shop"}
			c := kinds[kind](t, e, request)
			eventually(t, "lane open", func() bool { return len(e.Counters().Consumers) == 1 })
			var all [][]byte
			for i := range 120 {
				all = append(all, submission(t, fmt.Sprint("o", i), 10+rng.IntN(9000), "a"))
				e.publish(all[i])
			}
			for cuts, at := 0, 0; at < len(all); cuts++ {
				for range min(rng.IntN(10), len(all)-at) {
					c.read(t, "record", all[at])
					at++
				}
				if at == len(all) {
					break
				}
				io.ReadFull(c, make([]byte, rng.IntN(10+len(all[at]))))
				// What it has acknowledged the edge has to have: a socket that is cut
				// takes with it what is under way.
				eventually(t, "acknowledged", func() bool { return e.Counters().Follow.Acked == uint64(at) })
				c.cut()
				eventually(t, "lane closed", func() bool { return len(e.Counters().Consumers) == 0 })
				c = kinds[kind](t, e, request)
			}
			eventually(t, "all acknowledged", func() bool { return e.Counters().Follow.Acked == uint64(len(all)) })
			c.cut()
		})
	}
}

// TestResumeSlow: one that takes nothing while a queue's worth comes for it loses its
// lane and is told; others have no part in it, and it goes on without a loss.
func TestResumeSlow(t *testing.T) {
	const maxObject = 64 << 10
	limits := lane.EgressLimits{Queue: 4 * maxObject}
	e := newEdge(t, lane.EgressConfig{MaxObject: maxObject, Limits: limits})
	slow := tcpClient(t, e, lane.Request{Resume: "slow"})
	eventually(t, "lane open", func() bool { return len(e.Counters().Consumers) == 1 })
	fast := connect(t, e.Egress, lane.Request{})
	var all [][]byte
	for e.Counters().Closed["slow"] == 0 { // the kernel's buffers fill first
		if len(all) > 4000 {
			t.Fatal("the lane was not closed for being slow")
		}
		rec := submission(t, fmt.Sprint(len(all)), maxObject-100, "a")
		all = append(all, rec)
		e.publish(rec)
		readRecord(t, bufio.NewReaderSize(limited(fast, len(rec)+beef.DeliveryHeaderSize), 64<<10))
	}
	if got := e.Counters(); got.Lost != 0 {
		t.Errorf("lost %d", got.Lost)
	}
	eventually(t, "lane closed", func() bool { return len(e.Counters().Consumers) == 1 })
	rest, err := io.ReadAll(slow)
	if err != nil && !strings.Contains(err.Error(), "reset") {
		t.Fatal(err)
	}
	size := len(all[0]) + beef.DeliveryHeaderSize
	at := len(rest) / size
	again := tcpClient(t, e, lane.Request{Resume: "slow"})
	for _, rec := range all[at:] {
		again.read(t, "record", rec)
	}
	again.cut()
}

// TestResumeBehind: one that is far behind, and reads, is not slow.
func TestResumeBehind(t *testing.T) {
	const maxObject = 64 << 10
	e := newEdge(t, lane.EgressConfig{MaxObject: maxObject, Limits: lane.EgressLimits{Queue: 2 * maxObject}})
	c := tcpClient(t, e, lane.Request{Resume: "shop"})
	eventually(t, "lane open", func() bool { return len(e.Counters().Consumers) == 1 })
	c.cut()
	eventually(t, "lane closed", func() bool { return len(e.Counters().Consumers) == 0 })
	var all [][]byte
	for i := range 100 {
		all = append(all, submission(t, fmt.Sprint(i), maxObject/2, "a"))
		e.publish(all[i])
	}
	c = tcpClient(t, e, lane.Request{Resume: "shop"})
	for i, rec := range all {
		c.read(t, "record", rec)
		all = append(all, submission(t, fmt.Sprint("more", i), 100, "a"))
		e.publish(all[len(all)-1])
	}
	for _, rec := range all[100:] {
		c.read(t, "record", rec)
	}
	if n := e.Counters().Closed["slow"]; n != 0 {
		t.Errorf("%d lanes closed for being slow", n)
	}
	c.cut()
}

// TestResumeTwice: the newest connection of a name has it, and the older one is told.
func TestResumeTwice(t *testing.T) {
	e := newEdge(t, lane.EgressConfig{})
	old := openers["websocket"](t, e.http.URL, url.Values{"resume": {"shop"}})
	eventually(t, "lane open", func() bool { return len(e.Counters().Consumers) == 1 })
	told := make(chan string, 1)
	go func() { // ends with the lane
		_, err := io.Copy(io.Discard, old)
		told <- old.closed(err)
	}()
	c := tcpClient(t, e, lane.Request{Resume: "shop"})
	if got := <-told; got != websocket.StatusPolicyViolation.String() {
		t.Errorf("the older one was told %v", got)
	}
	rec := submission(t, "rec", 300, "a")
	e.publish(rec)
	c.read(t, "record", rec)
	eventually(t, "counted", func() bool {
		got := e.Counters()
		return len(got.Consumers) == 1 && got.Closed["replaced"] == 1 && got.Consumers[0].Resume == "shop"
	})
	c.cut()
}

// TestResumeDialled: a dialled lane goes on where it was, from the edge's start on,
// while its consumer is away, and over a restart of the edge.
func TestResumeDialled(t *testing.T) {
	sink := newSink(t)
	sink.l.Close()
	limits := quick
	limits.Queue = 1 << 20
	e := newEdge(t, lane.EgressConfig{MaxObject: 100_000, Dial: []lane.DialConfig{mustDial(t, "sink@"+sink.addr())}, Limits: limits})
	for round := range 4 {
		var want [][]byte
		for i := range 30 { // more than a queue holds
			rec := submission(t, fmt.Sprint("away", round, i), 90_000, "a")
			e.publish(rec)
			want = append(want, rec)
		}
		if round == 2 {
			e.stop()
			e.start()
		}
		sink = sink.again(t)
		nc := sink.conn(t)
		nc.SetReadDeadline(time.Now().Add(patience))
		c := &client{Reader: nc}
		for _, rec := range want {
			c.read(t, "record", rec)
		}
		before := e.Counters().Refused["dial"]
		sink.l.Close()
		nc.Close()
		eventually(t, "away", func() bool { return e.Counters().Refused["dial"] > before+1 })
	}
	if got := e.Counters(); got.Lost != 0 || got.Closed["slow"] != 0 {
		t.Errorf("lost %d, closed %v", got.Lost, got.Closed)
	}
}

// TestResumeRefused: who cannot go on under a name is told why.
func TestResumeRefused(t *testing.T) {
	sink := newSink(t)
	e := newEdge(t, lane.EgressConfig{Listen: "127.0.0.1:0", Dial: []lane.DialConfig{mustDial(t, "sink@"+sink.addr())}})
	for _, test := range []struct{ line, want string }{
		{`{"resume":"sink"}`, "dials that consumer"},
		{`{"resume":"a b"}`, "letters"},
		{`{"resume":"` + strings.Repeat("n", 65) + `"}`, "letters"},
		{`{"ack":true}`, "without resume"},
	} {
		nc := dial(t, e.Addr())
		write(t, nc, []byte(test.line+"\n"))
		nc.SetReadDeadline(time.Now().Add(patience))
		b, err := io.ReadAll(nc)
		if err != nil || !bytes.Contains(b, []byte(test.want)) {
			t.Errorf("%s: %q, %v", test.line, b, err)
		}
	}
	for _, said := range []string{"one\n", "2\n", "-1\n", strings.Repeat("0", 40) + "\n"} {
		nc := tcpClient(t, e, lane.Request{Resume: "shop", Ack: true}).Reader.(net.Conn)
		eventually(t, "lane open", func() bool { return len(e.Counters().Consumers) == 2 })
		before := e.Counters().Closed["bad_ack"]
		fmt.Fprint(nc, said)
		eventually(t, "closed for "+said, func() bool { return e.Counters().Closed["bad_ack"] == before+1 })
		nc.Close()
		eventually(t, "gone", func() bool { return len(e.Counters().Consumers) == 1 })
	}
	res, err := e.http.Client().Get(e.http.URL + "?resume=shop&ack=true")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); res.StatusCode != 400 || !bytes.Contains(b, []byte("no way")) {
		t.Errorf("a stream with ack: %d %q, %v", res.StatusCode, b, err)
	}
}
