package jetstream_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"treecast/e2e/cluster"
	"treecast/node/sink"
)

// TestSinkStoresEverySize: from 100 bytes to 2 MiB, with three bounds of the server,
// one of the stream's own, and every length around the bound.
func TestSinkStoresEverySize(t *testing.T) {
	for _, c := range []struct {
		name            string
		maxPayload, own int32
	}{{"64 KiB", 64 << 10, 0}, {"256 KiB", 256 << 10, 0}, {"1 MiB", 1 << 20, 0}, {"stream 2 KiB", 1 << 20, 2 << 10}} {
		t.Run(c.name, func(t *testing.T) {
			n := startServer(t, func(o *server.Options) { o.MaxPayload = c.maxPayload })
			js := client(t, n)
			bound := c.maxPayload
			if c.own > 0 {
				bound = c.own
				makeStream(t, js, jetstream.StreamConfig{MaxMsgSize: c.own})
			}
			sizes := []int{100, 101, 1000, 4096, 65_000, 1 << 20, 2 << 20}
			for d := -700; d <= 100; d += 20 {
				sizes = append(sizes, int(bound)+d)
			}
			for d := -500; d <= -460; d++ { // the edge is in here
				sizes = append(sizes, int(bound)+d)
			}
			objects := makeObjects(t, sizes)
			l := newList(objects)
			s := startSink(t, n.addr(), l, nil)
			awaitDone(t, l, s, len(objects))
			all := checkStream(t, js, "BEEF", objects)
			checkOrder(t, all)
			edge := 0
			for _, m := range all {
				if m.large != (m.size > int(bound)) {
					t.Errorf("a message of %d bytes is in the object store: %v", m.size, m.large)
				}
				if m.size == int(bound) || m.size == int(bound)+1 {
					edge++
				}
			}
			if edge < 2 {
				t.Errorf("no object at the bound and beyond it: %d bytes in a message of %d", len(all[0].payload), all[0].size)
			}
			if got := s.Counters(); got.Acked != uint64(len(objects)) || got.Retried+got.Known+got.Duplicates != 0 || len(got.Failures) > 0 ||
				got.Large == 0 || got.Pending != 0 || got.Lag != 0 || got.Stalled != 0 || !got.Connected {
				t.Errorf("%+v", got)
			}
		})
	}
}

// makeStream makes the stream before the sink does.
func makeStream(t testing.TB, js jetstream.JetStream, cfg jetstream.StreamConfig) jetstream.Stream {
	t.Helper()
	cfg.Name = "BEEF"
	if cfg.Subjects == nil {
		cfg.Subjects = []string{"beef.>"}
	}
	s, err := js.CreateOrUpdateStream(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSinkMakesTheStream as the operator's guide says.
func TestSinkMakesTheStream(t *testing.T) {
	n := startServer(t, nil)
	l := newList(makeObjects(t, sizesOf(3)))
	s := startSink(t, n.addr(), l, nil)
	awaitDone(t, l, s, 3)
	stream, err := client(t, n).Stream(t.Context(), "BEEF")
	if err != nil {
		t.Fatal(err)
	}
	cfg := stream.CachedInfo().Config
	if fmt.Sprint(cfg.Subjects) != "[beef.>]" || cfg.Duplicates != 10*time.Minute || cfg.Storage != jetstream.FileStorage ||
		cfg.Retention != jetstream.LimitsPolicy || cfg.MaxMsgs != -1 || cfg.MaxAge != 0 || cfg.Replicas != 1 {
		t.Errorf("%+v", cfg)
	}
}

// TestServerRestarts: while objects flow, three times, with the same files.
func TestServerRestarts(t *testing.T) {
	n := startServer(t, func(o *server.Options) { o.MaxPayload = 64 << 10 })
	objects := makeObjects(t, sizesOf(1200))
	l := newList(objects)
	l.show(0)
	s := startSink(t, n.addr(), l, nil)
	for i := 1; i <= 3; i++ {
		l.show(300 * i)
		awaitDone(t, l, s, 300*i-200)
		n.restart(t, nil)
	}
	l.show(len(objects))
	awaitDone(t, l, s, len(objects))
	checkStream(t, client(t, n), "BEEF", objects)
	if got := s.Counters(); got.Failures["lost"]+got.Failures["connect"]+got.Failures["timeout"] == 0 {
		t.Errorf("no failure counted: %+v", got)
	}
}

// TestConnectionIsCut again and again at any moment, first of all while answers
// are lost: what is stored then, the sink does not know of.
func TestConnectionIsCut(t *testing.T) {
	for _, window := range []time.Duration{2 * time.Minute, 100 * time.Millisecond} {
		t.Run(fmt.Sprint("duplicate window ", window), func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			rng := rand.New(rand.NewPCG(seed, 0))
			n := startServer(t, func(o *server.Options) { o.MaxPayload = 64 << 10 })
			w := newCable(t, n.addr())
			js := client(t, n)
			stream := makeStream(t, js, jetstream.StreamConfig{Duplicates: window})
			rounds := 10
			if testing.Short() {
				rounds = 4
			}
			sizes := make([]int, 200*(rounds+1)) // small ones: before a large one the sink asks, and hears nothing
			for i := range sizes {
				sizes[i] = 100 + rng.IntN(2000)
			}
			objects := makeObjects(t, sizes)
			l := newList(objects)
			l.show(0)
			s := startSink(t, w.Addr().String(), l, func(c *sink.Config) { c.Limits.Duplicates = 100 * time.Millisecond })
			for i := 1; i <= rounds; i++ {
				l.show(200 * i)
				awaitDone(t, l, s, 200*i-rng.IntN(100))
				// All that is sent is stored, and the sink hears nothing of it.
				w.set(true, false)
				l.show(200*i + 100)
				cluster.Eventually(t, limit, "more in the stream than the sink knows of", func() (bool, string) {
					now := messages(t, stream)
					return now > uint64(l.done()), fmt.Sprintf("%d, known %d, %+v", now, l.done(), s.Counters())
				})
				w.set(true, true)
				w.cut()
				if window < time.Second {
					time.Sleep(3 * window) // the outage is longer than the stream remembers
				}
				w.set(false, false)
			}
			l.show(len(objects))
			awaitDone(t, l, s, len(objects))
			checkStream(t, js, "BEEF", objects)
			if got := s.Counters(); got.Known+got.Duplicates == 0 || got.Failures["lost"] == 0 {
				t.Errorf("nothing was met twice: %+v", got)
			}
		})
	}
}

// TestConnectionIsCutUnderLargeObjects: wherever in one the cut falls.
func TestConnectionIsCutUnderLargeObjects(t *testing.T) {
	n := startServer(t, func(o *server.Options) { o.MaxPayload = 64 << 10 })
	w := newCable(t, n.addr())
	sizes := make([]int, 60)
	for i := range sizes {
		sizes[i] = 1000
		if i%3 > 0 {
			sizes[i] = 1 << 20
		}
	}
	objects := makeObjects(t, sizes)
	l := newList(objects)
	s := startSink(t, w.Addr().String(), l, nil)
	for i := range 12 {
		awaitDone(t, l, s, 5*i)
		w.cut()
	}
	awaitDone(t, l, s, len(objects))
	checkOrder(t, checkStream(t, client(t, n), "BEEF", objects))
}

// messages is how many the stream has now.
func messages(t testing.TB, s jetstream.Stream) uint64 {
	t.Helper()
	info, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return info.State.Msgs
}

// TestSinkRestarts: the node goes and comes back, with a position that lags behind
// what the stream has. The stream's own memory is over by then.
func TestSinkRestarts(t *testing.T) {
	const window = 100 * time.Millisecond
	n := startServer(t, func(o *server.Options) { o.MaxPayload = 64 << 10 })
	js := client(t, n)
	makeStream(t, js, jetstream.StreamConfig{Duplicates: window})
	objects := makeObjects(t, sizesOf(1500))
	l := newList(objects)
	short := func(c *sink.Config) { c.Limits.Duplicates = window }
	for i := 1; i <= 5; i++ {
		l.show(300 * i)
		s := startSink(t, n.addr(), l, short)
		awaitDone(t, l, s, 300*i-150)
		s.Close()
		time.Sleep(3 * window) // the outage is longer than the stream remembers
		l.reopen(100)
	}
	s := startSink(t, n.addr(), l, short)
	awaitDone(t, l, s, len(objects))
	checkStream(t, js, "BEEF", objects)
	if got := s.Counters(); got.Known < 100 {
		t.Errorf("%d objects found in the stream, at least 100 were", got.Known)
	}
}

// TestServerWithoutJetStream: the sink says so and waits, until it has.
func TestServerWithoutJetStream(t *testing.T) {
	n := startServer(t, func(o *server.Options) { o.JetStream = false })
	objects := makeObjects(t, sizesOf(100))
	l := newList(objects)
	s := startSink(t, n.addr(), l, nil)
	awaitFailure(t, s, "jetstream", 3)
	if got := s.Counters(); !got.Connected || l.done() != 0 {
		t.Errorf("%d done, %+v", l.done(), got)
	}
	n.restart(t, func(o *server.Options) { o.JetStream = true })
	awaitDone(t, l, s, len(objects))
	checkStream(t, client(t, n), "BEEF", objects)
}

func awaitFailure(t testing.TB, s *sink.Sink, reason string, n uint64) {
	t.Helper()
	cluster.Eventually(t, limit, fmt.Sprintf("%d times %s", n, reason), func() (bool, string) {
		c := s.Counters()
		return c.Failures[reason] >= n, fmt.Sprintf("%+v", c)
	})
}

// TestStreamThatWillNotDo: each thing that a sink needs is missed, said and waited
// for, and once the operator has put it right all objects come.
func TestStreamThatWillNotDo(t *testing.T) {
	for name, wrong := range map[string]jetstream.StreamConfig{
		"subjects":   {Subjects: []string{"pork.>"}},
		"no_ack":     {NoAck: true},
		"duplicates": {Duplicates: 30 * time.Second},
		"size":       {MaxMsgSize: 1000},
		"full":       {MaxMsgs: 20, Discard: jetstream.DiscardNew},
	} {
		t.Run(name, func(t *testing.T) {
			n := startServer(t, nil)
			js := client(t, n)
			makeStream(t, js, wrong)
			objects := makeObjects(t, sizesOf(100))
			l := newList(objects)
			s := startSink(t, n.addr(), l, nil)
			reason, most := "stream", 0
			if name == "full" {
				reason, most = "refused", 20
			}
			awaitFailure(t, s, reason, 3)
			if l.done() > most {
				t.Errorf("%d objects are said to be stored", l.done())
			}
			makeStream(t, js, jetstream.StreamConfig{MaxMsgSize: -1})
			awaitDone(t, l, s, len(objects))
			checkStream(t, js, "BEEF", objects)
		})
	}
}

// TestStreamIsDeleted under the sink: it makes it again, and nothing that comes
// later is missing or there twice.
func TestStreamIsDeleted(t *testing.T) {
	n := startServer(t, nil)
	js := client(t, n)
	objects := makeObjects(t, sizesOf(600))
	l := newList(objects)
	l.show(200)
	s := startSink(t, n.addr(), l, nil)
	awaitDone(t, l, s, 200)
	if err := js.DeleteStream(t.Context(), "BEEF"); err != nil {
		t.Fatal(err)
	}
	l.show(400)
	awaitDone(t, l, s, 400)
	checkStream(t, js, "BEEF", objects[200:400])
	// And while the sink does not look.
	s.Close()
	if err := js.DeleteStream(t.Context(), "BEEF"); err != nil {
		t.Fatal(err)
	}
	l.show(600)
	s = startSink(t, n.addr(), l, nil)
	awaitDone(t, l, s, 600)
	checkStream(t, js, "BEEF", objects[400:])
}

// TestServerShrinksItsMessages: the bound is smaller after a restart, and what
// would have fitted goes to the object store; then it grows again.
func TestServerShrinksItsMessages(t *testing.T) {
	n := startServer(t, func(o *server.Options) { o.MaxPayload = 512 << 10 })
	sizes := make([]int, 90)
	for i := range sizes {
		sizes[i] = 100_000
	}
	objects := makeObjects(t, sizes)
	l := newList(objects)
	l.show(30)
	s := startSink(t, n.addr(), l, nil)
	awaitDone(t, l, s, 30)
	for i, bound := range []int32{64 << 10, 512 << 10} {
		n.restart(t, func(o *server.Options) { o.MaxPayload = bound })
		l.show(60 + 30*i)
		awaitDone(t, l, s, 60+30*i)
	}
	large := 0
	for _, m := range checkStream(t, client(t, n), "BEEF", objects) {
		if m.large {
			large++
		}
	}
	if large != 30 || s.Counters().Large != 30 {
		t.Errorf("%d in the object store, %+v", large, s.Counters())
	}
}

// TestLargeObjectIsPutOnce: a payload that is in the object store already, of a
// sink that ended before it could refer to it, is not sent again.
func TestLargeObjectIsPutOnce(t *testing.T) {
	n := startServer(t, func(o *server.Options) { o.MaxPayload = 64 << 10 })
	js := client(t, n)
	objects := makeObjects(t, []int{300_000, 200_000})
	first := newList(objects)
	s := startSink(t, n.addr(), first, nil)
	awaitDone(t, first, s, 2)
	s.Close()
	if err := js.DeleteStream(t.Context(), "BEEF"); err != nil { // the references go, the objects stay
		t.Fatal(err)
	}
	again := newList(objects)
	s = startSink(t, n.addr(), again, nil)
	awaitDone(t, again, s, 2)
	checkStream(t, js, "BEEF", objects)
	if got := s.Counters(); got.Large != 0 || got.Acked != 2 {
		t.Errorf("%+v", got)
	}
}

// TestSinkTakesNoMoreThanItsWindow while the server says nothing, by number and by
// bytes: one object more waits to enter it.
func TestSinkTakesNoMoreThanItsWindow(t *testing.T) {
	sizes := make([]int, 300)
	for i := range sizes {
		sizes[i] = 987 // with its record 1000 bytes
	}
	objects := makeObjects(t, sizes)
	for name, l := range map[string]sink.Limits{"number": {Window: 10}, "bytes": {WindowBytes: 9001}} {
		t.Run(name, func(t *testing.T) {
			n := startServer(t, nil)
			w := newCable(t, n.addr())
			src := newList(objects)
			src.show(5)
			s := startSink(t, w.Addr().String(), src, func(c *sink.Config) { c.Limits = l })
			awaitDone(t, src, s, 5)
			w.set(true, false)
			src.show(len(objects))
			cluster.Eventually(t, limit, "the window is full", func() (bool, string) {
				now, _ := src.held()
				c := s.Counters()
				return now == 11 && c.Pending == 10 && c.PendingBytes == 10_000, fmt.Sprintf("%d held, %+v", now, c)
			})
			if got := s.Counters(); got.Lag != uint64(len(objects)-src.done()) || got.Stalled <= 0 {
				t.Errorf("%+v", got)
			}
			w.set(false, false)
			w.cut() // so that it asks what became of them
			awaitDone(t, src, s, len(objects))
			checkStream(t, client(t, n), "BEEF", objects)
			if _, most := src.held(); most > 11 {
				t.Errorf("%d objects were taken at a time", most)
			}
		})
	}
}

// TestSinkEnds with nothing of it running, whatever it was doing.
func TestSinkEnds(t *testing.T) {
	n := startServer(t, func(o *server.Options) { o.MaxPayload = 64 << 10 })
	w := newCable(t, n.addr())
	l := newList(makeObjects(t, sizesOf(3000)))
	warm := startSink(t, w.Addr().String(), l, nil)
	awaitDone(t, l, warm, 100)
	warm.Close()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for i := range 4 {
		l.reopen(0)
		before := l.done()
		ignore := goleak.IgnoreCurrent()
		s := startSink(t, w.Addr().String(), l, nil)
		awaitDone(t, l, s, before+100)
		switch i {
		case 1:
			w.cut()
		case 2:
			w.set(true, false) // it waits for answers
		case 3:
			w.set(false, true)
			w.cut()
			awaitFailure(t, s, "connect", 1)
		}
		start := time.Now()
		s.Close()
		t.Logf("closed within %v", time.Since(start))
		w.set(false, false)
		w.cut()
		for {
			err := goleak.Find(ignore, goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"))
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				t.Fatal(err)
			}
		}
	}
}
