package api_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"treecast/node"
	"treecast/node/api"
	"treecast/wire"
	"treecast/wire/soc"
)

const patience = 20 * time.Second

// feed opens a feed's cohort at a node that keeps its chunks.
func feed(t *testing.T, cfg node.Config) (*node.Node, *node.Cohort, *node.Publisher) {
	t.Helper()
	cfg.DataDir, cfg.Retain.Size = t.TempDir(), 1<<30
	n := start(t, cfg)
	key, err := soc.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	admin := key.Owner()
	c, err := n.Open(wire.Spec{
		Topic: soc.Keccak256([]byte("follow")), Binding: wire.BindingFeedTopic, Regime: wire.RegimeExplicitSingle, Admin: admin[:],
	})
	if err != nil {
		t.Fatal(err)
	}
	pub, err := c.Publisher(key)
	if err != nil {
		t.Fatal(err)
	}
	return n, c, pub
}

// publish publishes chunks numbered from from on, to not included.
func publish(t *testing.T, p *node.Publisher, from, to int) {
	t.Helper()
	first, err := p.Reserve(to - from)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, to-from)
	for i := range to - from {
		p.PublishAtAsync(first+uint64(i), fmt.Append(nil, "chunk ", from+i), func(err error) { done <- err })
	}
	for range to - from {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}

// follower is one end of GET /follow.
type follower struct {
	t    *testing.T
	ctx  context.Context
	conn *websocket.Conn
}

func dialFollow(t *testing.T, s *api.Server, topic wire.Topic, since string) *follower {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	conn, _, err := websocket.Dial(ctx, fmt.Sprintf("ws://%s/follow?topic=%s&since=%s", s.Addr(), topic, since), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	return &follower{t, ctx, conn}
}

func (f *follower) next() (m api.Message) {
	f.t.Helper()
	_, b, err := f.conn.Read(f.ctx)
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return m
}

// expect reads the chunks from from on, to not included, by their number.
func (f *follower) expect(from, to int) {
	f.t.Helper()
	for i := from; i < to; i++ {
		m := f.next()
		payload, err := hex.DecodeString(m.Payload)
		if err != nil || string(payload) != fmt.Sprint("chunk ", i) || m.Index == nil || m.Late {
			f.t.Fatalf("chunk %d: %+v, %q, %v", i, m, payload, err)
		}
	}
}

// TestFollow: what is kept and what comes meanwhile are one row, from any index.
func TestFollow(t *testing.T) {
	n, c, pub := feed(t, node.Config{})
	s := serve(t, n, api.Config{})
	publish(t, pub, 0, 700)
	var all []*follower
	for _, since := range []string{"all", "0", "690", "", "710"} {
		f := dialFollow(t, s, c.Topic(), since)
		if m := f.next(); !m.Attached || m.Parents != 0 {
			t.Fatalf("first message %+v", m)
		}
		all = append(all, f)
	}
	published := make(chan struct{})
	go func() { // ends when all is published
		defer close(published)
		publish(t, pub, 700, 1000)
	}()
	for i, from := range []int{0, 0, 690, 700, 710} {
		all[i].expect(from, 1000)
	}
	<-published
	m := dialFollow(t, s, c.Topic(), "999")
	m.next()
	got := m.next()
	id := soc.FeedID(topicBytes(c), *got.Index)
	if *got.Index != 999 || got.Owner != pub.Owner().String() || got.ID != hex.EncodeToString(id[:]) || len(got.Signature) != 130 || len(got.Span) != 16 {
		t.Errorf("last chunk %+v", got)
	}
}

func topicBytes(c *node.Cohort) []byte {
	topic := c.Topic()
	return topic[:]
}

// TestFollowVoid: indices that a restarted publisher left out are shown as such.
func TestFollowVoid(t *testing.T) {
	cfg := node.Config{DataDir: t.TempDir(), Retain: node.Retain{Size: 1 << 30}, Listen: []string{"/ip4/127.0.0.1/tcp/0"}}
	topic := wire.Topic(soc.Keccak256([]byte("void")))
	for life := range 2 {
		n, err := node.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		key, err := n.PublisherKey()
		if err != nil {
			t.Fatal(err)
		}
		admin := key.Owner()
		c, err := n.Open(wire.Spec{Topic: topic, Binding: wire.BindingFeedTopic, Regime: wire.RegimeExplicitSingle, Admin: admin[:]})
		if err != nil {
			t.Fatal(err)
		}
		pub, err := c.Publisher(key)
		if err != nil {
			t.Fatal(err)
		}
		publish(t, pub, 3*life, 3*life+3)
		if life == 1 {
			f := dialFollow(t, serve(t, n, api.Config{}), topic, "all")
			f.next()
			f.expect(0, 3)
			if m := f.next(); m.Gap == nil || !m.Gap.Void || m.Gap.From != 3 || m.Gap.To != 1023 {
				t.Errorf("void range: %+v", m)
			}
			f.expect(3, 6)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFollowRefused: bad requests are told why, and there is a bound of followers.
func TestFollowRefused(t *testing.T) {
	n, c, _ := feed(t, node.Config{})
	s := serve(t, n, api.Config{})
	for path, want := range map[string]int{
		"/follow": http.StatusBadRequest,
		"/follow?topic=" + strings.Repeat("0", 64):              http.StatusNotFound,
		"/follow?topic=" + c.Topic().String() + "&since=-1":     http.StatusBadRequest,
		"/follow?topic=" + c.Topic().String() + "&since=newest": http.StatusBadRequest,
		"/follow?topic=" + c.Topic().String():                   http.StatusUpgradeRequired,
	} {
		if code, body := get(t, s, path); code != want {
			t.Errorf("%s: %d %q, want %d", path, code, body, want)
		}
	}
	var all []*follower
	for range 64 {
		f := dialFollow(t, s, c.Topic(), "")
		f.next()
		all = append(all, f)
	}
	if code, body := get(t, s, "/follow?topic="+c.Topic().String()); code != http.StatusServiceUnavailable {
		t.Errorf("one follower too many: %d %q", code, body)
	}
	all[0].conn.CloseNow()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if code, _ := get(t, s, "/follow?topic="+c.Topic().String()); code == http.StatusUpgradeRequired {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no place comes free")
		}
	}
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }() // ends with the followers
	if _, _, err := all[1].conn.Read(all[1].ctx); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("closed with %v", err)
	}
	for _, f := range all[2:] {
		f.conn.CloseNow()
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
