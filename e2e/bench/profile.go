package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
)

// ourSide is the name of our side where sides are named.
const ourSide = "treecast"

// A profiler writes a CPU profile to a file; the zero one writes none.
type profiler struct{ file string }

func (p profiler) start() (stop func() error, err error) {
	if p.file == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(p.file)
	if err != nil {
		return nil, fmt.Errorf("bench: profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("bench: profile: %w", err)
	}
	return func() error { pprof.StopCPUProfile(); return f.Close() }, nil
}

// profiles are those of an invocation, if there is a folder for them.
type profiles struct {
	dir  string
	list []profiled
}

// profiled are the profiles of one side of a workload, one a round.
type profiled struct {
	workload, side string
	files          []string
}

// next is the profiler of one run.
func (p *profiles) next(workload, side string, round int) profiler {
	if p.dir == "" {
		return profiler{}
	}
	file := filepath.Join(p.dir, fmt.Sprintf("%s-%s-%d.pprof", workload, side, round))
	i := slices.IndexFunc(p.list, func(x profiled) bool { return x.workload == workload && x.side == side })
	if i < 0 {
		i = len(p.list)
		p.list = append(p.list, profiled{workload: workload, side: side})
	}
	if !slices.Contains(p.list[i].files, file) { // our side stands beside each opponent
		p.list[i].files = append(p.list[i].files, file)
	}
	return profiler{file}
}
