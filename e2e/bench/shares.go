package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	pprof "github.com/google/pprof/profile"
)

// shares are what parts of a side's CPU time go to which component; they sum up to 1.
type shares [numComponents]float64

// A sideShares is one side's bar: its shares, and the CPU time of one delivery that
// they divide, in microseconds; 0 where that is not known.
type sideShares struct {
	side string
	of   shares
	us   float64
}

// foldProfiles adds up CPU profiles by component.
func foldProfiles(files []string) (s shares, err error) {
	total := 0.0
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return s, fmt.Errorf("bench: profile: %w", err)
		}
		p, err := pprof.Parse(f)
		f.Close()
		if err != nil {
			return s, fmt.Errorf("bench: profile %s: %w", name, err)
		}
		at := slices.IndexFunc(p.SampleType, func(t *pprof.ValueType) bool { return t.Type == "cpu" })
		if at < 0 {
			return s, fmt.Errorf("bench: profile %s: no CPU times", name)
		}
		for _, sample := range p.Sample {
			s[componentOf(framesOf(sample))] += float64(sample.Value[at])
			total += float64(sample.Value[at])
		}
	}
	if total > 0 {
		for i := range s {
			s[i] /= total
		}
	}
	return s, nil
}

// framesOf are a sample's functions, the innermost first.
func framesOf(s *pprof.Sample) (list []frame) {
	for _, l := range s.Location {
		for i := range l.Line { // those that were inlined are first
			if fn := l.Line[i].Function; fn != nil {
				list = append(list, frame{fn.Name, fn.Filename})
			}
		}
	}
	return list
}

// report prints, for each workload that was profiled, what both sides' CPU time goes
// to, and draws it beside the profiles.
func (p *profiles) report(out io.Writer, rows []row) error {
	var names []string
	byName := map[string][]sideShares{}
	var errs []error
	for i := range p.list {
		x := &p.list[i]
		of, err := foldProfiles(x.files)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if !slices.Contains(names, x.workload) {
			names = append(names, x.workload)
		}
		byName[x.workload] = append(byName[x.workload], sideShares{x.side, of, cpuOf(rows, x.workload, x.side)})
	}
	for _, name := range names {
		sharesTable(out, name, byName[name])
		file := filepath.Join(p.dir, "shares-"+name+".svg")
		if err := os.WriteFile(file, []byte(stackChart(name, byName[name])), 0o644); err != nil {
			errs = append(errs, fmt.Errorf("bench: plot: %w", err))
		}
	}
	return errors.Join(errs...)
}

// cpuOf is the CPU time of a delivery on one side of a workload, in microseconds.
func cpuOf(rows []row, workload, side string) float64 {
	for i := range rows {
		switch r := &rows[i]; {
		case r.Workload != workload:
		case side == ourSide:
			return r.Treecast["cpu_s_per_1000"] * 1000
		case r.Opponent == side:
			return r.Gossipsub["cpu_s_per_1000"] * 1000
		}
	}
	return 0
}

// sharesTable prints the sides' bars beside each other.
func sharesTable(out io.Writer, name string, sides []sideShares) {
	head := []string{"CPU time of " + name, ""}
	for _, s := range sides {
		head = append(head, s.side, "µs a delivery")
	}
	lines := [][]string{append(head, "")}
	sum := []string{"all", ""}
	for _, s := range sides {
		sum = append(sum, "100.0 %", fmt.Sprintf("%.1f", s.us))
	}
	for c := range numComponents {
		line, any := []string{componentNames[c], ""}, false
		for _, s := range sides {
			line = append(line, fmt.Sprintf("%.1f %%", 100*s.of[c]), fmt.Sprintf("%.1f", s.us*s.of[c]))
			any = any || s.of[c] > 0
		}
		if any {
			lines = append(lines, append(line, ""))
		}
	}
	fmt.Fprintln(out)
	align(out, append(lines, append(sum, "")))
}
