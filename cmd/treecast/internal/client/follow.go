package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/coder/websocket"

	"treecast/node/api"
	"treecast/wire"
)

// maxMessage bounds one message of GET /follow: a chunk in hex and its fields.
const maxMessage = 64 << 10

// Follow asks the API at addr (host:port) for GET /follow and gives each message to
// handle until that fails, the node ends it, or ctx ends, which is no error. since is
// an index or all; empty: from now on. tokenFile is as for Tree.
func Follow(ctx context.Context, addr, tokenFile string, topic wire.Topic, since string, handle func(*api.Message) error) error {
	header := make(http.Header)
	if tokenFile != "" {
		token, err := os.ReadFile(tokenFile)
		if err != nil {
			return fmt.Errorf("client: api token: %w", err)
		}
		header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	q := url.Values{"topic": {topic.String()}}
	if since != "" {
		q.Set("since", since)
	}
	// A client of its own: the default one keeps connections, and with them
	// goroutines, that outlive the call.
	own := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	conn, res, err := websocket.Dial(ctx, "ws://"+addr+"/follow?"+q.Encode(), &websocket.DialOptions{HTTPClient: own, HTTPHeader: header})
	if err != nil {
		if res != nil && res.StatusCode != http.StatusSwitchingProtocols {
			return fmt.Errorf("client: api at %s: %w", addr, laneRefusal(res))
		}
		return fmt.Errorf("client: api: %w", err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxMessage)
	for {
		_, b, err := conn.Read(ctx)
		var end websocket.CloseError
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &end):
			return fmt.Errorf("client: the node ended it: %s", end.Reason)
		default:
			return fmt.Errorf("client: api: %w", err)
		}
		var m api.Message
		if err := json.Unmarshal(b, &m); err != nil {
			return fmt.Errorf("client: api at %s: %w", addr, err)
		}
		if err := handle(&m); err != nil {
			return err
		}
	}
}
