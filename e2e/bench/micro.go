package main

import (
	"flag"
	"fmt"
	"testing"
	"time"
)

// A micro is one piece of code measured by itself, and what it is held against.
type micro struct {
	name     string
	work     func(b *testing.B)
	opponent string
	beside   func(b *testing.B)
}

// Each round of a micro is a few short runs of both sides in turn, so that
// whatever else the machine does meets both.
const (
	microTurns = 5
	microTime  = 150 * time.Millisecond
)

// measureMicro runs a piece of code and what stands beside it in turn. Times are
// CPU times of the process, as another program may have a share of the machine.
func (b *bench) measureMicro(m *micro) (row, error) {
	if flag.Lookup("test.benchtime") == nil {
		testing.Init()
	}
	if err := flag.Set("test.benchtime", microTime.String()); err != nil {
		return row{}, fmt.Errorf("bench: benchtime: %w", err)
	}
	var ours, theirs []Figures
	var each []float64
	for range b.rounds * microTurns {
		mine, err := perOp(m.work)
		if err != nil {
			return row{}, fmt.Errorf("%s: %w", m.name, err)
		}
		other, err := perOp(m.beside)
		if err != nil {
			return row{}, fmt.Errorf("%s: %w", m.name, err)
		}
		ours, theirs = append(ours, mine), append(theirs, other)
		if v, ok := ratio(mine["cpu_ns_per_op"], other["cpu_ns_per_op"]); ok {
			each = append(each, v)
		}
	}
	return row{
		Workload: m.name, Opponent: m.opponent, Rounds: b.rounds, Treecast: medians(ours), Beside: medians(theirs),
		Ratio: map[string]float64{"cpu": median(each)},
	}, nil
}

// perOp benchmarks work.
func perOp(work func(*testing.B)) (Figures, error) {
	var failed error
	r := testing.Benchmark(func(b *testing.B) {
		before, err := cpuTime()
		if err != nil {
			failed = err
			return
		}
		work(b)
		after, err := cpuTime()
		if err != nil {
			failed = err
			return
		}
		b.ReportMetric(float64(after-before)/float64(max(1, b.N)), "cpu-ns/op")
	})
	if failed != nil {
		return nil, failed
	}
	if r.N == 0 {
		return nil, fmt.Errorf("bench: it failed")
	}
	return Figures{
		"ns_per_op":     float64(r.T.Nanoseconds()) / float64(r.N),
		"cpu_ns_per_op": r.Extra["cpu-ns/op"],
		"b_per_op":      float64(r.AllocedBytesPerOp()),
		"allocs_per_op": float64(r.AllocsPerOp()),
	}, nil
}
