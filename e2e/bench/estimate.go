package main

import (
	"fmt"
	"time"
)

// What a run takes besides its measured time, about: the times are of 2 cores.
const (
	treeTime   = 3 * time.Second // until a tree is at rest, nodes that are let go included
	memberTime = 60 * time.Millisecond
	meshTime   = 5 * time.Second // heartbeats until meshes stand
	linkTime   = 3 * time.Millisecond
	drainTime  = time.Second
	microEach  = 450 * time.Millisecond // one side of one turn of a piece of code
)

func expectTree(n int) time.Duration {
	return treeTime + time.Duration(n)*memberTime + drainTime
}

// expectGossip is for n hosts with some links each, 0 = to all.
func expectGossip(n, degree int) time.Duration {
	links := n * (n - 1) / 2
	if degree > 0 {
		links = min(links, n*degree*6/10)
	}
	return meshTime + time.Duration(n)*memberTime/2 + time.Duration(links)*linkTime + drainTime
}

// expect is about how long all rounds of a workload take.
func (w *workload) expect(rounds int) time.Duration {
	each := w.load.warm + w.load.measure
	d := expectTree(w.hosts) + each
	for _, o := range w.opponents {
		d += expectGossip(w.hosts, rivals[o].degree) + each
	}
	return time.Duration(rounds) * d
}

func (m *micro) expect(rounds int) time.Duration {
	return time.Duration(rounds*microTurns*2) * microEach
}

// A forecast says how much of a run is left, by what was expected and how long it
// took so far.
type forecast struct {
	begin       time.Time
	total, done time.Duration // as expected
}

// left is what is expected to be left at a moment.
func (f *forecast) left(now time.Time) time.Duration {
	rest := f.total - f.done
	if f.done <= 0 {
		return rest
	}
	return time.Duration(float64(rest) * float64(now.Sub(f.begin)) / float64(f.done))
}

// about is a duration for people, to five seconds.
func about(d time.Duration) string {
	d = d.Round(5 * time.Second)
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
}
