package sink

import (
	"fmt"
	"log/slog"
	"time"
)

// Config is what a Sink is made of. Zero fields take their default.
type Config struct {
	// Target is where objects go.
	Target Target
	// Creds is a file of NATS user credentials (JWT and key); empty: the target's
	// user and password or token, if any. CA is a PEM file of authorities that the
	// server's certificate is checked against; empty: the system's.
	Creds, CA string
	// Name tells this client apart at the server; empty = "treecast".
	Name string
	// Source gives the objects. It stays the caller's, who closes it after Close.
	Source Source
	// Limits bound what the sink holds and waits for.
	Limits Limits
	// Log takes the sink's log; nil discards it.
	Log *slog.Logger
}

// What a sink takes from its source at a time; whoever makes the source bounds it
// alike.
const (
	DefaultWindow      = 256
	DefaultWindowBytes = 32 << 20
)

// Limits bound what a sink holds and waits for. Zero is the default in brackets.
type Limits struct {
	Window      int   // objects taken from the source and not stored [DefaultWindow]
	WindowBytes int64 // payload bytes of them, beyond which none is taken; so one object above it is the most [DefaultWindowBytes]
	Known       int   // message ids found in the stream that are remembered at a time [2^20]
	Recent      int   // newest messages of the stream looked through at a start [16,384]

	// Duplicates is the least duplicate window of a stream that others made [1 min].
	// A message that was sent without an acknowledgement may be stored after the
	// stream was looked through, by as long as it is on its way inside the server.
	Duplicates time.Duration

	Dial    time.Duration // for a connection and the server's greeting [5 s]
	Request time.Duration // for the answer to a request about a stream [10 s]
	Ack     time.Duration // for the stream to acknowledge a message, counted from when it is written [30 s]
	Put     time.Duration // for an object to be in the object store, beside 8 s a MiB [30 s]
	Scan    time.Duration // for the next messages when the stream is looked through [10 s]
	Write   time.Duration // for the server to take what is written to it [10 s]
	Ping    time.Duration // between pings; two without an answer end a connection [10 s]
	Backoff time.Duration // before the second try of anything, doubling, jittered [100 ms]
	MaxWait time.Duration // between two tries at most [30 s]
}

// withDefaults checks cfg and fills in what is zero.
func (cfg Config) withDefaults() (Config, error) {
	if len(cfg.Target.Servers) == 0 {
		return cfg, fmt.Errorf("sink: config Target: no server")
	}
	if cfg.Source == nil {
		return cfg, fmt.Errorf("sink: config Source: none")
	}
	orDefault(&cfg.Target.Stream, DefaultStream)
	orDefault(&cfg.Target.Bucket, cfg.Target.Stream)
	orDefault(&cfg.Name, "treecast")
	for _, n := range []struct{ name, value string }{
		{"Stream", cfg.Target.Stream},
		{"Bucket", cfg.Target.Bucket},
	} {
		if err := checkName(n.value); err != nil {
			return cfg, fmt.Errorf("sink: config Target.%s: %w", n.name, err)
		}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	var err error
	cfg.Limits, err = cfg.Limits.withDefaults()
	return cfg, err
}

func (l Limits) withDefaults() (Limits, error) {
	orDefault(&l.Window, DefaultWindow)
	orDefault(&l.WindowBytes, DefaultWindowBytes)
	orDefault(&l.Known, 1<<20)
	orDefault(&l.Recent, 1<<14)
	orDefault(&l.Duplicates, time.Minute)
	orDefault(&l.Dial, 5*time.Second)
	orDefault(&l.Request, 10*time.Second)
	orDefault(&l.Ack, 30*time.Second)
	orDefault(&l.Put, 30*time.Second)
	orDefault(&l.Scan, 10*time.Second)
	orDefault(&l.Write, 10*time.Second)
	orDefault(&l.Ping, 10*time.Second)
	orDefault(&l.Backoff, 100*time.Millisecond)
	orDefault(&l.MaxWait, 30*time.Second)
	for _, bound := range []struct {
		name  string
		value int64
	}{
		{"Window", int64(l.Window)},
		{"WindowBytes", l.WindowBytes},
		{"Known", int64(l.Known)},
		{"Recent", int64(l.Recent)},
		{"Duplicates", int64(l.Duplicates)},
		{"Dial", int64(l.Dial)},
		{"Request", int64(l.Request)},
		{"Ack", int64(l.Ack)},
		{"Put", int64(l.Put)},
		{"Scan", int64(l.Scan)},
		{"Write", int64(l.Write)},
		{"Ping", int64(l.Ping)},
		{"Backoff", int64(l.Backoff)},
		{"MaxWait", int64(l.MaxWait)},
	} {
		if bound.value < 0 {
			return l, fmt.Errorf("sink: config Limits.%s: %d is negative", bound.name, bound.value)
		}
	}
	return l, nil
}

func orDefault[T int | int64 | string | time.Duration](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}
