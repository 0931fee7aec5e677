package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"treecast/e2e/cluster"
)

// window is how many messages of a closed loop are under way: one counts as done
// when all subscribers have it.
const window = 64

// objectWindow is how many objects are under way in a closed loop of objects, be they
// cut or whole: a door sends all fragments of one together.
const objectWindow = 2

// giveUp is how long a closed loop waits for a message before its place is free.
const giveUp = 3 * time.Second

// drainLimit is how long what is under way may take to arrive after a run.
const drainLimit = 15 * time.Second

// A load is one run's work.
type load struct {
	payload int     // bytes of a message, or of an object
	rate    float64 // messages a second; 0 = closed loop
	objects bool    // messages are fragments of objects of payload bytes
	window  int     // of a closed loop, in messages; 0 = window
	// fill is the time of a closed loop of full chunks before all else: a slow pace
	// would not fill in a run what nodes keep in memory, and pay for fresh pages.
	fill    time.Duration
	warm    time.Duration
	measure time.Duration
	faults  []fault
}

// A fault happens to the subscribers whose hosts hurt most.
type fault struct {
	after time.Duration // from the start of the measured time
	hosts int
	mute  bool // else killed
}

// generator sends a run's messages until its context ends.
type generator struct {
	net    side
	load   *load
	books  *ledger
	source *source
	late   time.Duration
}

func (g *generator) run(ctx context.Context) error {
	if g.load.rate > 0 {
		pace, err := cluster.Pace(ctx, g.load.rate, maxMessages-1, func(int) error { return g.send() })
		g.late = pace.Late
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	for range maxMessages - 1 {
		select {
		case g.books.room <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		if ctx.Err() != nil {
			return nil
		}
		if err := g.send(); err != nil {
			return err
		}
	}
	return fmt.Errorf("bench: more than %d messages in a run", maxMessages)
}

func (g *generator) send() error {
	payload := g.source.next(g.books.sent.Load())
	g.books.send()
	return g.net.publish(payload)
}

// run puts a load on a network and measures it, the measured time under a profiler.
func run(ctx context.Context, net side, w *load, p profiler) (f Figures, err error) {
	if w.fill > 0 {
		if _, err := run(ctx, net, &load{payload: 4096, measure: w.fill}, profiler{}); err != nil {
			return nil, err
		}
	}
	size := w.window
	if size == 0 {
		size = window
	}
	src := plainSource(w.payload)
	r := &reader{}
	var parts int64 = 1
	if w.objects {
		if src, parts, err = objectSource(w.payload); err != nil {
			return nil, err
		}
		size = objectWindow * int(parts)
		if r.objects, err = newObjects(net.subscribers()); err != nil {
			return nil, err
		}
	}
	if w.rate > 0 {
		size = 0
	}
	books := newLedger(net.subscribers(), size)
	r.books, r.seqAt, r.first = books, src.seqAt, src.first
	net.attach(r)
	defer net.attach(nil)

	freshPeak() // here, as under load it may take many seconds
	gen := &generator{net: net, load: w, books: books, source: src}
	genCtx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- gen.run(genCtx) }() // ends with genCtx
	if size > 0 {
		wait := watch(genCtx, books)
		defer func() { stop(); wait() }()
	}
	sleep := func(d time.Duration) error {
		select {
		case err := <-ended:
			return fmt.Errorf("bench: generator: %w", err)
		case <-time.After(d):
			return nil
		}
	}
	if err := sleep(w.warm); err != nil {
		return nil, err
	}
	shape := net.shape()
	stopProfile, err := p.start()
	if err != nil {
		return nil, err
	}
	before, err := read(net, books)
	if err != nil {
		return nil, err
	}
	from := books.sent.Load()
	gaps := Figures{}
	for i, ft := range w.faults {
		if err := sleep(time.Until(before.at.Add(ft.after))); err != nil {
			return nil, err
		}
		for _, v := range net.victims(ft.hosts) {
			books.exclude(v)
			if ft.mute {
				net.mute(v)
			} else {
				net.kill(v)
			}
		}
		end := before.at.Add(w.measure)
		if i+1 < len(w.faults) {
			end = before.at.Add(w.faults[i+1].after)
		}
		if err := sleep(time.Until(end)); err != nil {
			return nil, err
		}
		gaps[fmt.Sprintf("gap_after_%d_ms", ft.hosts)] = ms(books.gap(before.at.Add(ft.after), end))
	}
	if err := sleep(time.Until(before.at.Add(w.measure))); err != nil {
		return nil, err
	}
	to := books.sent.Load()
	after, err := read(net, books)
	if err != nil {
		return nil, err
	}
	peak := peakMiB()
	if err := stopProfile(); err != nil {
		return nil, err
	}
	stop()
	if err := <-ended; err != nil {
		return nil, fmt.Errorf("bench: generator: %w", err)
	}
	drain(ctx, books)

	f = figures(before, after, w, books, from, to)
	f["peak_rss_mib"] = peak
	for name, v := range shape {
		f[name] = v
	}
	for name, v := range gaps {
		f[name] = v
	}
	if gen.load.rate > 0 {
		f["generator_late_ms"] = ms(gen.late)
	}
	if w.objects {
		f["objects_whole"] = float64(r.objects.whole.Load())
		f["objects_wrong_fragments"] = float64(r.objects.wrong.Load())
		f["goodput_bytes_per_s"] *= float64(w.payload) / float64(parts) / 4096 // of objects, not of chunks
	}
	return f, nil
}

// watch gives up what takes too long, until ctx ends.
func watch(ctx context.Context, books *ledger) (wait func()) {
	done := make(chan struct{})
	go func() { // ends with ctx
		defer close(done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				books.expire(giveUp)
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { <-done }
}

// drain waits until everything has arrived everywhere, or nothing comes any more.
func drain(ctx context.Context, books *ledger) {
	end := time.Now().Add(drainLimit)
	for time.Now().Before(end) && ctx.Err() == nil {
		if lost, _ := books.missing(0, books.sent.Load()); lost == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// figures are what two readings and the books say about the messages from ≤ seq < to.
func figures(before, after reading, w *load, books *ledger, from, to int64) Figures {
	size := w.payload
	if w.objects {
		size = 4096
	}
	seconds := after.at.Sub(before.at).Seconds()
	taken := float64(after.taken - before.taken)
	perSub := taken / float64(max(1, len(books.subs)))
	lost, twice := books.missing(0, books.sent.Load())
	lat := books.latencies(from, to)
	cpu := (after.cpu - before.cpu).Seconds()
	f := Figures{
		"goodput_bytes_per_s": perSub * float64(size) / seconds,
		"msgs_per_s":          perSub / seconds,
		"missing":             float64(lost),
		"twice":               float64(twice),
		"sent":                float64(to - from),
		"asked_again":         float64(after.asked - before.asked),
		"cpu_share":           cpu / seconds / float64(runtime.NumCPU()),
		"p50_ms":              percentile(lat, 0.5),
		"p99_ms":              percentile(lat, 0.99),
		"longest_gap_ms":      ms(books.gap(before.at, after.at)),
	}
	if taken > 0 {
		f["cpu_s_per_1000"] = cpu / taken * 1000
		f["cpu_s_per_payload_mb"] = cpu / taken / float64(size) * 1e6
		f["copies"] = float64(after.copies-before.copies) / taken
		f["wire_bytes_per_payload_byte"] = float64(after.data-before.data) / taken / float64(size)
		f["messages_per_write"] = float64(after.copies-before.copies) / max(1, float64(after.writes-before.writes))
		f["allocs_per_delivery"] = float64(after.mallocs-before.mallocs) / taken
		if after.device > 0 {
			f["device_bytes_per_payload_byte"] = float64(after.device-before.device) / taken / float64(size)
		}
	}
	return f
}
