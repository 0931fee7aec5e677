package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"treecast/node/api"
)

const (
	// maxTree bounds the answer to GET /tree: 4096 cohorts of some kilobytes.
	maxTree = 64 << 20
	// treeTimeout is how long a node may take for it.
	treeTimeout = 10 * time.Second
)

// Tree asks the API at addr (host:port) for GET /tree. tokenFile holds the
// bearer token; empty sends none.
func Tree(ctx context.Context, addr, tokenFile string) (*api.Tree, error) {
	ctx, cancel := context.WithTimeout(ctx, treeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/tree", nil)
	if err != nil {
		return nil, fmt.Errorf("client: api: %w", err)
	}
	if tokenFile != "" {
		token, err := os.ReadFile(tokenFile)
		if err != nil {
			return nil, fmt.Errorf("client: api token: %w", err)
		}
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	// A client of its own: the default one keeps connections, and with them
	// goroutines, that outlive the call.
	transport := &http.Transport{DisableKeepAlives: true}
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return nil, fmt.Errorf("client: api: %w", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxTree))
	if err != nil {
		return nil, fmt.Errorf("client: api: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("client: api at %s: %s: %.200s", addr, res.Status, strings.TrimSpace(string(body)))
	}
	var tree api.Tree
	if err := json.Unmarshal(body, &tree); err != nil {
		return nil, fmt.Errorf("client: api at %s: %w", addr, err)
	}
	return &tree, nil
}
