package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/coder/websocket"

	"treecast/node/lane"
)

// IsURL tells the address of an HTTP lane, to be given to FetchURL, from host:port.
func IsURL(addr string) bool { return strings.Contains(addr, "://") }

// FetchURL is Fetch for the lanes of a node's HTTP API: ws:// and wss:// for a
// WebSocket, http:// and https:// for a stream. A URL without a path means /deliver.
// tokenFile holds the API's bearer token; empty sends none.
func (c *Consumer) FetchURL(ctx context.Context, addr, tokenFile string, e Election) error {
	e.Ack = e.Resume != "" && strings.HasPrefix(addr, "ws")
	target, err := deliverURL(addr, e)
	if err != nil {
		return err
	}
	header := make(http.Header)
	if tokenFile != "" {
		token, err := os.ReadFile(tokenFile)
		if err != nil {
			return fmt.Errorf("client: token: %w", err)
		}
		header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	// A client of its own: the default one keeps connections, and with them
	// goroutines, that outlive the call.
	own := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if target.Scheme == "http" || target.Scheme == "https" {
		return c.fetchStream(ctx, own, target, header)
	}
	conn, res, err := websocket.Dial(ctx, target.String(), &websocket.DialOptions{HTTPClient: own, HTTPHeader: header})
	if err != nil {
		if res != nil && res.StatusCode != http.StatusSwitchingProtocols {
			return laneRefusal(res)
		}
		return fmt.Errorf("client: %w", err)
	}
	conn.SetReadLimit(-1) // the records are bounded by their reader
	if !e.Ack {
		return c.read(ctx, websocket.NetConn(ctx, conn, websocket.MessageBinary))
	}
	open := context.WithoutCancel(ctx) // the reader closes when ctx ends, after the last acknowledgement
	return c.readAcking(ctx, websocket.NetConn(open, conn, websocket.MessageBinary), &acks{
		send: func(taken uint64) error {
			wait, cancel := context.WithTimeout(open, ackTimeout)
			defer cancel()
			return conn.Write(wait, websocket.MessageText, strconv.AppendUint(nil, taken, 10))
		},
		// The node answers the close when it has read all before it.
		end: func() { conn.Close(websocket.StatusNormalClosure, "") },
	})
}

// deliverURL puts the election into the query.
func deliverURL(addr string, e Election) (*url.URL, error) {
	u, err := url.Parse(addr)
	if err != nil {
		return nil, fmt.Errorf("client: lane: %w", err)
	}
	switch u.Scheme {
	case "ws", "wss", "http", "https":
	default:
		return nil, fmt.Errorf("client: lane %q: want ws, wss, http or https", addr)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/deliver"
	}
	q := u.Query()
	for name, list := range map[string][]string{"topics": e.Topics, "versions": e.Versions} {
		if len(list) == 0 {
			continue
		}
		array, err := json.Marshal(list) // a name may hold a comma
		if err != nil {
			return nil, fmt.Errorf("client: lane: %w", err)
		}
		q.Set(name, string(array))
	}
	if e.Format != "" {
		q.Set("format", e.Format)
	}
	if e.Resume != "" {
		q.Set("resume", e.Resume)
	}
	if e.Ack {
		q.Set("ack", "true")
	}
	u.RawQuery = q.Encode()
	return u, nil
}

func (c *Consumer) fetchStream(ctx context.Context, own *http.Client, target *url.URL, header http.Header) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	req.Header = header
	res, err := own.Do(req)
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return laneRefusal(res)
	}
	return c.read(ctx, &stream{res: res, from: laneAddr(target.Host)})
}

func laneRefusal(res *http.Response) error {
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("client: %w", err)
	}
	return fmt.Errorf("client: the lane refuses: %w", refusal(res, body))
}

// stream is the body of an answer that does not end by itself.
type stream struct {
	res  *http.Response
	from laneAddr
}

// Read ends with an error where the trailer says that the lane was not closed well.
func (s *stream) Read(b []byte) (int, error) {
	n, err := s.res.Body.Read(b)
	if errors.Is(err, io.EOF) {
		if why := s.res.Trailer.Get(lane.ClosedTrailer); why != "" && why != lane.ClosedWell {
			err = errors.New("the lane was closed: " + why)
		}
	}
	return n, err
}

// Close ends the answer.
func (s *stream) Close() error { return s.res.Body.Close() }

// RemoteAddr is the node's.
func (s *stream) RemoteAddr() net.Addr { return s.from }

// laneAddr is the host:port of a URL.
type laneAddr string

// Network is the lane's.
func (laneAddr) Network() string { return "http" }

// String is host:port.
func (a laneAddr) String() string { return string(a) }
