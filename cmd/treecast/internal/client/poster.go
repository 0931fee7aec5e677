package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"treecast/node/lane"
)

// Poster submits objects over HTTP (PROTOCOL §7 HTTP), each with an answer. It is
// for one goroutine.
type Poster struct {
	client *http.Client
	url    string
	token  string // empty sends none
	pace   pace
	sent
	duplicates int
}

// PosterConfig says where a Poster submits and how.
type PosterConfig struct {
	// To is the ingress: host:port, or a URL up to /submit.
	To string
	// TokenFile holds the bearer token; empty sends none.
	TokenFile string
	// Wait has each answer wait until the object came back down.
	Wait bool
	// Rate is the most objects a second; 0 = one after the other.
	Rate float64
}

const (
	// postTime is how long one answer may take, a wait of the door's included.
	postTime = 2 * time.Minute
	// maxRefusals is how often an object is sent again that the door has no room for.
	maxRefusals = 60
	// maxAnswer bounds an answer.
	maxAnswer = 64 << 10
)

// NewPoster returns a Poster; it connects with the first object.
func NewPoster(cfg PosterConfig) (*Poster, error) {
	p := &Poster{
		client: &http.Client{Transport: &http.Transport{}, Timeout: postTime}, // of its own: Close ends its connections
		url:    strings.TrimSuffix(cfg.To, "/"), pace: newPace(cfg.Rate),
	}
	if !strings.Contains(p.url, "://") {
		p.url = "http://" + p.url
	}
	p.url = strings.TrimSuffix(p.url, "/submit") + "/submit"
	if cfg.Wait {
		p.url += "?wait=1"
	}
	if cfg.TokenFile != "" {
		token, err := os.ReadFile(cfg.TokenFile)
		if err != nil {
			return nil, fmt.Errorf("client: token: %w", err)
		}
		p.token = strings.TrimSpace(string(token))
	}
	return p, nil
}

// Send submits one object for the topics, when its turn has come, and again after
// the time that a door without room asks for; begin, if set, is called just before
// the first time. One that was submitted before counts as sent, and as a duplicate.
func (p *Poster) Send(ctx context.Context, topics []string, object []byte, begin func()) error {
	names, err := json.Marshal(topics)
	if err != nil {
		return fmt.Errorf("client: topics: %w", err)
	}
	if err := p.pace.wait(ctx); err != nil {
		return err
	}
	if begin != nil {
		begin()
	}
	for try := 1; ; try++ {
		again, err := p.post(ctx, string(names), object)
		if err == nil {
			p.add(len(object))
			return nil
		}
		if again == 0 || try == maxRefusals {
			return fmt.Errorf("client: object %d: %w", p.objects, err)
		}
		if err := sleep(ctx, again); err != nil {
			return err
		}
	}
}

// post sends one request. With an error, again is after how long it may be sent
// anew; 0: it may not.
func (p *Poster) post(ctx context.Context, topics string, object []byte) (again time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(object))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("X-Topics", topics)
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	res, err := p.client.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return 0, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return 0, err
	}
	switch res.StatusCode {
	case http.StatusAccepted, http.StatusConflict:
		var s lane.Submitted
		if err := json.Unmarshal(body, &s); err != nil || s.ContentID == "" {
			return 0, fmt.Errorf("%s: %.200q is no answer of an ingress", res.Status, body)
		}
		if res.StatusCode == http.StatusConflict {
			p.duplicates++
		}
		return 0, nil
	case http.StatusServiceUnavailable:
		if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && seconds > 0 {
			again = time.Duration(seconds) * time.Second
		}
	}
	return again, refusal(res, body)
}

// refusal is the error of an answer that says no.
func refusal(res *http.Response, body []byte) error {
	var answer struct{ Error string }
	if json.Unmarshal(body, &answer) != nil || answer.Error == "" {
		answer.Error = fmt.Sprintf("%.200s", strings.TrimSpace(string(body)))
	}
	return errors.New(res.Status + ": " + answer.Error)
}

// Duplicates is how many of the objects sent had been submitted before.
func (p *Poster) Duplicates() int { return p.duplicates }

// Finish does nothing: every object has its answer.
func (p *Poster) Finish() error { return nil }

// Close ends the connections.
func (p *Poster) Close() error {
	p.client.CloseIdleConnections()
	return nil
}
