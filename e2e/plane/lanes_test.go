package plane_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"treecast/e2e/cluster"
)

// election is what a consumer elects, as in an election line.
type election struct {
	Topics   []string `json:"topics,omitempty"`
	Versions []string `json:"versions,omitempty"`
	Format   string   `json:"format,omitempty"`
}

func (e *election) query() string {
	q := make(url.Values)
	for name, list := range map[string][]string{"topics": e.Topics, "versions": e.Versions} {
		if len(list) > 0 {
			q.Set(name, strings.Join(list, ","))
		}
	}
	if e.Format != "" {
		q.Set("format", e.Format)
	}
	return q.Encode()
}

// lanes are the ways in which a consumer connects to an edge: each returns what it
// sends, one record after the other.
var lanes = map[string]func(*testing.T, *cluster.Daemon, *election) io.Reader{
	"tcp": func(t *testing.T, n *cluster.Daemon, e *election) io.Reader {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		nc := listenLane(t, n, string(line))
		t.Cleanup(func() { nc.Close() })
		nc.SetReadDeadline(time.Now().Add(patience))
		return nc
	},
	"http": func(t *testing.T, n *cluster.Daemon, e *election) io.Reader {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		t.Cleanup(cancel)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, n.Deliver+"?"+e.query(), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Close = true
		awaitConsumers(t, n, 0)
		res, err := http.DefaultClient.Do(req)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("lane: %v, %v", res, err)
		}
		t.Cleanup(func() { res.Body.Close() })
		awaitConsumers(t, n, 1)
		return res.Body
	},
	"websocket": func(t *testing.T, n *cluster.Daemon, e *election) io.Reader {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		t.Cleanup(cancel)
		awaitConsumers(t, n, 0)
		conn, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(n.Deliver, "http")+"?"+e.query(), nil)
		if err != nil {
			t.Fatal(err)
		}
		conn.SetReadLimit(-1)
		t.Cleanup(func() { conn.CloseNow() })
		awaitConsumers(t, n, 1)
		return websocket.NetConn(ctx, conn, websocket.MessageBinary)
	},
}

// readRecord reads one delivery record whole.
func readRecord(t *testing.T, r io.Reader) []byte {
	t.Helper()
	head := make([]byte, 36)
	if _, err := io.ReadFull(r, head); err != nil {
		t.Fatalf("no record: %v", err)
	}
	b := append(head, make([]byte, binary.BigEndian.Uint32(head[32:]))...)
	if _, err := io.ReadFull(r, b[36:]); err != nil {
		t.Fatal(err)
	}
	return b
}
