package demo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"treecast/cmd/treecast/internal/client"
	"treecast/wire/beef"
)

// A sink is one consumer: it waits for its leaf to dial and checks what comes.
type sink struct {
	name    string
	objects *objects
	sent    []atomic.Int64 // when each object was submitted, Unix nanoseconds
	arrived *atomic.Int64  // distinct deliveries at all sinks
	held    *atomic.Int64  // how long submitting was held back so far, nanoseconds
	dir     string         // for the objects; empty = not kept
	ln      net.Listener
	stop    context.CancelFunc
	wg      sync.WaitGroup

	mu sync.Mutex // covers what follows
	tally
}

// tally is what one consumer saw, or all of them together.
type tally struct {
	got        []int // deliveries by object
	corrupted  int   // deliveries that are no submitted object
	duplicates int   // deliveries of one that had come
	latencies  []time.Duration
	longestGap time.Duration // between two deliveries, without what submitting was held back
	last       time.Time
	lastHeld   int64
	failed     error // writing a file
}

// newSink listens on loopback. The sink runs until close.
func newSink(name string, o *objects, sent []atomic.Int64, arrived, held *atomic.Int64, out string) (*sink, error) {
	s := &sink{name: name, objects: o, sent: sent, arrived: arrived, held: held}
	s.got = make([]int, len(o.bytes))
	if out != "" {
		s.dir = filepath.Join(out, name)
		if err := os.MkdirAll(s.dir, 0o755); err != nil {
			return nil, fmt.Errorf("demo: out: %w", err)
		}
	}
	var err error
	if s.ln, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("demo: consumer: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	c := &client.Consumer{
		Handle: func(_ net.Addr, d beef.Delivery) error { s.take(time.Now(), d.Payload); return nil },
		Refuse: func(client.Refusal) { s.refuse() },
	}
	s.wg.Go(func() { c.Serve(ctx, s.ln) }) // ends with ctx
	return s, nil
}

func (s *sink) close() {
	s.stop()
	s.wg.Wait()
}

func (s *sink) addr() string { return s.ln.Addr().String() }

// take compares one delivery with what was submitted, byte for byte.
func (s *sink) take(now time.Time, payload []byte) {
	p, err := beef.ParsePayload(payload)
	if err != nil {
		s.refuse()
		return
	}
	hash := sha256.Sum256(p.Object)
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.objects.index[hash]
	if !ok || !bytes.Equal(p.Object, s.objects.bytes[i]) {
		s.corrupted++
		return
	}
	if s.got[i]++; s.got[i] > 1 {
		s.duplicates++
		return
	}
	held := s.held.Load()
	if !s.last.IsZero() {
		s.longestGap = max(s.longestGap, now.Sub(s.last)-time.Duration(held-s.lastHeld))
	}
	s.last, s.lastHeld = now, held
	s.latencies = append(s.latencies, now.Sub(time.Unix(0, s.sent[i].Load())))
	if s.dir != "" && s.failed == nil {
		s.failed = os.WriteFile(filepath.Join(s.dir, hex.EncodeToString(hash[:])), p.Object, 0o644)
	}
	s.arrived.Add(1)
}

// refuse counts a delivery that no right node can send.
func (s *sink) refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.corrupted++
}

// total sums up the sinks; got is then the consumers that each object reached.
func total(sinks []*sink) tally {
	var t tally
	for _, s := range sinks {
		s.mu.Lock()
		if t.got == nil {
			t.got = make([]int, len(s.got))
		}
		for i, n := range s.got {
			t.got[i] += min(n, 1)
		}
		t.corrupted += s.corrupted
		t.duplicates += s.duplicates
		t.latencies = append(t.latencies, s.latencies...)
		t.longestGap = max(t.longestGap, s.longestGap)
		if s.last.After(t.last) {
			t.last = s.last
		}
		if t.failed == nil {
			t.failed = s.failed
		}
		s.mu.Unlock()
	}
	return t
}
