package sim_test

import (
	"testing"

	"treecast/e2e/sim"
)

// BenchmarkBuildUp lets ten thousand nodes join, and says what a node weighs.
func BenchmarkBuildUp(b *testing.B) {
	const nodes = 10_000
	var r sim.Result
	for b.Loop() {
		var err error
		if r, err = sim.Run(sim.Config{Nodes: nodes, Seed: 1, Progress: func(sim.Progress) {}}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*nodes), "ns/join")
	b.ReportMetric(r.Detail.BytesPerNode, "B/node")
}
