package jetstream_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"treecast/e2e/cluster"
	"treecast/node/follow"
	"treecast/node/sink"
	"treecast/wire/beef"
)

// limit is how long anything here may take on a busy machine.
const limit = 60 * time.Second

// startSink starts a sink; the test's end closes it.
func startSink(t testing.TB, addr string, src sink.Source, change func(*sink.Config)) *sink.Sink {
	t.Helper()
	target, err := sink.ParseTarget("nats://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	cfg := sink.Config{Target: target, Source: src, Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Limits: sink.Limits{MaxWait: 300 * time.Millisecond}}
	if change != nil {
		change(&cfg)
	}
	s, err := sink.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// awaitDone waits until n objects are acknowledged to the source.
func awaitDone(t testing.TB, l *list, s *sink.Sink, n int) {
	t.Helper()
	cluster.Eventually(t, limit, fmt.Sprintf("%d objects stored", n), func() (bool, string) {
		return l.done() >= n, fmt.Sprintf("%d; %+v", l.done(), s.Counters())
	})
}

// stored is one object as a consumer of the stream gets it.
type stored struct {
	id, owner string
	index     uint64
	payload   []byte
	size      int // bytes of the message were the payload in it
	large     bool
}

// readStream reads a whole stream as a consumer would, with nothing but what the
// messages say.
func readStream(t testing.TB, js jetstream.JetStream, name string) []stored {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	stream, err := js.Stream(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	messages, err := consumer.Messages()
	if err != nil {
		t.Fatal(err)
	}
	defer messages.Stop()
	var all []stored
	for left := stream.CachedInfo().State.Msgs; left > 0; left-- {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			t.Fatalf("%s after %d messages: %v", name, len(all), err)
		}
		all = append(all, read(ctx, t, js, m))
	}
	return all
}

// read takes one message apart and checks that it agrees with itself.
func read(ctx context.Context, t testing.TB, js jetstream.JetStream, m jetstream.Msg) stored {
	t.Helper()
	h := m.Headers()
	one := stored{id: h.Get(sink.HeaderID), owner: h.Get(sink.HeaderOwner), payload: m.Data()}
	if bucket := h.Get(sink.HeaderBucket); bucket != "" {
		if len(m.Data()) > 0 {
			t.Errorf("%s: a reference with a body", one.id)
		}
		objects, err := js.ObjectStore(ctx, bucket)
		if err != nil {
			t.Fatal(err)
		}
		if one.payload, err = objects.GetBytes(ctx, one.id); err != nil {
			t.Fatalf("%s in object store %s: %v", one.id, bucket, err)
		}
		one.large = true
	}
	one.size = len("NATS/1.0\r\n\r\n") + len(one.payload)
	for key, values := range h {
		if key != sink.HeaderBucket {
			one.size += len(key) + len(": \r\n") + len(values[0])
		}
	}
	content, topic := h.Get(sink.HeaderContentID), h.Get(sink.HeaderTopicID)
	sum := beef.ContentID(one.payload)
	if content != hex.EncodeToString(sum[:]) || one.id != content+topic || m.Subject() != "beef."+topic {
		t.Errorf("subject %s, id %s, content %s, topic %s of a payload %x", m.Subject(), one.id, content, topic, sum)
	}
	if h.Get(sink.HeaderBytes) != strconv.Itoa(len(one.payload)) {
		t.Errorf("%s: %s bytes, has %d", one.id, h.Get(sink.HeaderBytes), len(one.payload))
	}
	var err error
	if one.index, err = strconv.ParseUint(h.Get(sink.HeaderIndex), 10, 64); err != nil {
		t.Errorf("%s: index: %v", one.id, err)
	}
	return one
}

// checkStream checks that the stream holds exactly the objects, each once, and
// returns them as it has them.
func checkStream(t testing.TB, js jetstream.JetStream, name string, objects []*follow.Object) []stored {
	t.Helper()
	want := make(map[string]*follow.Object)
	for _, o := range objects {
		want[hex.EncodeToString(o.Frame.ContentID[:])+hex.EncodeToString(o.Topic[:])] = o
	}
	all := readStream(t, js, name)
	seen := make(map[string]int)
	for _, m := range all {
		seen[m.id]++
		o := want[m.id]
		switch {
		case o == nil:
			t.Errorf("%s is nobody's", m.id)
		case seen[m.id] > 1:
			t.Errorf("object %d is there %d times", o.Index, seen[m.id])
		case !bytes.Equal(m.payload, o.Frame.Payload):
			t.Errorf("object %d has other bytes", o.Index)
		case m.index != o.Index || m.owner != hex.EncodeToString(o.Owner[:]):
			t.Errorf("object %d of %x is %d of %s", o.Index, o.Owner, m.index, m.owner)
		}
	}
	if len(seen) != len(want) {
		t.Errorf("%d of %d objects", len(seen), len(want))
	}
	return all
}

// checkOrder checks that the objects are in the order of their indices.
func checkOrder(t testing.TB, all []stored) {
	t.Helper()
	for i := 1; i < len(all); i++ {
		if all[i].index < all[i-1].index {
			t.Errorf("object %d comes after %d", all[i].index, all[i-1].index)
		}
	}
}
