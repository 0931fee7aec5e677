package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A job makes the rows of one workload, or of some that share networks.
type job struct {
	name   string
	with   []string      // the others
	expect time.Duration // about how long it takes
	extra  bool          // it runs when it is named alone
	run    func(context.Context) ([]row, error)
}

// jobs are all there are, in order: what is quick first.
func (b *bench) jobs() (list []job, err error) {
	small, err := micros()
	if err != nil {
		return nil, err
	}
	for _, m := range small {
		list = append(list, job{
			name: m.name, expect: m.expect(b.rounds),
			run: single(func(context.Context) (row, error) { return b.measureMicro(&m) }),
		})
	}
	for _, group := range groups(workloads(b.times)) {
		j := job{name: group[0].name, run: func(ctx context.Context) ([]row, error) { return b.compare(ctx, group...) }}
		for i := range group {
			if i > 0 {
				j.with = append(j.with, group[i].name)
			}
			j.expect += group[i].expect(b.rounds, len(group) > 1)
		}
		list = append(list, j)
	}
	for _, x := range []struct {
		name   string
		expect time.Duration
		run    func(context.Context) (row, error)
	}{
		{relayName, time.Duration(b.rounds) * (16*time.Second + b.times.measure), b.relay},
		{idleName, 155 * time.Second, b.idle},
		{joinName, 75 * time.Second, b.join},
		{memNodeName, 15 * time.Second, b.memNode},
		{memCohortName, 10 * time.Second, b.memCohort},
		{memStreamName, 30 * time.Second, b.memStream},
		{memChunksName, 10 * time.Second, b.memChunks},
	} {
		list = append(list, job{name: x.name, expect: x.expect, run: single(x.run)})
	}
	for i := range curves {
		list = append(list, curves[i].job(b))
	}
	return list, nil
}

// groups are workloads with those that share their networks.
func groups(list []workload) (all [][]workload) {
	for _, w := range list {
		if w.shares {
			all[len(all)-1] = append(all[len(all)-1], w)
		} else {
			all = append(all, []workload{w})
		}
	}
	return all
}

// wanted are the jobs that an invocation runs: all but the extra ones, or those whose
// name matches.
func (b *bench) wanted() (list []job, err error) {
	all, err := b.jobs()
	if err != nil {
		return nil, err
	}
	for _, j := range all {
		if b.only == nil && !j.extra || b.only != nil && slices.ContainsFunc(append(j.with, j.name), b.only.MatchString) {
			list = append(list, j)
		}
	}
	return list, nil
}

// listJobs prints the names of all workloads and about how long each takes.
func (b *bench) listJobs(out io.Writer) error {
	list, err := b.jobs()
	if err != nil {
		return err
	}
	var total time.Duration
	lines := [][]string{}
	for _, j := range list {
		note := ""
		if j.extra {
			note = "with --only alone"
		} else {
			total += j.expect
		}
		if len(j.with) > 0 {
			note = "with " + strings.Join(j.with, ", ")
		}
		lines = append(lines, []string{j.name, about(j.expect), note})
	}
	align(out, append(lines, []string{"all without --only", about(total), ""}))
	return nil
}

// all runs what is wanted, in order, and says how long that may take.
func (b *bench) all(ctx context.Context, smoke bool) (rows []row, err error) {
	if smoke {
		return b.shared(ctx, smokeWorkloads())
	}
	list, err := b.wanted()
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("bench: --only %v: no such workload, see --list", b.only)
	}
	f := forecast{begin: time.Now()}
	for _, j := range list {
		f.total += j.expect
		b.say("%s: about %s", j.name, about(j.expect))
	}
	b.say("%d workloads, about %s", len(list), about(f.total))
	for i, j := range list {
		b.say("%s (%d of %d, about %s left)", j.name, i+1, len(list), about(f.left(time.Now())))
		more, err := j.run(ctx)
		rows = append(rows, more...)
		if err != nil {
			return rows, err
		}
		f.done += j.expect
	}
	return rows, nil
}

// single is a job's run that makes one row.
func single(run func(context.Context) (row, error)) func(context.Context) ([]row, error) {
	return func(ctx context.Context) ([]row, error) {
		r, err := run(ctx)
		if err != nil {
			return nil, err
		}
		return []row{r}, nil
	}
}
