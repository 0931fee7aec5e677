package beef_test

import (
	"slices"
	"testing"
	"time"
)

// Batches and rounds of reportRatio.
const (
	ratioRounds = 301
	ratioBatch  = 50 * time.Microsecond
)

// reportRatio reports as a metric how much longer f takes than its part g. The two
// are measured in turn, in batches of equal number that take longer than reading
// the clock does, and the medians are compared, so that a busy machine slows down
// both.
func reportRatio(b *testing.B, unit string, f, g func()) {
	n := 1
	for {
		start := time.Now()
		for range n {
			g()
		}
		if time.Since(start) >= ratioBatch {
			break
		}
		n *= 2
	}
	measure := func(run func()) time.Duration {
		start := time.Now()
		for range n {
			run()
		}
		return time.Since(start)
	}
	whole, part := make([]time.Duration, ratioRounds), make([]time.Duration, ratioRounds)
	for i := range ratioRounds {
		whole[i], part[i] = measure(f), measure(g)
	}
	slices.Sort(whole)
	slices.Sort(part)
	b.ReportMetric(float64(whole[ratioRounds/2])/float64(part[ratioRounds/2]), unit)
}
