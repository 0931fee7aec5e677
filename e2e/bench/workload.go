package main

import (
	"context"
	"fmt"
	"regexp"
	"time"
)

// A workload is a load on networks of one size.
type workload struct {
	name      string
	hosts     int // the publisher among them
	parents   int
	load      load
	opponents []string
}

// times are how long the parts of a run take.
type times struct{ warm, measure time.Duration }

const (
	// fillTime is enough for 64 nodes to fill ringBytes each.
	fillTime = 4 * time.Second
	// forgetTime is more than the five heartbeats for which gossipsub speaks of what
	// filled it.
	forgetTime = 6 * time.Second
)

// workloads are those that are runs on networks, in order.
func workloads(t times) (list []workload) {
	closed := load{warm: t.warm, measure: t.measure}
	for _, n := range []int{8, 32, 64} {
		for _, size := range []int{512, 4096} {
			l := closed
			l.payload = size
			list = append(list, workload{fmt.Sprintf("closed-%d-n%d", size, n), n, 2, l, closedOpponents(size, n)})
			if size == 4096 && n == 32 { // beside which its goodput stands: the machine's speed drifts
				objects := l
				objects.payload, objects.objects = 1<<20, true
				list = append(list, workload{"closed-1MiB-n32", n, 2, objects, []string{"tuned", "whole"}})
			}
			l.rate, l.fill, l.warm, l.measure = 20, fillTime, max(t.warm, forgetTime), max(t.measure, 10*time.Second)
			list = append(list, workload{fmt.Sprintf("rate-%d-n%d", size, n), n, 2, l, rateOpponents(size, n)})
		}
	}
	l := closed
	l.payload = 4096
	list = append(list,
		workload{"closed-4096-n32-parents1", 32, 1, l, []string{"tuned", bestName}},
		workload{"closed-4096-n32-settings", 32, 2, l, []string{bestName, "narrow", "half", "inline"}})
	for _, kind := range []string{"kill", "mute"} {
		l := load{payload: 4096, rate: 50, fill: fillTime, warm: max(t.warm, forgetTime), measure: 24 * time.Second, faults: []fault{
			{after: 4 * time.Second, hosts: 1, mute: kind == "mute"},
			{after: 14 * time.Second, hosts: 4, mute: kind == "mute"},
		}}
		list = append(list, workload{"rate-4096-n32-" + kind, 32, 2, l, []string{"tuned"}})
	}
	return list
}

// closedOpponents are who stands beside a closed loop: best on 32 hosts and in the
// largest row, stock where its short queues can be seen to lose something.
func closedOpponents(size, n int) []string {
	list := []string{"tuned"}
	if n == 32 || size == 4096 && n == 64 {
		list = append(list, bestName)
	}
	list = append(list, "default")
	if size == 4096 && n == 32 {
		list = append(list, "stock")
	}
	return list
}

// rateOpponents are who stands beside a fixed rate: tuned, and on 32 hosts the others.
func rateOpponents(size, n int) []string {
	switch {
	case n == 32 && size == 4096:
		return []string{"tuned", bestName, "default"}
	case n == 32:
		return []string{"tuned", "default"}
	}
	return []string{"tuned"}
}

// smokeWorkloads are the two of bench-smoke.
func smokeWorkloads() (list []workload) {
	for _, size := range []int{512, 4096} {
		l := load{payload: size, warm: 500 * time.Millisecond, measure: 2 * time.Second}
		list = append(list, workload{fmt.Sprintf("closed-%d-n16", size), 16, 2, l, []string{"tuned", "default"}})
	}
	return list
}

// void says why a tree's run does not count; empty if it does. Trees of fewer than
// 32 nodes are too flat for most of it.
func void(w *workload, f Figures) string {
	depth := 0.0
	switch {
	case w.hosts >= 64:
		depth = 3
	case w.hosts >= 32:
		depth = 2
	}
	switch {
	case f["max_depth"] < depth:
		return fmt.Sprintf("max_depth %v, want %v", f["max_depth"], depth)
	case w.parents < 2 || w.hosts < 32:
		return ""
	case f["dual_parented"] < 0.95:
		return fmt.Sprintf("%.0f %% of the nodes not under the broker have two parents, want 95 %%", 100*f["dual_parented"])
	case f["copies"] < 1.6:
		return fmt.Sprintf("%.2f copies, want 1.6", f["copies"])
	}
	return ""
}

// bench is what all workloads of one invocation share.
type bench struct {
	rounds   int
	only     *regexp.Regexp // nil: all but the extra ones
	times    times
	profiles profiles
	say      func(format string, args ...any)
}

// once starts a network, has it do its work, and closes it.
func (b *bench) once(start func() (side, error), do func(side) (Figures, error)) (Figures, error) {
	begin := time.Now()
	net, err := start()
	if err != nil {
		return nil, err
	}
	setup := time.Since(begin)
	f, err := do(net)
	if cerr := net.close(); err == nil && cerr != nil {
		b.say("  closing: %v", cerr)
	}
	if err != nil {
		return nil, err
	}
	f["setup_s"] = setup.Seconds()
	return f, nil
}

func (b *bench) ours(ctx context.Context, w *workload, round int) (Figures, error) {
	return b.once(
		func() (side, error) { return newTree(ctx, w.hosts, w.parents) },
		func(net side) (Figures, error) {
			return run(ctx, net, &w.load, b.profiles.next(w.name, ourSide, round))
		})
}

func (b *bench) theirs(ctx context.Context, w *workload, opponent string, round int) (Figures, error) {
	return b.once(
		func() (side, error) { return newGossip(ctx, w.hosts, rivals[opponent]) },
		func(net side) (Figures, error) {
			return run(ctx, net, rivalLoad(w, opponent), b.profiles.next(w.name, opponent, round))
		})
}

// compare runs a workload for both sides in turn, round by round; each round of
// ours stands beside one round of each opponent.
func (b *bench) compare(ctx context.Context, w *workload) ([]row, error) {
	var ours []Figures
	theirs := make(map[string][]Figures)
	mine := func(round int) error {
		f, err := b.ours(ctx, w, round)
		if err != nil {
			return fmt.Errorf("%s: treecast: %w", w.name, err)
		}
		b.say("  %s round %d treecast: %s", w.name, round+1, brief(f))
		ours = append(ours, f)
		return nil
	}
	for round := range b.rounds {
		if round%2 == 0 {
			if err := mine(round); err != nil {
				return nil, err
			}
		}
		for _, o := range w.opponents {
			f, err := b.theirs(ctx, w, o, round)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", w.name, o, err)
			}
			b.say("  %s round %d %s: %s", w.name, round+1, o, brief(f))
			theirs[o] = append(theirs[o], f)
		}
		if round%2 == 1 {
			if err := mine(round); err != nil {
				return nil, err
			}
		}
	}
	return rowsOf(w, ours, theirs), nil
}

// shared runs the workloads on networks that are made once per side and opponent.
func (b *bench) shared(ctx context.Context, list []workload) (rows []row, err error) {
	for _, o := range list[0].opponents {
		tree, err := newTree(ctx, list[0].hosts, list[0].parents)
		if err != nil {
			return nil, err
		}
		gossip, err := newGossip(ctx, list[0].hosts, rivals[o])
		if err != nil {
			tree.close()
			return nil, err
		}
		for i := range list {
			w := &list[i]
			var ours, theirs []Figures
			for round := 0; round < b.rounds && err == nil; round++ {
				var f Figures
				if f, err = run(ctx, tree, &w.load, b.profiles.next(w.name, ourSide, round)); err != nil {
					break
				}
				b.say("  %s round %d treecast: %s", w.name, round+1, brief(f))
				ours = append(ours, f)
				if f, err = run(ctx, gossip, rivalLoad(w, o), b.profiles.next(w.name, o, round)); err != nil {
					break
				}
				b.say("  %s round %d %s: %s", w.name, round+1, o, brief(f))
				theirs = append(theirs, f)
			}
			if err == nil {
				one := *w
				one.opponents = []string{o}
				rows = append(rows, rowsOf(&one, ours, map[string][]Figures{o: theirs})...)
			}
		}
		tree.close()
		gossip.close()
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}
