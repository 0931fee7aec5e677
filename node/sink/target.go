package sink

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"treecast/node/lane"
	"treecast/wire/beef"
)

const (
	// DefaultStream is the stream that objects go to.
	DefaultStream = "BEEF"
	// DefaultPort is a NATS server's.
	DefaultPort = 4222
)

// Target is where a sink stores objects, and which.
type Target struct {
	// Servers are those of one NATS cluster, nats://HOST:PORT or tls://HOST:PORT,
	// with the user and password or the token that they all take. Others of the
	// cluster are learned from them. They may hold a secret: String does not show it.
	Servers []*url.URL
	// Stream is the JetStream stream; empty = DefaultStream. It is made if missing.
	Stream string
	// Bucket is the object store for what is longer than a message may be; empty =
	// the stream's name. It is made when it is first needed.
	Bucket string
	// Election is what is stored; the zero one is everything.
	Election beef.Election
	// Replicas is how many servers are to keep a stream or bucket that the sink
	// makes; 0 = 1.
	Replicas int
}

// maxReplicas is JetStream's own bound.
const maxReplicas = 5

// ParseTarget parses
//
//	nats://[USER:PASSWORD@|TOKEN@]HOST[:PORT][,HOST[:PORT]…][/STREAM][?topics=…&versions=…&bucket=…&replicas=…]
//
// as --sink has it, or the same with tls://, which insists on TLS. Topics and versions
// are as in the query of GET /deliver. The error quotes what is wrong, and never
// user, password or token.
func ParseTarget(s string) (Target, error) {
	var t Target
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || scheme != "nats" && scheme != "tls" {
		return t, errors.New("sink: want nats://HOST:PORT or tls://HOST:PORT")
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, tail := rest[:end], rest[end:]
	if strings.Contains(tail, "@") && !strings.Contains(authority, "@") {
		// Perhaps a password that was cut: nothing of it may be shown.
		return t, errors.New("sink: an @ behind the address; / ? # in a password go in as %2F %3F %23, and @ in a topic as %40")
	}
	user, hosts := "", authority
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, hosts = authority[:i+1], authority[i+1:]
	}
	for _, host := range strings.Split(hosts, ",") {
		u, err := parseServer(scheme, user, host)
		if err != nil {
			return t, err
		}
		t.Servers = append(t.Servers, u)
	}
	u, err := url.Parse(tail)
	if err != nil || u.Fragment != "" {
		return t, fmt.Errorf("sink: %q: want /STREAM and a query behind the address", tail)
	}
	if t.Stream = strings.TrimPrefix(u.Path, "/"); t.Stream == "" {
		t.Stream = DefaultStream
	}
	if err := checkName(t.Stream); err != nil {
		return t, fmt.Errorf("sink: stream: %w", err)
	}
	return t, t.query(u.RawQuery)
}

// parseServer reads one host with the user part of all of them. A fault of the user
// part is not quoted.
func parseServer(scheme, user, host string) (*url.URL, error) {
	name, port := host, strconv.Itoa(DefaultPort)
	if strings.LastIndexByte(host, ':') > strings.LastIndexByte(host, ']') {
		var err error
		if name, port, err = net.SplitHostPort(host); err != nil {
			return nil, fmt.Errorf("sink: server %q: want HOST:PORT", host)
		}
	}
	if name = strings.Trim(name, "[]"); name == "" || strings.ContainsAny(name, " \t%") {
		return nil, fmt.Errorf("sink: server %q: want HOST:PORT", host)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return nil, fmt.Errorf("sink: server %q: want a port from 1 to 65535", host)
	}
	u, err := url.Parse(scheme + "://" + user + net.JoinHostPort(name, port))
	if err != nil {
		return nil, errors.New("sink: the part before @ is no USER:PASSWORD or TOKEN; letters with a meaning of their own go in as %XX")
	}
	return u, nil
}

func (t *Target) query(raw string) error {
	q, err := url.ParseQuery(raw)
	if err != nil {
		return fmt.Errorf("sink: query %q: %w", raw, err)
	}
	one := func(name string) (string, error) {
		values, ok := q[name]
		delete(q, name)
		if ok && (len(values) != 1 || values[0] == "") {
			return "", fmt.Errorf("sink: query: %s: want one value", name)
		}
		if !ok {
			return "", nil
		}
		return values[0], nil
	}
	if t.Bucket, err = one("bucket"); err != nil {
		return err
	}
	if t.Bucket != "" {
		if err := checkName(t.Bucket); err != nil {
			return fmt.Errorf("sink: query: bucket: %w", err)
		}
	}
	replicas, err := one("replicas")
	if err != nil {
		return err
	}
	if replicas != "" {
		n, err := strconv.Atoi(replicas)
		if err != nil || n < 1 || n > maxReplicas {
			return fmt.Errorf("sink: query: replicas %q: want 1 to %d", replicas, maxReplicas)
		}
		t.Replicas = n
	}
	if t.Election, err = lane.ParseElection(q); err != nil {
		return fmt.Errorf("sink: %w", err)
	}
	return nil
}

// checkName judges the name of a stream or bucket.
func checkName(s string) error {
	if s == "" || len(s) > maxName || strings.Trim(s, nameLetters) != "" {
		return fmt.Errorf("name %q, want 1..%d letters, digits, dashes and underscores", s, maxName)
	}
	return nil
}

const (
	maxName     = 64
	nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
)

// String is the target without its secrets.
func (t Target) String() string {
	var hosts []string
	scheme := ""
	for _, u := range t.Servers {
		scheme = u.Scheme
		hosts = append(hosts, u.Host)
	}
	return scheme + "://" + strings.Join(hosts, ",") + "/" + t.Stream
}
