package main

import (
	"context"
	"fmt"
	"time"
)

// A curve is rows in which one thing grows.
type curve struct {
	name  string
	grows string // what x counts
	// points makes the rows at one x.
	points func(ctx context.Context, b *bench, x int) ([]row, error)
	xs     []int
	// expect is about how long one round at x takes.
	expect func(x int, t times) time.Duration
}

const (
	costHosts     = 32  // of the curve over sizes
	cohortHosts   = 16  // of the curve over cohorts
	cohortRate    = 160 // messages a second over all cohorts
	costRivalUpTo = 64  // hosts up to which the opponent is measured too
)

// curves are the costs that grow with something. They are not part of a run that
// names no workloads.
var curves = []curve{
	{"cost-n", "hosts", costOfHosts, []int{8, 16, 32, 64, 96}, func(n int, t times) time.Duration {
		d := expectTree(n) + t.warm + t.measure
		if n <= costRivalUpTo {
			d += expectGossip(n, 0) + t.warm + t.measure
		}
		return d
	}},
	{"cost-size", "bytes of payload", costOfSize, []int{32, 512, 1024, 2048, 4096}, func(_ int, t times) time.Duration {
		return expectTree(costHosts) + expectGossip(costHosts, 0) + 2*(t.warm+t.measure)
	}},
	{"cost-children", "children of a relay", costOfChildren, []int{1, 2, 4, 8, 16, 32}, func(x int, t times) time.Duration {
		return expectTree(x+1) + t.measure
	}},
	{"cost-cohorts", "cohorts on the same hosts", costOfCohorts, []int{1, 4, 16, 64}, func(x int, t times) time.Duration {
		return expectTree(cohortHosts) + time.Duration(x)*cohortTime + t.warm + t.measure
	}},
}

// job runs a curve, one row or two for each x.
func (c *curve) job(b *bench) job {
	var expect time.Duration
	for _, x := range c.xs {
		expect += time.Duration(b.rounds) * c.expect(x, b.times)
	}
	return job{name: c.name, extra: true, expect: expect, run: func(ctx context.Context) (rows []row, err error) {
		for _, x := range c.xs {
			more, err := c.points(ctx, b, x)
			if err != nil {
				return rows, fmt.Errorf("%s: at %d: %w", c.name, x, err)
			}
			for i := range more {
				more[i].curve, more[i].x = c, x
			}
			rows = append(rows, more...)
		}
		return rows, nil
	}}
}

func costOfHosts(ctx context.Context, b *bench, n int) ([]row, error) {
	w := workload{fmt.Sprintf("cost-n-%d", n), n, 2, load{payload: 4096, warm: b.times.warm, measure: b.times.measure}, nil, false}
	if n <= costRivalUpTo {
		w.opponents = []string{"tuned"}
	}
	return b.compare(ctx, w)
}

func costOfSize(ctx context.Context, b *bench, size int) ([]row, error) {
	w := workload{
		fmt.Sprintf("cost-size-%d", size), costHosts, 2,
		load{payload: size, warm: b.times.warm, measure: b.times.measure},
		[]string{"tuned"},
		false,
	}
	return b.compare(ctx, w)
}

func costOfChildren(ctx context.Context, b *bench, children int) ([]row, error) {
	var ours []Figures
	for round := range b.rounds {
		f, err := b.relayOnce(ctx, children)
		if err != nil {
			return nil, err
		}
		b.say("  %d children, round %d: %.1f µs CPU a chunk at %.0f a second, writes of %.1f chunks", children, round+1,
			f["cpu_us_per_chunk"], f["msgs_per_s"], f["chunks_per_write"])
		ours = append(ours, f)
	}
	return []row{aloneRow(fmt.Sprintf("cost-children-%d", children), ours)}, nil
}

// costOfCohorts spreads the same load over more and more cohorts. Nothing is said
// about the trees' shapes: they are too flat.
func costOfCohorts(ctx context.Context, b *bench, cohorts int) ([]row, error) {
	w := workload{name: fmt.Sprintf("cost-cohorts-%d", cohorts), load: load{
		payload: 4096, rate: cohortRate, warm: b.times.warm, measure: b.times.measure,
	}}
	var ours []Figures
	for round := range b.rounds {
		f, err := b.once(
			func() (side, error) { return newForest(ctx, cohortHosts, cohorts) },
			func(net side) (Figures, error) {
				return run(ctx, net, &w.load, b.profiles.next(w.name, ourSide, round))
			})
		if err != nil {
			return nil, err
		}
		b.say("  %s round %d: %s", w.name, round+1, brief(f))
		ours = append(ours, f)
	}
	return []row{aloneRow(w.name, ours)}, nil
}

// aloneRow is a row of our side with nothing beside it.
func aloneRow(name string, ours []Figures) row {
	return row{Workload: name, Opponent: nobody, Rounds: len(ours), Treecast: medians(ours), Ratio: map[string]float64{}}
}
