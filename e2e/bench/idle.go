package main

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

const (
	idleName  = "idle-n32"
	idleHosts = 32
	idleTime  = time.Minute
	// quietFor is how long nothing may be sent before a network counts as idle.
	quietFor = 6 * time.Second
)

// idle is a minute in which nobody publishes.
func (b *bench) idle(ctx context.Context) (row, error) {
	measure := func(net side) (Figures, error) { return measureIdle(ctx, net) }
	ours, err := b.once(func() (side, error) { return newTree(ctx, idleHosts, 2) }, measure)
	if err != nil {
		return row{}, fmt.Errorf("%s: treecast: %w", idleName, err)
	}
	theirs, err := b.once(func() (side, error) { return newGossip(ctx, idleHosts, rivals["tuned"]) }, measure)
	if err != nil {
		return row{}, fmt.Errorf("%s: gossipsub: %w", idleName, err)
	}
	r := row{Workload: idleName, Opponent: "tuned", Rounds: 1, Treecast: ours, Gossipsub: theirs, Ratio: map[string]float64{}}
	if v, ok := ratio(ours["cpu_s_per_minute"], theirs["cpu_s_per_minute"]); ok {
		r.Ratio["cpu"] = v
	}
	return r, nil
}

// measureIdle waits until a network has fallen silent, or a while, and measures.
func measureIdle(ctx context.Context, net side) (Figures, error) {
	last, since := net.traffic().data.Load(), time.Now()
	for begin := time.Now(); time.Since(since) < quietFor && time.Since(begin) < idleTime; {
		if err := sleepFor(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
		if now := net.traffic().data.Load(); now != last {
			last, since = now, time.Now()
		}
	}
	freshPeak()
	before, err := read(net, nil)
	if err != nil {
		return nil, err
	}
	if err := sleepFor(ctx, idleTime); err != nil {
		return nil, err
	}
	after, err := read(net, nil)
	if err != nil {
		return nil, err
	}
	links := float64(max(1, net.links()))
	f := Figures{
		"idle_stream_bytes":   float64(after.data - before.data),
		"links":               links,
		"cpu_s_per_minute":    (after.cpu - before.cpu).Seconds() / after.at.Sub(before.at).Minutes(),
		"peak_rss_mib":        peakMiB(),
		"rss_kib_per_host":    peakMiB() * 1024 / idleHosts,
		"goroutines_per_host": float64(runtime.NumGoroutine()) / idleHosts,
	}
	if after.device > 0 {
		// All that is sent then keeps connections alive: pings, the multiplexer's
		// own, and what TCP and IP add to them.
		f["idle_device_bytes_per_link"] = float64(after.device-before.device) / links
	}
	return f, nil
}

func sleepFor(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
