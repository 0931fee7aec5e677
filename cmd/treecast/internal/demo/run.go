package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"treecast/cmd/treecast/internal/client"
	"treecast/cmd/treecast/internal/view"
)

const (
	// quiet is how long nothing has to come, with all objects submitted, until
	// what is missing is missing.
	quiet = 5 * time.Second
	// linger is how long late copies get to surface at the end.
	linger = 300 * time.Millisecond
)

// A Demo is one run; Run makes it.
type Demo struct {
	Report Report
	drawn  []view.Node
}

// DrawTree prints the network as it was at the end.
func (d *Demo) DrawTree(w io.Writer) error { return view.Draw(w, d.drawn) }

// Run runs the demo and returns what it showed, be it good or bad. The error
// says why it could not be run to its end; the report then holds what is known.
// Nothing of it runs any more when Run returns.
func Run(ctx context.Context, cfg Config) (*Demo, error) {
	if faults := cfg.Faults(); len(faults) > 0 {
		return nil, errors.New(faults[0])
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Progress == nil {
		cfg.Progress = func(string, int, int) {}
	}
	start := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, cfg.Timeout, fmt.Errorf("not done within %v", cfg.Timeout))
	defer cancel()
	r := &runner{cfg: &cfg, net: &network{cfg: &cfg}}
	defer r.close()
	err := r.run(limited)
	r.report.ElapsedS = time.Since(start).Seconds()
	d := &Demo{Report: r.report}
	if len(r.net.members) > 0 {
		d.drawn = r.net.drawn()
	}
	if err == nil && cfg.Ended != nil {
		cfg.Ended(d)
	}
	return d, err
}

// runner is a demo under way.
type runner struct {
	cfg     *Config
	objects *objects
	sinks   []*sink
	net     *network
	report  Report

	sentAt  []atomic.Int64 // Unix nanoseconds, by object
	sent    atomic.Int64
	arrived atomic.Int64 // distinct deliveries at all sinks
	held    atomic.Int64 // how long submitting waited for departures, nanoseconds
}

func (r *runner) run(ctx context.Context) (err error) {
	if r.objects, err = r.loadObjects(); err != nil {
		return err
	}
	r.sentAt = make([]atomic.Int64, len(r.objects.bytes))
	if err := r.build(ctx); err != nil {
		return err
	}
	r.inspect()
	before := r.net.bytesOut()
	d := newDepartures(r.net, r.cfg.Kill, r.cfg.Leave, len(r.objects.bytes))
	err = r.stream(ctx, d)
	r.conclude(d, r.net.bytesOut()-before)
	return err
}

func (r *runner) loadObjects() (*objects, error) {
	if r.cfg.ObjectsDir != "" {
		return load(r.cfg.ObjectsDir)
	}
	return generate(r.cfg.Objects, r.cfg.ObjectBytes, r.cfg.Seed), nil
}

// build starts the consumers and the network: relays first, so that a leaf does
// not take a slot at the broker that a relay could share out.
func (r *runner) build(ctx context.Context) error {
	for i := range r.cfg.Consumers {
		s, err := newSink(fmt.Sprintf("consumer-%d", i+1), r.objects, r.sentAt, &r.arrived, &r.held, r.cfg.Out)
		if err != nil {
			return err
		}
		r.sinks = append(r.sinks, s)
	}
	if err := r.net.startBroker(); err != nil {
		return err
	}
	for i := range r.cfg.Nodes - 1 - r.cfg.Consumers {
		if err := r.net.startRelay(i); err != nil {
			return err
		}
	}
	if err := r.net.awaitSettled(ctx); err != nil {
		return err
	}
	for i, s := range r.sinks {
		if err := r.net.startLeaf(i, s); err != nil {
			return err
		}
	}
	return r.net.awaitSettled(ctx)
}

// inspect reports the network as it is before anything is submitted.
func (r *runner) inspect() {
	g := r.net.views()
	p := &r.report
	p.Nodes, p.Consumers = r.cfg.Nodes, r.cfg.Consumers
	p.Objects, p.ObjectBytesTotal = len(r.objects.bytes), r.objects.size
	p.Attached, p.Relays, p.DualParented = g.attached(), g.relays(), g.dualParented()
	for _, d := range g.depths() {
		p.MaxDepth = max(p.MaxDepth, d)
	}
	p.DeliveriesExpected = p.Objects * p.Consumers
}

// stream submits all objects, takes relays out, and waits for the deliveries.
func (r *runner) stream(ctx context.Context, d *departures) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	submitted := make(chan error, 1)
	go func() { submitted <- r.submit(ctx, d) }() // ends with ctx
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	running := true
	defer func() {
		if running {
			cancel()
			<-submitted
		}
	}()
	lastCount, lastChange := int64(-1), time.Now()
	for {
		select {
		case err := <-submitted:
			running = false
			if err != nil {
				return err
			}
			submitted = nil
			lastChange = time.Now() // what is missing has been missing from here on
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("demo: %d of %d deliveries: %w", r.arrived.Load(), r.report.DeliveriesExpected, context.Cause(ctx))
		}
		if err := d.step(&r.sent); err != nil {
			return err
		}
		arrived := r.arrived.Load()
		r.cfg.Progress("delivering", int(arrived), r.report.DeliveriesExpected)
		if arrived != lastCount {
			lastCount, lastChange = arrived, time.Now()
		}
		idle := time.Since(lastChange)
		complete := int(arrived) == r.report.DeliveriesExpected && d.finished() && idle > linger
		if !running && (complete || idle > quiet) {
			return nil
		}
	}
}

// submit sends every object through the broker's door.
func (r *runner) submit(ctx context.Context, d *departures) error {
	sender, err := client.Dial(ctx, r.net.door().String(), r.cfg.Rate)
	if err != nil {
		return err
	}
	defer sender.Close()
	start := time.Now()
	for i, object := range r.objects.bytes {
		if i == d.last() {
			since := time.Now()
			select {
			case <-d.open:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			r.held.Add(int64(time.Since(since)))
		}
		err := sender.Send(ctx, []string{topic}, object, func() { r.sentAt[i].Store(time.Now().UnixNano()) })
		if err != nil {
			return err
		}
		r.sent.Add(1)
	}
	if took := time.Since(start) - time.Duration(r.held.Load()); len(r.objects.bytes) > 1 {
		r.report.RateReached = float64(len(r.objects.bytes)-1) / took.Seconds()
	}
	return sender.Finish()
}

// conclude reports what came of it.
func (r *runner) conclude(d *departures, wire uint64) {
	p := &r.report
	t := total(r.sinks)
	for _, n := range t.got {
		p.Deliveries += n
		if n == len(r.sinks) {
			p.complete++
		}
	}
	p.Missing = p.DeliveriesExpected - p.Deliveries
	p.Corrupted, p.DuplicatesSurfaced = t.corrupted, t.duplicates
	p.Recovered = r.net.recovered()
	p.Killed, p.KilledChildren, p.unhealed, p.Left = d.killed, d.children, len(d.healing), d.left
	p.LongestGapMS = ms(t.longestGap)
	p.HealMS, p.LatencyMS = healing(d.healed), latency(t.latencies)
	if share := float64(p.ObjectBytesTotal) * float64(p.Nodes-1); share > 0 {
		p.WireBytes = WireShare(float64(wire) / share)
	}
	p.OK = p.DeliveriesExpected > 0 && p.Missing == 0 && p.Corrupted == 0 && p.DuplicatesSurfaced == 0
	if t.failed != nil {
		p.OK = false
		r.cfg.Log.Error("an object could not be kept", "err", t.failed)
	}
}

func (r *runner) close() {
	if err := r.net.close(); err != nil {
		r.cfg.Log.Warn("closing the network", "err", err)
	}
	for _, s := range r.sinks {
		s.close()
	}
}
