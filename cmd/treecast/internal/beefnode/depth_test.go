package beefnode_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"

	"treecast/cmd/treecast/internal/beefnode"
	"treecast/cmd/treecast/internal/client"
	"treecast/node"
	"treecast/node/api/bearer"
	"treecast/node/lane"
	"treecast/wire"
	"treecast/wire/beef"
)

// publisherIn makes the publisher key of a data directory.
func publisherIn(t *testing.T, dir string) wire.Owner {
	t.Helper()
	key, err := node.LoadOrMakeKey(dir, node.PublisherKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	return wire.Owner(key.Owner())
}

// joiner is a node that joins the plane at another.
func joiner(at *beefnode.Running, dir string, capacity int) beefnode.Config {
	return beefnode.Config{
		Node: node.Config{DataDir: dir, Listen: []string{loopback}, Capacity: capacity},
		Join: []beefnode.Join{{Topic: beefnode.Topic(), Entries: at.Node().Addrs()}},
		API:  "127.0.0.1:0",
	}
}

func attached(t *testing.T, ctx context.Context, r *beefnode.Running) {
	t.Helper()
	if err := r.Cohort().WaitAttached(ctx, 1); err != nil {
		t.Fatal(err)
	}
}

// records reads the objects that a WebSocket lane delivers.
func records(t *testing.T, ctx context.Context, r *beefnode.Running, query string) <-chan string {
	t.Helper()
	before := len(r.Egress().Counters().Consumers)
	conn, _, err := websocket.Dial(ctx, "ws://"+r.API()+"/deliver"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	conn.SetReadLimit(-1)
	for len(r.Egress().Counters().Consumers) == before {
		if ctx.Err() != nil {
			t.Fatal("no consumer at the lane")
		}
		time.Sleep(time.Millisecond)
	}
	got := make(chan string, 1024)
	go func() { // ends with the connection
		defer close(got)
		for {
			_, b, err := conn.Read(ctx)
			if err != nil {
				return
			}
			d, err := beef.ParseDelivery(b)
			if err != nil {
				t.Error(err)
				return
			}
			p, err := beef.ParsePayload(d.Payload)
			if err != nil {
				t.Error(err)
				return
			}
			got <- string(p.Object)
		}
	}()
	return got
}

func objectOf(text string) []byte { return []byte("\x01\x00\xbe\xef" + text) }

// post submits an object to a node's API.
func post(t *testing.T, r *beefnode.Running, query, token, topics string, object []byte) (int, lane.Submitted) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://"+r.API()+"/submit"+query, bytes.NewReader(object))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Topics", topics)
	req.Header.Set("Authorization", "Bearer "+token)
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
	res, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var s lane.Submitted
	b, err := io.ReadAll(res.Body)
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		t.Fatalf("%d %s: %v", res.StatusCode, b, err)
	}
	return res.StatusCode, s
}

// TestAnIngressAtALeafPublishesThroughItsParents: TCP, UDP and HTTP at a node that
// is no broker and never relays, two levels down.
func TestAnIngressAtALeafPublishesThroughItsParents(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	dir := t.TempDir()
	owner := publisherIn(t, dir)
	cfg := broker("")
	cfg.Publishers = []wire.Owner{owner}
	top := start(t, cfg)
	relay := start(t, joiner(top, "", 3))
	attached(t, ctx, relay)
	token, err := bearer.New("sesame")
	if err != nil {
		t.Fatal(err)
	}
	depth := joiner(relay, dir, -1)
	depth.Node.Parents = 1
	depth.Doors = []lane.Door{{Addr: "127.0.0.1:0"}, {Addr: "127.0.0.1:0", UDP: true}}
	depth.HTTPToken, depth.DeliverCap = token, 2
	ingress := start(t, depth)
	if got, ok := ingress.Publisher(); !ok || got != owner {
		t.Fatalf("publisher %v, want %v", got, owner)
	}
	got := records(t, ctx, top, "?topics=tm_a,tm_b")

	// Before it has a parent there is no spec: the object waits for both.
	s, err := client.Dial(ctx, ingress.Doors()[0].String(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Send(ctx, []string{"tm_a"}, objectOf("tcp"), nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	if o := <-got; o != string(objectOf("tcp")) {
		t.Errorf("got %q", o)
	}
	record, err := beef.AppendRecord(nil, []string{"tm_a"}, objectOf("udp"))
	if err != nil {
		t.Fatal(err)
	}
	nc, err := net.Dial("udp", ingress.Doors()[1].String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.Write(record)
	if o := <-got; o != string(objectOf("udp")) {
		t.Errorf("got %q", o)
	}
	if status, _ := post(t, ingress, "?wait=1", "other", "tm_a", objectOf("http")); status != http.StatusUnauthorized {
		t.Errorf("another token: %d", status)
	}
	large := append(objectOf("http"), make([]byte, 100<<10)...)
	status, answer := post(t, ingress, "?wait=1", "sesame", "tm_other,tm_b", large)
	if status != http.StatusAccepted || answer.Seq != 3 || answer.Fragments != 26 {
		t.Errorf("%d %+v", status, answer)
	}
	if o := <-got; o != string(large) { // under its second name, which the token makes deliverable
		t.Errorf("got %d bytes", len(o))
	}
	if status, again := post(t, ingress, "", "sesame", "tm_other,tm_b", large); status != http.StatusConflict || again.Seq != 3 {
		t.Errorf("again: %d %+v", status, again)
	}
	if n := ingress.Ingress().Counters().Published; n != 3 {
		t.Errorf("%d published", n)
	}
}

// TestAnIngressBetweenTwoParentsLosesNothing: its only parent goes while objects
// come in; they wait for the next one.
func TestAnIngressBetweenTwoParentsLosesNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	dir := t.TempDir()
	owner := publisherIn(t, dir)
	cfg := broker("")
	cfg.Publishers = []wire.Owner{owner}
	top := start(t, cfg)
	relay := start(t, joiner(top, "", 3))
	attached(t, ctx, relay)
	depth := joiner(relay, dir, -1)
	depth.Join[0].Entries = append(depth.Join[0].Entries, top.Node().Addrs()...)
	depth.Node.Parents = 1
	depth.Doors = []lane.Door{{Addr: "127.0.0.1:0"}}
	depth.IngressLimits = lane.IngressLimits{Objects: -1, Bytes: -1, NodeObjects: -1}
	ingress := start(t, depth)
	attached(t, ctx, ingress)
	got := records(t, ctx, top, "")
	s, err := client.Dial(ctx, ingress.Doors()[0].String(), 400)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const objects = 300
	for i := range objects {
		if i == objects/3 {
			go relay.Close() // the cleanup waits for it
		}
		if err := s.Send(ctx, []string{"tm_a"}, objectOf(fmt.Sprint(i)), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for len(seen) < objects {
		select {
		case o := <-got:
			if seen[o] {
				t.Errorf("%q came twice", o)
			}
			seen[o] = true
		case <-ctx.Done():
			t.Fatalf("%d of %d objects came; %+v", len(seen), objects, ingress.Ingress().Counters())
		}
	}
}
