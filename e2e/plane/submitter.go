package plane

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// A Submitter is a publisher that speaks HTTP: it posts an object, waits for the
// answer, and posts it again where there was none, as a publisher would that wants
// its objects out.
type Submitter struct {
	Topic string
	// URL is where to post now; asked each time, as a door may come back elsewhere.
	URL    func() string
	client http.Client
}

// Answer is what a door said of an object.
type Answer struct {
	ContentID string `json:"contentId"`
	TopicID   string `json:"topicId"`
	Seq       uint64 `json:"seq"`
	Fragments int    `json:"fragments"`
}

// again is how long it waits before it posts once more.
const again = 50 * time.Millisecond

// Submit posts an object with ?wait=1 until it is answered 202, or 409, which says
// that an earlier try went through. It returns the answer and how often it posted.
func (s *Submitter) Submit(ctx context.Context, object []byte) (a Answer, tries int, err error) {
	for {
		tries++
		code, body, after, err := s.post(ctx, object)
		switch {
		case ctx.Err() != nil:
			return a, tries, ctx.Err()
		case err != nil, code == http.StatusServiceUnavailable: // no answer, or not now
		case code == http.StatusAccepted, code == http.StatusConflict:
			return a, tries, json.Unmarshal(body, &a)
		default:
			return a, tries, fmt.Errorf("plane: submit: %d %s", code, body)
		}
		select {
		case <-time.After(max(again, after)):
		case <-ctx.Done():
			return a, tries, ctx.Err()
		}
	}
}

// post posts once. The error says that there was no whole answer.
func (s *Submitter) post(ctx context.Context, object []byte) (code int, body []byte, after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"?wait=1", bytes.NewReader(object))
	if err != nil {
		return 0, nil, 0, err
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("X-Topics", s.Topic)
	res, err := s.client.Do(req)
	if err != nil {
		return 0, nil, 0, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	if n, aerr := strconv.Atoi(res.Header.Get("Retry-After")); aerr == nil {
		after = time.Duration(n) * time.Second
	}
	return res.StatusCode, body, after, err
}
