package main

import (
	"fmt"
	"time"
)

// What a run takes besides its measured time, about, on 2 cores.
const (
	memberTime = 20 * time.Millisecond   // for a node to join a tree
	meshTime   = 4 * time.Second         // heartbeats until meshes stand
	linkTime   = 4 * time.Millisecond    // for a connection
	endTime    = 1500 * time.Millisecond // until all has arrived and hosts are closed
	lossTime   = 10 * time.Second        // more where something is lost and waited for
	microEach  = 240 * time.Millisecond  // one side of one turn of a piece of code
)

func expectTree(n int) time.Duration { return time.Duration(n)*memberTime + endTime }

// expectGossip is for n hosts with some links each, 0 = to all.
func expectGossip(n, degree int) time.Duration {
	links := n * (n - 1) / 2
	if degree > 0 {
		links = min(links, n*degree*6/10)
	}
	return meshTime + time.Duration(links)*linkTime + endTime
}

// expect is about how long all rounds of a workload take, alone or in turns with others.
func (w *workload) expect(rounds int, shared bool) time.Duration {
	each := w.load.fill + w.load.warm + w.load.measure
	d := expectTree(w.hosts) + each
	if shared {
		d += (turns - 1) * each
	}
	for _, o := range w.opponents {
		d += expectGossip(w.hosts, rivals[o].degree) + each
		if rivals[o].queues == 0 {
			d += lossTime
		}
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
