package sink_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"treecast/node/follow"
	"treecast/node/sink"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// idle is a source without objects.
type idle struct{}

func (idle) Next(ctx context.Context) (*follow.Object, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
func (idle) Ack(*follow.Object) {}
func (idle) Lag() uint64        { return 0 }

// away is a target where nobody listens.
func away(t *testing.T) sink.Target {
	t.Helper()
	u, err := url.Parse("nats://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	return sink.Target{Servers: []*url.URL{u}}
}

func TestNewRefuses(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*sink.Config){
		"Target: no server":         func(c *sink.Config) { c.Target.Servers = nil },
		"Source: none":              func(c *sink.Config) { c.Source = nil },
		`Target.Stream: name "a.b"`: func(c *sink.Config) { c.Target.Stream = "a.b" },
		`Target.Bucket: name "a b"`: func(c *sink.Config) { c.Target.Bucket = "a b" },
		"Limits.Window: -1":         func(c *sink.Config) { c.Limits.Window = -1 },
		"Limits.Ack: -1":            func(c *sink.Config) { c.Limits.Ack = -1 },
		"Creds: open":               func(c *sink.Config) { c.Creds = "missing" },
		"no user key":               func(c *sink.Config) { c.Creds = empty },
		"CA: open":                  func(c *sink.Config) { c.CA = "missing" },
		"no certificate":            func(c *sink.Config) { c.CA = empty },
	} {
		cfg := sink.Config{Target: away(t), Source: idle{}}
		change(&cfg)
		if _, err := sink.New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestCloseWithoutAServer: the sink tries, and ends at once all the same.
func TestCloseWithoutAServer(t *testing.T) {
	s, err := sink.New(sink.Config{Target: away(t), Source: idle{}})
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for s.Counters().Failures["connect"] == 0 {
		if time.Now().After(deadline) {
			t.Fatalf("no try counted: %+v", s.Counters())
		}
		time.Sleep(time.Millisecond)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
