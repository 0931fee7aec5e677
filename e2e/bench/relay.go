package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/multiformats/go-multiaddr"

	"treecast/node"
	"treecast/tree"
	"treecast/wire"
	"treecast/wire/soc"
)

const (
	relayName     = "relay-16"
	relayChildren = 16
	relayWindow   = 256 // so that the relay has something to coalesce
	// maxRelayChildren is what a relay has room for; fewer are attached.
	maxRelayChildren = 32
)

// relay measures a node with sixteen children that is a process of its own; the
// publisher and the children, which check nothing, are in this one. What it spends on a chunk is held
// against its parts, each a process of its own too: one check as the relay makes
// it, against the owner's known key in full batches; one chunk read from a stream;
// and the chunk written to sixteen streams, in writes of as many chunks as the
// relay's were. A second sum has a check that recovers the key instead, which is
// what a chunk of an unknown owner costs.
func (b *bench) relay(ctx context.Context) (row, error) {
	var ours, parts []Figures
	for round := range b.rounds {
		f, err := b.relayOnce(ctx, relayChildren)
		if err != nil {
			return row{}, fmt.Errorf("%s: %w", relayName, err)
		}
		p, err := b.relayParts(ctx, f)
		if err != nil {
			return row{}, fmt.Errorf("%s: parts: %w", relayName, err)
		}
		b.say("  %s round %d: %.1f µs CPU a chunk at %.0f a second beside %.1f + %.1f + %.1f (check, read, 16 writes of %.1f chunks; a check with recovery %.1f)", relayName, round+1,
			f["cpu_us_per_chunk"], f["msgs_per_s"], p["check_us"], p["read_us"], p["write_16_us"], f["chunks_per_write"], p["check_recover_us"])
		ours, parts = append(ours, f), append(parts, p)
	}
	r := row{Workload: relayName, Opponent: "parts", Rounds: b.rounds, Treecast: medians(ours), Beside: medians(parts), Ratio: map[string]float64{}}
	for name, sum := range map[string]string{"cpu": "sum_us", "cpu_recover": "sum_recover_us"} {
		if v, ok := ratio(r.Treecast["cpu_us_per_chunk"], r.Beside[sum]); ok {
			r.Ratio[name] = v
		}
	}
	return r, nil
}

// relayOnce runs publisher, relay and children.
func (b *bench) relayOnce(ctx context.Context, children int) (_ Figures, err error) {
	t, err := newTree(ctx, 1, 1)
	if err != nil {
		return nil, err
	}
	defer t.close()
	p, err := startPart(ctx, "relay", relayArgs(t)...)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	if err := t.putUnder(ctx, p, children); err != nil {
		return nil, err
	}
	pass := func(d time.Duration) error {
		f, err := run(ctx, t, &load{payload: 4096, window: relayWindow, measure: d}, profiler{})
		if err == nil && f["missing"] > 0 {
			err = fmt.Errorf("bench: %.0f deliveries are missing", f["missing"])
		}
		return err
	}
	if err := pass(b.times.warm); err != nil {
		return nil, err
	}
	writes, bytes := t.sent.writes.Load(), t.sent.data.Load()
	f, err := p.between(func() error { return pass(b.times.measure) })
	if err != nil {
		return nil, err
	}
	f["chunks_per_read_write"] = float64(t.sent.data.Load()-bytes) / float64(frameSize) / float64(max(1, t.sent.writes.Load()-writes))
	return f, nil
}

// putUnder starts children of the relay that a part is, which check nothing.
func (t *treeNet) putUnder(ctx context.Context, p *part, children int) error {
	var addr string
	if err := p.receive(&addr); err != nil {
		return err
	}
	topic := t.members[0].cohort.View().Spec.Topic
	for i := range children {
		h, err := newSecpHost(new(traffic)) // what the publisher sends is counted alone
		if err != nil {
			return err
		}
		t.takers = append(t.takers, h)
		if err := h.join(ctx, addr, topic, t.taking(i)); err != nil {
			return fmt.Errorf("bench: child %d: %w", i, err)
		}
	}
	return nil
}

// relayParts measures what a relay cannot do without.
func (b *bench) relayParts(ctx context.Context, f Figures) (Figures, error) {
	out := Figures{}
	for _, part := range []struct {
		role, figure string
		batch        float64
	}{
		{"check", "check_us", 1},
		{"check-recover", "check_recover_us", 1},
		{"read", "read_us", f["chunks_per_read_write"]},
		{"write", "write_16_us", f["chunks_per_write"]},
	} {
		us, err := measurePart(ctx, part.role, max(1, int(math.Round(part.batch))))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.role, err)
		}
		out[part.figure] = us
	}
	streams := out["read_us"] + out["write_16_us"]
	out["sum_us"], out["sum_recover_us"] = out["check_us"]+streams, out["check_recover_us"]+streams
	return out, nil
}

// relayArgs are what a relay's process has to know: where it joins what.
func relayArgs(t *treeNet) []string {
	spec := t.members[0].cohort.View().Spec
	return []string{hex.EncodeToString(spec.Topic[:]), hex.EncodeToString(spec.Admin), t.members[0].node.Addrs()[0].String()}
}

// joinRelay starts a relay by these arguments, and tells its address.
func joinRelay(ctx context.Context, c *conversation, args []string, sent *traffic, cfg node.Config) (_ *treeMember, err error) {
	if len(args) != 3 {
		return nil, fmt.Errorf("bench: relay: %d arguments", len(args))
	}
	topic, err := hex.DecodeString(args[0])
	if err != nil {
		return nil, fmt.Errorf("bench: relay: topic: %w", err)
	}
	admin, err := hex.DecodeString(args[1])
	if err != nil {
		return nil, fmt.Errorf("bench: relay: admin: %w", err)
	}
	at, err := multiaddr.NewMultiaddr(args[2])
	if err != nil {
		return nil, fmt.Errorf("bench: relay: entry: %w", err)
	}
	m, err := newMemberOf(sent, cfg)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	spec := wire.Spec{Topic: wire.Topic(topic), Binding: wire.BindingFeedTopic, Regime: wire.RegimeExplicitSingle, Admin: admin}
	m.cohort, err = m.node.Join(node.CohortOptions{
		Topic: spec.Topic, Spec: &spec, Entries: []multiaddr.Multiaddr{at}, Capacity: maxRelayChildren, Parents: 1,
	})
	if err != nil {
		return nil, err
	}
	if err := m.cohort.WaitAttached(ctx, 1); err != nil {
		return nil, err
	}
	return m, c.send(m.node.Addrs()[0].String())
}

// roleRelay is the relay's process.
func roleRelay(ctx context.Context, c *conversation, args []string) error {
	var sent traffic
	m, err := joinRelay(ctx, c, args, &sent, withRing(ringBytes))
	if err != nil {
		return err
	}
	defer m.close()
	return c.marks(func() (mark, error) {
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		cpu, err := cpuTime()
		return mark{
			At: time.Now(), CPU: cpu, Chunks: m.cohort.Counters()[tree.CountDelivered],
			Writes: sent.writes.Load(), Bytes: sent.data.Load(), Mallocs: mem.Mallocs,
		}, err
	})
}

// frameSize is a frame with a full chunk, its length prefix and feed index.
var frameSize = len(wire.AppendFrame(nil, wire.AppendSoc(nil, &wire.Soc{
	ID: make([]byte, 32), Owner: make([]byte, 20), Signature: make([]byte, 65), Span: make([]byte, 8),
	Payload: make([]byte, soc.MaxPayload), Index: 1 << 13, HasIndex: true,
})))
