package sink_test

import (
	"fmt"
	"strings"
	"testing"

	"treecast/node/sink"
	"treecast/wire/beef"
)

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]struct {
		servers          []string
		stream, bucket   string
		topics, versions int
		replicas         int
	}{
		"nats://h":               {servers: []string{"nats://h:4222"}, stream: "BEEF"},
		"nats://h:1/":            {servers: []string{"nats://h:1"}, stream: "BEEF"},
		"tls://h:1/PLANE":        {servers: []string{"tls://h:1"}, stream: "PLANE"},
		"nats://u:p@a:1,b:2/S":   {servers: []string{"nats://u:p@a:1", "nats://u:p@b:2"}, stream: "S"},
		"nats://secret@a":        {servers: []string{"nats://secret@a:4222"}, stream: "BEEF"},
		"nats://u:p%40%2F@a":     {servers: []string{"nats://u:p%40%2F@a:4222"}, stream: "BEEF"},
		"nats://u:p@x@a":         {servers: []string{"nats://u:p%40x@a:4222"}, stream: "BEEF"},
		"nats://[::1]":           {servers: []string{"nats://[::1]:4222"}, stream: "BEEF"},
		"nats://[2001:db8::1]:5": {servers: []string{"nats://[2001:db8::1]:5"}, stream: "BEEF"},
		"nats://h?topics=a,b&versions=beef&bucket=LARGE&replicas=3": {
			servers: []string{"nats://h:4222"}, stream: "BEEF", bucket: "LARGE", topics: 2, versions: 1, replicas: 3,
		},
		"nats://h/S?topics=" + strings.Repeat("ab", 32): {servers: []string{"nats://h:4222"}, stream: "S", topics: 1},
	} {
		got, err := sink.ParseTarget(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var servers []string
		for _, u := range got.Servers {
			servers = append(servers, u.String())
		}
		if fmt.Sprint(servers) != fmt.Sprint(want.servers) || got.Stream != want.stream || got.Bucket != want.bucket ||
			len(got.Election.Topics) != want.topics || len(got.Election.Versions) != want.versions || got.Replicas != want.replicas {
			t.Errorf("%s: %+v, servers %v", text, got, servers)
		}
	}
}

func TestParseTargetNamesTopics(t *testing.T) {
	got, err := sink.ParseTarget("nats://h?topics=tm_ship")
	if err != nil || len(got.Election.Topics) != 1 || got.Election.Topics[0] != beef.TopicIDOf("tm_ship") {
		t.Errorf("%+v, %v", got.Election, err)
	}
}

// TestParseTargetRefuses: each fault is named, and nothing that could be a secret is
// quoted.
func TestParseTargetRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "want nats://",
		"h:4222":                              "want nats://",
		"http://h":                            "want nats://",
		"nats://":                             `server ""`,
		"nats://h:0":                          "port from 1",
		"nats://h:65536":                      "port from 1",
		"nats://h:nats":                       "port from 1",
		"nats://a,:2":                         `server ":2"`,
		"nats://a,,b":                         `server ""`,
		"nats://::1":                          `server "::1"`,
		"nats://h/a/b":                        `name "a/b"`,
		"nats://h/my.stream":                  `name "my.stream"`,
		"nats://h/" + strings.Repeat("a", 65): "want 1..64",
		"nats://h?bucket=a b":                 "bucket",
		"nats://h?bucket=":                    "bucket: want one value",
		"nats://h?bucket=a&bucket=b":          "bucket: want one value",
		"nats://h?replicas=0":                 `replicas "0"`,
		"nats://h?replicas=6":                 `replicas "6"`,
		"nats://h?topic=a":                    `"topic": unknown`,
		"nats://h?versions=3":                 "version",
		"nats://h?resume=x":                   `"resume"`,
		"nats://h?format=frame":               `"format"`,
		"nats://h#x":                          "/STREAM",
		"nats://hunter2:hun%zzter@h":          "before @",
		"nats://u:hunter2/x@h:1":              "an @ behind",
		"nats://u:hunter2?x@h:1":              "an @ behind",
		"nats://u:hunter2#x@h:1":              "an @ behind",
	} {
		_, err := sink.ParseTarget(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
			continue
		}
		if strings.Contains(err.Error(), "hunter") || strings.Contains(err.Error(), "zz") {
			t.Errorf("%s: the error shows a secret: %v", text, err)
		}
	}
}

func TestTargetShowsNoSecret(t *testing.T) {
	got, err := sink.ParseTarget("nats://user:hunter2@a:1,b:2/S")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{got.String(), fmt.Sprint(got), fmt.Sprintf("%v", &got)} {
		if text != "nats://a:1,b:2/S" {
			t.Errorf("shown as %s", text)
		}
	}
}
